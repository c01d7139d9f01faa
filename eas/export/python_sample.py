"""The host in Python, which uses Metal through pyobjc."""

from __future__ import annotations

import struct

from eas.export.host_parts import (
    Number,
    arrays_of,
    buffer_of,
    demo_shape,
    demo_value,
    extents_of,
    failures,
    numbers_of,
    quote,
)
from eas.export.manifest import Manifest

# The dtype of NumPy, and the format of `struct`; what NumPy does not have is passed as bits.
_DTYPES = {
    "bool": ("bool", "?"),
    "i8": ("int8", "b"),
    "i16": ("int16", "h"),
    "i32": ("int32", "i"),
    "i64": ("int64", "q"),
    "u8": ("uint8", "B"),
    "u16": ("uint16", "H"),
    "u32": ("uint32", "I"),
    "u64": ("uint64", "Q"),
    "f16": ("float16", "e"),
    "bf16": ("uint16", "H"),
    "f32": ("float32", "f"),
    "f8e4m3": ("uint8", "B"),
    "f8e5m2": ("uint8", "B"),
}

_TEMPLATE = '''\
"""Runs the kernel `{kernel}` of `{text}` on the GPU of a Mac, from Python.

    pip install numpy pyobjc-framework-Metal
    python {stem}_host.py

`eas export` made this file. `{stem}.json` describes the kernel; copy what you need.
"""

import struct as _struct
from functools import cache
from pathlib import Path

import Metal
import numpy as np
import objc

_FAILURES = {{{failures}}}


def launch({parameters}_grid=None):
    """{signature}

    Arrays are contiguous arrays of NumPy: {arrays}.
    {grid_words}
    """
    {grid}
    _run(
        _grid,
        # The arrays by their buffer index, with their dtypes; which are written.
        {{{array_items}}},
        {{{written}}},
        # The numbers by their buffer index, as bytes.
        {{{number_items}}},
    )


def _run(grid, arrays, written, numbers):
    if max(grid) > {most}:
        raise ValueError("the kernel takes at most {most} programs along an axis")
    with objc.autorelease_pool():
        device, queue, pipeline = _prepare()
        commands = queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline)
        buffers = {{}}
        for index, (array, dtype) in arrays.items():
            if array.dtype != dtype or not array.flags.c_contiguous:
                raise TypeError(f"buffer {{index}} is a contiguous array of {{dtype}}")
            data = array.tobytes() or bytes(16)
            options = Metal.MTLResourceStorageModeShared
            buffers[index] = device.newBufferWithBytes_length_options_(data, len(data), options)
            encoder.setBuffer_offset_atIndex_(buffers[index], 0, index)
        for index, data in numbers.items():
            encoder.setBytes_length_atIndex_(data, len(data), index)
        {set_report}groups, threads = Metal.MTLSizeMake(*grid), Metal.MTLSizeMake({threads}, 1, 1)
        if 0 not in grid:
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, threads)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        if commands.error() is not None:
            raise RuntimeError(commands.error().localizedDescription())
        {check_report}for index in written:
            array = arrays[index][0]
            data = buffers[index].contents().as_buffer(max(array.nbytes, 1))
            array.reshape(-1)[:] = np.frombuffer(data, array.dtype, array.size)


@cache
def _prepare():
    """The GPU, a queue of commands, and the kernel, compiled."""
    device = Metal.MTLCreateSystemDefaultDevice()
    if device is None:
        raise RuntimeError("there is no GPU")
    options = Metal.MTLCompileOptions.alloc().init()
    options.setLanguageVersion_({language_version})  # Metal {version}
    if hasattr(Metal, "MTLMathMode{mode}") and hasattr(options, "setMathMode_"):  # macOS 15
        options.setMathMode_(Metal.MTLMathMode{mode})
        options.setMathFloatingPointFunctions_(Metal.MTLMathFloatingPointFunctions{functions})
    else:
        options.setFastMathEnabled_(False)
    text = Path(__file__).with_name({text_quoted}).read_text("utf-8")
    library, error = device.newLibraryWithSource_options_error_(text, options, None)
    if library is None:
        raise RuntimeError(error.localizedDescription())
    function = library.newFunctionWithName_({function})
    pipeline, error = device.newComputePipelineStateWithFunction_error_(function, None)
    if pipeline is None:
        raise RuntimeError(error.localizedDescription())
    if pipeline.maxTotalThreadsPerThreadgroup() < {threads}:
        raise RuntimeError("this GPU runs too few threads of the kernel")
    return device, device.newCommandQueue(), pipeline


def main():
    """A demonstration: put your own arrays and numbers here."""
    {demo_arrays}
    launch({demo_arguments})
    {demo_prints}


if __name__ == "__main__":
    main()
'''

_SET_REPORT = """\
report = device.newBufferWithBytes_length_options_(bytes({bytes}), {bytes}, 0)
        encoder.setBuffer_offset_atIndex_(report, 0, {index})
        """
_CHECK_REPORT = """\
site, x, y, z = _struct.unpack("<4I", bytes(report.contents().as_buffer(16)))
        if site:
            raise RuntimeError(f"{{_FAILURES.get(site, site)}} (in program {{x, y, z}})")
        """


def write_python(stem: str, manifest: Manifest) -> str:
    """The text of the sample."""
    arrays, report = arrays_of(manifest), buffer_of(manifest, "report")
    names = [each["name"] for each in manifest["arguments"]]
    is_fast = manifest["metal"]["fast_math"]
    written = [each for each in arrays if each["is_written"]]
    shown = [f"`{each['name']}` of {_dtype(each)}" for each in arrays]
    return _TEMPLATE.format(
        stem=stem,
        kernel=manifest["kernel"],
        text=manifest["text"],
        text_quoted=quote(manifest["text"]),
        function=quote(manifest["function"]),
        signature=manifest["signature"].replace("\\", "\\\\").replace('"', '\\"'),
        failures=_items([f"{n}: {quote(text)}" for n, text in failures(manifest)], 0),
        parameters="".join(f"{name}, " for name in names) + ("*, " if names else ""),
        arrays=", ".join(shown) or "there are none",
        grid_words=_grid_words(manifest),
        grid=_grid(manifest),
        array_items=_items([f'{a["buffer"]}: ({a["name"]}, "{_dtype(a)}")' for a in arrays], 8),
        written=", ".join(str(each["buffer"]) for each in written) or "*()",
        number_items=_items(_number_items(manifest), 8),
        most=manifest["most_programs"],
        threads=manifest["threads"],
        language_version=manifest["metal"]["language_version"],
        version=manifest["metal"]["version"],
        mode="Relaxed" if is_fast else "Safe",
        functions="Fast" if is_fast else "Precise",
        set_report="" if report is None else _SET_REPORT.format(**report),
        check_report="" if report is None else _CHECK_REPORT.format(),
        demo_arrays="\n    ".join(map(_demo_array, arrays)) or "pass",
        demo_arguments=", ".join(_demo_arguments(manifest)),
        demo_prints="\n    ".join(_print(each) for each in written) or "print('done')",
    )


def _dtype(array: Manifest) -> str:
    return _DTYPES[array["dtype"]][0]


def _items(items: list[str], indent: int) -> str:
    """The items of a dict, one on each line."""
    if not items:
        return ""
    lines = "".join(f"\n{' ' * (indent + 4)}{item}," for item in items)
    return f"{lines}\n{' ' * indent}"


def _grid_words(manifest: Manifest) -> str:
    rule = manifest["grid"]["rule"]
    if rule is None:
        return "The grid is a tuple of three: how many programs there are along each axis."
    return f"The grid is {rule} unless it is given, a tuple of three."


def _grid(manifest: Manifest) -> str:
    extents = extents_of(manifest)
    if extents is None:
        return 'if _grid is None:\n        raise TypeError("the grid has to be given")'
    spelled = [f"-(-{size} // {by})" if by > 1 else str(size) for size, by in extents]
    return f"_grid = _grid or ({', '.join(spelled)})"


def _number_items(manifest: Manifest) -> list[str]:
    packed = buffer_of(manifest, "scalars")
    numbers = list(numbers_of(manifest))
    single = [
        f'{n.index}: _struct.pack("<{_DTYPES[n.dtype][1]}", {_value(n)})'
        for n in numbers
        if n.offset is None
    ]
    if packed is None:
        return single
    layout, values, end = "<", [_value(n) for n in numbers if n.offset is not None], 0
    for n in numbers:
        if n.offset is not None:
            code = _DTYPES[n.dtype][1]
            layout += f"{n.offset - end}x{code}" if n.offset > end else code
            end = n.offset + struct.calcsize(f"<{code}")
    layout += f"{packed['bytes'] - end}x" if packed["bytes"] > end else ""
    return [*single, f'{packed["index"]}: _struct.pack("{layout}", {", ".join(values)})']


def _value(number: Number) -> str:
    match number.source:
        case "argument":
            return number.name
        case "extent":
            return f"{number.array}.shape[{number.axis}]"
        case "stride":
            return f"{number.array}.strides[{number.axis}] // {number.array}.itemsize"
        case "low":
            return "0"
        case _:
            return f"{number.array}.size"


def _demo_array(array: Manifest) -> str:
    shape = demo_shape(array)
    extents = shape[0] if len(shape) == 1 else shape
    return f'{array["name"]} = np.ones({extents}, "{_dtype(array)}")'


def _demo_arguments(manifest: Manifest) -> list[str]:
    numbers = {n.name: n for n in numbers_of(manifest) if n.source == "argument"}
    given: list[str] = []
    for each in manifest["arguments"]:
        is_array = each["kind"] == "array"
        value = each["name"] if is_array else demo_value(numbers[each["name"]], manifest)
        given.append(str(value))
    return given if extents_of(manifest) is not None else [*given, "_grid=(1, 1, 1)"]


def _print(array: Manifest) -> str:
    return f'print("{array["name"]}", {array["name"]}.reshape(-1)[:8])'

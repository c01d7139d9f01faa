"""The host in Swift."""

from __future__ import annotations

import math
from collections.abc import Mapping

from eas.export.host_parts import (
    BYTES,
    arrays_of,
    buffer_of,
    demo_shape,
    demo_value,
    extent_text,
    extents_of,
    failures,
    names_of,
    numbers_of,
    quote,
)
from eas.export.manifest import Manifest

_TYPES = {
    "bool": "Bool",
    "i8": "Int8",
    "i16": "Int16",
    "i32": "Int32",
    "i64": "Int64",
    "u8": "UInt8",
    "u16": "UInt16",
    "u32": "UInt32",
    "u64": "UInt64",
    "f16": "UInt16",
    "bf16": "UInt16",
    "f32": "Float",
    "f8e4m3": "UInt8",
    "f8e5m2": "UInt8",
}
_BITS = ("f16", "bf16", "f8e4m3", "f8e5m2")
Names = Mapping[str, str]
_WORDS = """
Any as associatedtype async await break case catch class continue convenience default defer deinit
do dynamic else enum extension fallthrough false fileprivate final for func get guard if import in
indirect infix init inout internal is lazy let mutating nil none nonmutating open operator optional
override postfix precedencegroup prefix private protocol public repeat required rethrows return self
Self set some static struct subscript super switch throw throws true try Type typealias unowned var
weak where while willSet didSet
"""
_RESERVED = frozenset(_WORDS.split())

_TEMPLATE = """\
// Runs the kernel `{kernel}` of `{text}` on the GPU of a Mac, from Swift.
//
//     swiftc {stem}_host.swift && ./{stem}_host
//
// `eas export` made this file. `{stem}.json` describes the kernel; copy what you need.

import Foundation
import Metal

/// {signature}
struct Arguments {{
{fields}
}}

/// The kernel, compiled by Metal.
func makePipeline(_ device: MTLDevice) throws -> MTLComputePipelineState {{
    let source = try String(contentsOfFile: {text_quoted}, encoding: .utf8)
    let options = MTLCompileOptions()
    options.languageVersion = MTLLanguageVersion(rawValue: {language_version})!  // Metal {version}
    if #available(macOS 15.0, *) {{
        options.mathMode = .{mode}
        options.mathFloatingPointFunctions = .{functions}
    }} else {{
        options.fastMathEnabled = false
    }}
    let library = try device.makeLibrary(source: source, options: options)
    guard let function = library.makeFunction(name: {function}) else {{
        fatalError("the text has no such kernel")
    }}
    return try device.makeComputePipelineState(function: function)
}}
{grid_function}
/// Binds the arguments, and dispatches so many threadgroups.
func encode(_ encoder: MTLComputeCommandEncoder, _ pipeline: MTLComputePipelineState,
            _ arguments: Arguments, {report_parameter}grid: MTLSize) {{
    encoder.setComputePipelineState(pipeline)
{bindings}
    encoder.dispatchThreadgroups(
        grid, threadsPerThreadgroup: MTLSize(width: {threads}, height: 1, depth: 1))
}}

/// A demonstration: put your own arrays and numbers here.
func main() throws {{
    guard let device = MTLCreateSystemDefaultDevice(), let queue = device.makeCommandQueue() else {{
        fatalError("there is no GPU")
    }}
    let pipeline = try makePipeline(device)
    func zeros(_ bytes: Int) -> MTLBuffer {{
        let buffer = device.makeBuffer(length: bytes, options: .storageModeShared)!
        memset(buffer.contents(), 0, bytes)
        return buffer
    }}
    let arguments = Arguments({demo_arguments})
{demo_report}    guard let commands = queue.makeCommandBuffer(),
          let encoder = commands.makeComputeCommandEncoder() else {{
        fatalError("the GPU takes no commands")
    }}
    encode(encoder, pipeline, arguments, {report_argument}grid: {demo_grid})
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    if let error = commands.error {{ throw error }}
{check_report}{prints}
}}

try main()
"""


def write_swift(stem: str, manifest: Manifest) -> str:
    """The text of the sample."""
    report, names = buffer_of(manifest, "report"), _names(manifest)
    arrays = arrays_of(manifest)
    is_fast = manifest["metal"]["fast_math"]
    return _TEMPLATE.format(
        stem=stem,
        kernel=manifest["kernel"],
        text=manifest["text"],
        signature=manifest["signature"].replace("\n", " "),
        text_quoted=_quote(manifest["text"]),
        function=_quote(manifest["function"]),
        fields="\n".join(_fields(manifest, names)),
        language_version=manifest["metal"]["language_version"],
        version=manifest["metal"]["version"],
        mode="relaxed" if is_fast else "safe",
        functions="fast" if is_fast else "precise",
        threads=manifest["threads"],
        grid_function=_grid_function(manifest, names),
        report_parameter="" if report is None else "report: MTLBuffer, ",
        report_argument="" if report is None else "report: report, ",
        bindings="\n".join(f"    {line}" for line in _bindings(manifest, names)),
        demo_arguments=_demo_arguments(manifest, names),
        demo_report="" if report is None else f"    let report = zeros({report['bytes']})\n",
        demo_grid="MTLSize(width: 1, height: 1, depth: 1)"
        if extents_of(manifest) is None
        else "gridOf(arguments)",
        check_report=_check_report(manifest),
        prints="\n".join(_print(each, names) for each in arrays if each["is_written"]),
    )


def _quote(text: str) -> str:
    return quote(text).replace("\\(", "\\\\(")


def _names(manifest: Manifest) -> Names:
    pairs = names_of(manifest).items()
    return {name: f"`{plain}`" if plain in _RESERVED else plain for name, plain in pairs}


def _fields(manifest: Manifest, names: Names) -> list[str]:
    found = [
        f"    var {names[each['name']]}: MTLBuffer  // of {each['dtype']}"
        f"{', written' * each['is_written']}"
        for each in arrays_of(manifest)
    ]
    for number in numbers_of(manifest):
        comment = f"{number.meaning}{', its bits' * (number.dtype in _BITS)}"
        found.append(f"    var {names[number.name]}: {_TYPES[number.dtype]}  // {comment}")
    return found


def _grid_function(manifest: Manifest, names: Names) -> str:
    extents = extents_of(manifest)
    if extents is None:
        return ""
    width, height, depth = (extent_text(*extent, "Int", names) for extent in extents)
    return (
        f"\n/// {manifest['grid']['rule']} programs.\n"
        "func gridOf(_ arguments: Arguments) -> MTLSize {\n"
        f"    return MTLSize(width: {width}, height: {height}, depth: {depth})\n}}\n"
    )


def _bindings(manifest: Manifest, names: Names) -> list[str]:
    lines = [
        f"encoder.setBuffer(arguments.{names[each['name']]}, offset: 0, index: {each['buffer']})"
        for each in arrays_of(manifest)
    ]
    numbers = list(numbers_of(manifest))
    for n in numbers:
        if n.offset is None:
            lines.append(f"var number{n.index} = arguments.{names[n.name]}")
            size = BYTES[n.dtype]
            lines.append(f"encoder.setBytes(&number{n.index}, length: {size}, index: {n.index})")
    packed = buffer_of(manifest, "scalars")
    if packed is not None:
        lines.append(f"var scalars = [UInt8](repeating: 0, count: {packed['bytes']})")
        lines.append("scalars.withUnsafeMutableBytes { bytes in")
        for n in numbers:
            if n.offset is not None:
                field, kind = f"arguments.{names[n.name]}", _TYPES[n.dtype]
                at = f"toByteOffset: {n.offset}, as: {kind}.self"
                lines.append(f"    bytes.storeBytes(of: {field}, {at})")
        lines.append("}")
        index = packed["index"]
        lines.append(f"encoder.setBytes(scalars, length: scalars.count, index: {index})")
    report = buffer_of(manifest, "report")
    if report is not None:
        lines.append(f"encoder.setBuffer(report, offset: 0, index: {report['index']})")
    return lines


def _demo_arguments(manifest: Manifest, names: Names) -> str:
    given = [
        f"{names[each['name']]}: zeros({math.prod(demo_shape(each)) * BYTES[each['dtype']]})"
        for each in arrays_of(manifest)
    ]
    for number in numbers_of(manifest):
        value = demo_value(number, manifest)
        spelled = str(value).lower() if isinstance(value, bool) else str(value)
        given.append(f"{names[number.name]}: {spelled}")
    return "".join(f"\n        {each}," for each in given).rstrip(",")


def _check_report(manifest: Manifest) -> str:
    if buffer_of(manifest, "report") is None:
        return ""
    lines = [
        "switch report.contents().load(as: UInt32.self) {",
        *(f"case {number}: fatalError({_quote(text)})" for number, text in failures(manifest)),
        "default: break",
        "}",
    ]
    return "".join(f"    {line}\n" for line in lines)


def _print(array: Manifest, names: Names) -> str:
    kind, name = _TYPES[array["dtype"]], names[array["name"]]
    pointer = f"arguments.{name}.contents().assumingMemoryBound(to: {kind}.self)"
    return f"    print({quote(array['name'])}, (0..<8).map {{ {pointer}[$0] }})"

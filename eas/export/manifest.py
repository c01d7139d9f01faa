"""The manifest of an exported kernel: what a host has to know to run its text.

It is plain data, which `manifest.schema.json` describes. The samples are made from nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from eas.compiler import CompiledKernel
from eas.ir.nodes import Param
from eas.ir.types import Pointer
from eas.msl.cxx.names import unique
from eas.msl.kernel import Buffer, param_name
from eas.runtime.grid import GridUse, grid_rule
from eas.support.report_buffer import HEAD, Site

FORMAT = 1
SCHEMA = "manifest.schema.json"
GENERATOR = "easy_as"

Manifest = dict[str, Any]


def schema() -> str:
    """The text of the JSON Schema of manifests."""
    return files("eas.export").joinpath(SCHEMA).read_text("utf-8")


def manifest_of(
    compiled: CompiledKernel,
    constants: Mapping[str, Any],
    ranks: Mapping[str, int | None],
    text: str,
) -> Manifest:
    """The manifest of a kernel; `ranks` has those of the arrays, `text` is the name of a file."""
    kernel, function = compiled.metal, compiled.function
    major, minor = kernel.metal_version
    return {
        "$schema": SCHEMA,
        "format": FORMAT,
        "generator": GENERATOR,
        "kernel": compiled.name,
        "function": kernel.name,
        "signature": compiled.signature,
        "text": text,
        "metal": {
            "version": f"{major}.{minor}",
            "language_version": major << 16 | minor,
            "fast_math": function.fast_math,
        },
        "threads": kernel.threads,
        "most_programs": kernel.programs,
        "grid": _grid(compiled, constants),
        "threadgroup_memory": {
            "bytes": sum(each.bytes for each in kernel.threadgroup_memory),
            "arrays": [
                {"name": each.name, "bytes": each.bytes, "is_allocated": each.is_allocated}
                for each in kernel.threadgroup_memory
            ],
        },
        "constants": dict(function.constants),
        "checked": function.checked,
        "arguments": list(_arguments(compiled, ranks)),
        "buffers": [_buffer(each, function.params) for each in kernel.buffers],
        "sites": [_site(number, site) for number, site in enumerate(kernel.sites, 1)],
    }


def to_text(manifest: Manifest) -> str:
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _grid(compiled: CompiledKernel, constants: Mapping[str, Any]) -> Manifest:
    use: GridUse = compiled.grid_use
    params = [p for p in compiled.function.params if p.role == "argument"]
    integers = {p.name for p in params if _is_integer(p)}
    rule = grid_rule(use, integers, constants)
    if rule is None:
        return {"axes": use.axes, "rule": None, "extents": None}
    extents = [{"size": each.size, "divisor": each.divisor} for each in rule]
    return {"axes": use.axes, "rule": use.formula, "extents": extents}


def _is_integer(param: Param) -> bool:
    return not isinstance(param.value.ty, Pointer) and param.value.ty.dtype.is_int


def _arguments(compiled: CompiledKernel, ranks: Mapping[str, int | None]) -> Iterator[Manifest]:
    uses = compiled.binding.uses
    places = {b.parameter: b.index for b in compiled.metal.buffers if b.parameter >= 0}
    packed = next((b.index for b in compiled.metal.buffers if b.kind == "scalars"), None)
    for number, param in enumerate(compiled.function.params):
        if param.role != "argument":
            continue
        dtype = param.value.ty.dtype.name
        buffer = places.get(number, packed)
        if not isinstance(param.value.ty, Pointer):
            yield {"name": param.name, "kind": "scalar", "dtype": dtype, "buffer": buffer}
            continue
        use = uses[param.name]
        yield {
            "name": param.name,
            "kind": "array",
            "dtype": dtype,
            "buffer": buffer,
            "rank": ranks.get(param.name),
            "is_read": use.is_read,
            "is_written": use.is_written,
        }


def _buffer(buffer: Buffer, params: tuple[Param, ...]) -> Manifest:
    head: Manifest = {"index": buffer.index, "kind": buffer.kind}
    match buffer.kind:
        case "array":
            return head | {"array": params[buffer.parameter].name}
        case "scalar":
            return head | _value(params[buffer.parameter], params)
        case "scalars":
            fields = [
                {"offset": f.offset, **_value(params[f.parameter], params)} for f in buffer.fields
            ]
            last = buffer.fields[-1]
            size = last.offset + max(last.dtype.bits // 8, 1)
            return head | {"bytes": -(-size // 16) * 16, "fields": fields}
        case "report":
            return head | {"bytes": 4 * HEAD}


def _value(param: Param, params: tuple[Param, ...]) -> Manifest:
    """What a scalar is: an argument, or an extent, a stride or a bound of an array."""
    dtype = param.value.ty.dtype.name
    if param.role == "argument":
        return {"name": param.name, "dtype": dtype, "source": param.role}
    name = unique(param_name(param), {p.name for p in params if p.role == "argument"})
    source = {"name": name, "dtype": dtype, "source": param.role}
    if param.role in ("low", "high"):
        return source | {"array": param.array}
    return source | {"array": param.array, "axis": param.axis}


def _site(number: int, site: Site) -> Manifest:
    texts = [part if isinstance(part, str) else "{}" for part in site.parts]
    return {
        "number": number,
        "kind": site.kind,
        "text": "".join(texts),
        "file": site.loc.source.name,
        "line": site.loc.line,
    }

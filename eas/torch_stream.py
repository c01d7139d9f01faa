"""Launches on torch's own stream of `mps`, through `torch.mps.compile_shader`.

torch compiles the Metal text and encodes the dispatch behind its own work, so that nothing waits.
It takes neither a language version nor a math mode: Metal's defaults hold, which are fast. A kernel
that computes with floats must allow that, `@eas.kernel(fast_math=True)`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from eas.compiler import CompiledKernel
from eas.ir.nodes import Param, results_of, walk
from eas.ir.types import DType
from eas.runtime import torch_arguments
from eas.runtime.refusals import BadArgument, LaunchError

VERSIONS = ("2.13",)  # of torch, whose interface this is written for
_CASTS = {
    **dict.fromkeys(("i32", "u32"), "int32"),
    **dict.fromkeys(("i16", "u16"), "int16"),
    "i8": "int8",
    "u8": "uint8",
    "bool": "uint8",
    "f16": "fp16",
    "bf16": "bf16",
}
_chosen: list[bool] = []  # by `use_stream`: the last one holds


def use_stream(on: bool = True) -> None:
    """Has launches on tensors of `mps` use torch's own stream; `False` goes back to DLPack.

    `EAS_TORCH_MPS=stream` does the same. Other versions of torch than those that this was written
    for are refused with a `RuntimeError`.
    """
    if on:
        _check_version()
    _chosen[:] = [on]


def is_stream_used() -> bool:
    """Whether that was chosen; raises `BadArgument` if the environment says neither."""
    if _chosen:
        return _chosen[-1]
    chosen = os.environ.get("EAS_TORCH_MPS", "dlpack")
    if chosen not in ("dlpack", "stream"):
        raise BadArgument(f"EAS_TORCH_MPS is `dlpack` or `stream`, not {chosen!r}")
    if chosen == "stream":
        _check_version()
    return chosen == "stream"


def _check_version() -> None:
    torch: Any = torch_arguments.loaded()
    version = str(getattr(torch, "__version__", "none"))
    if not version.startswith(tuple(f"{known}." for known in VERSIONS)):
        raise RuntimeError(
            f"torch's stream is used with torch {' or '.join(VERSIONS)}, this is {version}: "
            "leave out EAS_TORCH_MPS=stream, tensors then go through DLPack"
        )


def launch(compiled: CompiledKernel, bound: Mapping[str, Any], grid: Sequence[int]) -> None:
    """Encodes a launch behind what torch has sent to the GPU before."""
    kernel, params = compiled.metal, compiled.function.params
    _check(compiled)
    for use in compiled.binding.uses.values():
        tensor = bound[use.name]
        try:
            if use.is_written:
                torch_arguments.check_written(tensor)
            if len(use.taken_strides) < tensor.dim() and not tensor.is_contiguous():
                message = "the kernel counts offsets in a contiguous tensor: pass `x.contiguous()`"
                raise BadArgument(message)
        except BadArgument as error:
            raise LaunchError(compiled.name, str(error), use.name) from None
    if 0 in grid:
        return
    buffers = sorted(kernel.buffers, key=lambda b: b.index)
    chosen = [params[b.parameter] for b in buffers]
    x, y, z = (*grid, 1, 1)[:3]
    casts = {n: _CASTS[p.value.ty.dtype.name] for n, p in enumerate(chosen) if _is_cast(p)}
    run = getattr(_library(kernel.text), kernel.name)
    run(
        *(_argument(param, bound) for param in chosen),
        threads=[x * kernel.threads, y, z],
        group_size=[kernel.threads, 1, 1],
        arg_casts=casts,
    )
    torch_arguments.mark_written([bound[name] for name in compiled.writes])


def _check(compiled: CompiledKernel) -> None:
    kinds = {b.kind for b in compiled.metal.buffers}
    if "report" in kinds:
        message = "it has asserts or prints, which torch's stream cannot report"
    elif "scalars" in kinds:
        message = "it has more parameters than torch's stream can pass"
    elif _has_floats(compiled) and not compiled.function.fast_math:
        message = (
            "torch compiles kernels with fast math: allow it, `@eas.kernel(fast_math=True)`, "
            "or go through DLPack, `eas.torch.use_stream(False)`"
        )
    else:
        return
    raise LaunchError(compiled.name, message)


def _has_floats(compiled: CompiledKernel) -> bool:
    values = (value for op in walk(compiled.function.body) for value in results_of(op))
    return any(value.ty.dtype.is_float for value in values)


def _is_cast(param: Param) -> bool:
    return not _is_array(param) and param.value.ty.dtype.name in _CASTS


def _is_array(param: Param) -> bool:
    return param.role == "argument" and hasattr(param.value.ty, "space")


def _argument(param: Param, bound: Mapping[str, Any]) -> Any:
    match param.role:
        case "extent":
            return int(bound[param.array].shape[param.axis])
        case "stride":
            return int(bound[param.array].stride(param.axis))
        case _:
            value = bound[param.name]
            return value if _is_array(param) else _number(value, param.value.ty.dtype)


def _number(value: Any, dtype: DType) -> int | float:
    """A number as torch takes it: an int of 64 bits with a sign, or a float."""
    number = value.item() if hasattr(value, "item") else value
    if dtype.is_float:
        return float(number)
    return int(number) - (1 << 64 if int(number) >= 1 << 63 else 0)


@cache
def _library(text: str) -> Any:
    torch: Any = torch_arguments.loaded()
    return torch.mps.compile_shader(text)

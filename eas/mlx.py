"""`Kernel.to_mlx`: what `mx.fast.metal_kernel` of MLX wants to know of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from eas.compiler import CompiledKernel
from eas.ir.nodes import Param
from eas.msl.kernel import Buffer
from eas.msl.mlx_parts import MlxParts, split
from eas.runtime.argument_values import is_numpy_scalar
from eas.runtime.refusals import LaunchError
from eas.support.records import frozen


@frozen
class MlxKernel:
    """A kernel for MLX.

    ```python
    k = add.to_mlx(a, b, c, n, BLOCK=256)
    kernel = mx.fast.metal_kernel(**k.options)
    (c,) = kernel(**k.launch)
    ```

    `options` are the name, the names of inputs and outputs, the source and the header. `threads` is
    the number of threads per program. If the kernel was given types only, there is no more. The
    arrays that the kernel writes are its outputs: of those that are passed, MLX gets the shape and
    the dtype, and makes new ones.
    """

    options: dict[str, Any]
    threads: int
    grid: tuple[int, int, int] = (0, 0, 0)  # in programs
    inputs: tuple[Any, ...] = ()
    outputs: tuple[tuple[tuple[int, ...], str], ...] = ()  # shape and name of the dtype

    @property
    def launch(self) -> dict[str, Any]:
        """The arguments of the kernel that `mx.fast.metal_kernel` makes."""
        x, y, z = self.grid
        found: dict[str, Any] = {
            "inputs": [_to_mlx(each) if is_numpy_scalar(each) else each for each in self.inputs],
            "grid": (x * self.threads, y, z),
            "threadgroup": (self.threads, 1, 1),
            "output_shapes": [shape for shape, _ in self.outputs],
            "output_dtypes": [_mlx_dtype(name) for _, name in self.outputs],
        }
        return found | ({"init_value": 0} if self.options["atomic_outputs"] else {})


def array_type(value: Any) -> str | None:
    """The type of an array of MLX, NumPy or another library as text; None for anything else."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None or not len(shape):
        return None
    name = str(dtype).rpartition(".")[2]
    return f"*{name}[{', '.join(':' * len(shape))}]"


def to_mlx(
    compiled: CompiledKernel, values: Mapping[str, Any], grid: tuple[int, ...] | None
) -> MlxKernel:
    """The kernel for MLX; without a grid it cannot be launched, only built."""
    kernel, parts = compiled.metal, split(compiled.metal)
    _check(compiled, parts)
    params = compiled.function.params
    outputs = [b for b in kernel.buffers if b.is_written]
    inputs = [b for b in kernel.buffers if not b.is_written]
    options: dict[str, Any] = {
        "name": kernel.name,
        "input_names": [parts.names[b.index] for b in inputs],
        "output_names": [parts.names[b.index] for b in outputs],
        "source": parts.source,
        "header": parts.header,
        "ensure_row_contiguous": True,
        "atomic_outputs": bool(parts.atomic),
    }
    if compiled.function.fast_math:
        options["compile_options"] = {"math_mode": "fast"}
    if grid is None:
        return MlxKernel(options, kernel.threads)
    x, y, z = (*grid, 1, 1)[:3]
    arrays = [values[params[b.parameter].name] for b in outputs]
    return MlxKernel(
        options,
        kernel.threads,
        (x, y, z),
        tuple(_input(params[b.parameter], values) for b in inputs),
        tuple((tuple(array.shape), str(array.dtype)) for array in arrays),
    )


def _check(compiled: CompiledKernel, parts: MlxParts) -> None:
    kernel, uses = compiled.metal, compiled.binding.uses
    kinds = {b.kind for b in kernel.buffers}
    written: Sequence[Buffer] = [b for b in kernel.buffers if b.is_written]
    if "report" in kinds:
        raise LaunchError(compiled.name, "it has asserts or prints, which MLX cannot report")
    if "scalars" in kinds:
        raise LaunchError(compiled.name, "it has more parameters than MLX can pass")
    if not written:
        raise LaunchError(compiled.name, "it writes to no array, and MLX wants an output")
    for buffer in written:
        name = compiled.function.params[buffer.parameter].name
        if uses[name].is_read:
            raise LaunchError(
                compiled.name,
                "it reads and writes this array, but the outputs of MLX are new arrays: "
                "write to another one",
                name,
            )
    if parts.atomic and parts.atomic != frozenset(b.index for b in written):
        message = "only some of its outputs are atomic; in MLX all of them are, or none"
        raise LaunchError(compiled.name, message)


def _input(param: Param, values: Mapping[str, Any]) -> Any:
    """An input: an array as it is, a number in the dtype of the parameter."""
    dtype = param.value.ty.dtype
    match param.role:
        case "argument":
            value = values[param.name]
            if hasattr(value, "shape") and len(value.shape):
                return value
        case "extent":
            value = values[param.array].shape[param.axis]
        case _:  # a stride; MLX makes its inputs contiguous by rows
            value = 1
            for extent in values[param.array].shape[param.axis + 1 :]:
                value *= extent
    return dtype.numpy.type(value)


def _to_mlx(number: Any) -> Any:
    return import_module("mlx.core").array(number.item(), _mlx_dtype(number.dtype.name))


def _mlx_dtype(name: str) -> Any:
    """The dtype of MLX that has a NumPy name, or its own."""
    short = name.rpartition(".")[2]
    return getattr(import_module("mlx.core"), "bool_" if short == "bool" else short)

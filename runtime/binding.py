"""From the arguments of a launch to the parameters of a compiled function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eas.ir.nodes import Atomic, Function, Load, Param, Store, walk
from eas.ir.types import Pointer
from eas.runtime.argument_values import Array, ArrayArgument, Bound
from eas.runtime.refusals import BadArgument, LaunchError
from eas.support.records import frozen

Bind = Callable[[Mapping[str, Any]], ArrayArgument | np.generic]


class Binding:
    """Maps the arguments of a launch to the parameters of one function.

    What can be decided from the function alone is decided here, once.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.uses = array_uses(function)
        self._steps = tuple(self._step(param) for param in function.params)

    def bind(self, values: Mapping[str, Bound]) -> list[ArrayArgument | np.generic]:
        """One argument per parameter of the function, from those of the launch by name."""
        arguments: list[ArrayArgument | np.generic] = []
        for name, bind in self._steps:
            try:
                arguments.append(bind(values))
            except BadArgument as error:
                raise LaunchError(self.function.name, str(error), name) from error
        return arguments

    def _step(self, param: Param) -> tuple[str, Bind]:
        """The name of the argument that a parameter is taken from, and how."""
        if param.role == "extent":
            return param.array, _bind_extent(param)
        if param.role == "stride":
            return param.array, _bind_stride(param)
        if param.role in ("low", "high"):
            return param.array, _bind_bound(param)
        if isinstance(param.value.ty, Pointer):
            return param.name, _bind_array(self.uses[param.name])
        return param.name, lambda values: values[param.name]


def _bind_array(use: ArrayUse) -> Bind:
    def bind(values: Mapping[str, Array]) -> ArrayArgument:
        array = values[use.name]
        use.check(array)
        return to_argument(array)

    return bind


def _bind_extent(param: Param) -> Bind:
    convert = _hidden(param)

    def bind(values: Mapping[str, Array]) -> np.generic:
        return convert(values[param.array].shape[param.axis])

    return bind


def _bind_stride(param: Param) -> Bind:
    convert = _hidden(param)

    def bind(values: Mapping[str, Array]) -> np.generic:
        array = values[param.array]
        return convert(array.strides[param.axis] // array.itemsize)

    return bind


def _bind_bound(param: Param) -> Bind:
    def bind(values: Mapping[str, Array]) -> np.generic:
        extent = to_argument(values[param.array]).extent(param.array)
        return np.int64(extent.low if param.role == "low" else extent.high)

    return bind


def _hidden(param: Param) -> Callable[[int], np.generic]:
    dtype = param.value.ty.dtype
    make, low, high = dtype.numpy.type, dtype.min, dtype.max

    def convert(number: int) -> np.generic:
        if not low <= number <= high:
            raise BadArgument(
                f"its {param.role} {number} along axis {param.axis} does not fit into {dtype}"
            )
        return make(number)

    return convert


@frozen
class ArrayUse:
    """What a function does with one of its arrays."""

    name: str
    is_read: bool
    is_written: bool
    taken_strides: frozenset[int]

    def check(self, array: Array) -> None:
        """Raises `BadArgument` if the function cannot use this array."""
        flags = array.flags
        if self.is_written and not flags.writeable:
            raise BadArgument("the kernel writes to it, but the array is read-only")
        if not flags.aligned:
            raise BadArgument(
                f"its elements are {array.itemsize} bytes long and must lie at multiples of that, "
                f"but its strides are {array.strides}: pass a copy, `{self.name}.copy()`"
            )
        if not flags.c_contiguous and (self.is_read or self.is_written):
            self._check_strides(array)

    def _check_strides(self, array: Array) -> None:
        """An axis whose stride the function does not take must be contiguous."""
        packed = array.itemsize
        for axis in reversed(range(array.ndim)):
            extent, stride = array.shape[axis], array.strides[axis]
            if extent > 1 and stride != packed and axis not in self.taken_strides:
                raise BadArgument(
                    "the kernel counts offsets in a contiguous array, but this one has the shape "
                    f"{array.shape} and the strides {array.strides}: pass "
                    f"`np.ascontiguousarray({self.name})` or `{self.name}.contiguous()`, "
                    f"index it as `{self.name}[i, ...]`, "
                    f"or have the kernel take its strides, `{self.name}.strides[{axis}]`"
                )
            packed = stride * extent


def array_uses(function: Function) -> dict[str, ArrayUse]:
    """How each array argument of a function is used, by name."""
    read: set[int] = set()
    written: set[int] = set()
    for op in walk(function.body):
        if isinstance(op, Load):
            read.add(op.pointer.id)
        elif isinstance(op, Store | Atomic):
            written.add(op.pointer.id)
    uses: dict[str, ArrayUse] = {}
    for param in function.params:
        if isinstance(param.value.ty, Pointer):
            name, id = param.name, param.value.id
            uses[name] = ArrayUse(name, id in read, id in written, _strides(function, name))
    return uses


def _strides(function: Function, array: str) -> frozenset[int]:
    return frozenset(p.axis for p in function.params if p.role == "stride" and p.array == array)


def to_argument(array: Array) -> ArrayArgument:
    """The memory of an array as a flat array, and the index of the first element in it."""
    if array.flags.c_contiguous:
        return ArrayArgument(array.reshape(-1), 0, array.shape)
    low, high = 0, 0
    for extent, stride in zip(array.shape, array.strides, strict=True):
        reach = (extent - 1) * (stride // array.itemsize)
        low, high = low + min(reach, 0), high + max(reach, 0)
    # The corner with the lowest address: the far end of every axis that runs backwards.
    corner = array[tuple(slice(-1, None) if s < 0 else slice(0, 1) for s in array.strides)]
    flat = np.lib.stride_tricks.as_strided(corner, (high - low + 1,), (array.itemsize,))
    return ArrayArgument(flat, -low, array.shape)

"""Copies of a launch's arguments, on the device that they are on: trials must not write to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.lib.array_utils import byte_bounds

from eas.runtime.argument_values import is_eas_tensor
from eas.runtime.torch_arguments import is_tensor

Array = np.ndarray[Any, Any]


class WrittenCopies:
    """The arguments of a launch with copies in place of the arrays that it writes.

    One array that is given twice has one copy, as the kernel was compiled for the very same array.
    """

    def __init__(self, arguments: Mapping[str, Any], written: Iterable[str]) -> None:
        self._originals = {name: arguments[name] for name in written}
        copies = {_memory_of(each): duplicate(each) for each in self._originals.values()}
        self._pairs = {_memory_of(each): each for each in self._originals.values()}
        self._copies = copies
        self.arguments = {
            name: copies.get(_memory_of(value), value) for name, value in arguments.items()
        }

    def restore(self) -> None:
        """Gives the copies the values of the originals."""
        for memory, original in self._pairs.items():
            copy_into(self._copies[memory], original)

    def values(self) -> dict[str, Array]:
        """The copies as NumPy sees them."""
        return {name: to_numpy(self.arguments[name]) for name in self._originals}


def duplicate(value: Any) -> Any:
    """A copy of an array of NumPy, torch or ours, on the same device, with the same strides."""
    if _is_array(value):
        copy = _empty_strided(value)
        np.copyto(copy, value)
        return copy
    if is_tensor(value):
        return value.detach().new_empty_strided(value.shape, value.stride()).copy_(value)
    from eas.runtime.tensors.making import tensor

    device = value.device if is_eas_tensor(value) else None
    return tensor(value, device=device, copy=True)


def _empty_strided(array: Array) -> Array:
    """Memory of its own, with the strides of an array: a kernel may refuse others, or be slower."""
    low, high = byte_bounds(array)
    memory = np.empty(high - low, np.uint8)
    offset = array.ctypes.data - low
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def copy_into(target: Any, source: Any) -> None:
    """Copies the elements of an array into its copy."""
    if _is_array(target):
        np.copyto(target, source)
    elif is_tensor(target):
        target.copy_(source.detach())
    else:
        target.copy_(source)


def to_numpy(value: Any) -> Array:
    """The elements of an array; what NumPy has no dtype for is read through `eas.Tensor`."""
    if _is_array(value):
        return value
    if is_eas_tensor(value):
        return value.numpy()
    from eas.runtime.tensors.making import tensor

    return tensor(value.detach().cpu() if is_tensor(value) else value).numpy()


def _memory_of(value: Any) -> object:
    """Equal for arrays that are the same elements."""
    if _is_array(value):
        return (value.ctypes.data, value.shape, value.strides, value.dtype)
    if is_tensor(value):
        return (value.data_ptr(), tuple(value.shape), tuple(value.stride()), value.dtype)
    return id(value)


def _is_array(value: Any) -> TypeGuard[Array]:
    return isinstance(value, np.ndarray)

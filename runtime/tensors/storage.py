"""The memory of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from eas.runtime.streams.active import ACTIVE
from eas.runtime.tensors.devices import Device

Array = np.ndarray[Any, np.dtype[Any]]


class Storage:
    """`nbytes` bytes from `address` on, in the memory of a `device`.

    Tensors are views of a storage, and so are the NumPy arrays that they give away. Each of them
    keeps the storage alive; the storage keeps `owner` alive, whose memory it is.
    """

    __slots__ = ("__weakref__", "address", "is_writeable", "nbytes", "owner")

    device: Device = "cpu"
    mode: Literal["shared", "private"] = "shared"

    def __init__(
        self, address: int, nbytes: int, owner: object, *, is_writeable: bool = True
    ) -> None:
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.is_writeable = is_writeable

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """How NumPy sees the bytes: an array made of it has the storage as its base."""
        data = (self.address, not self.is_writeable)
        return {"version": 3, "shape": (self.nbytes,), "typestr": "|u1", "data": data}

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """All of it as a contiguous array. No element is read."""
        return np.asarray(self).view(dtype).reshape(shape)

    def wait_for(self, array: Array, *, is_written: bool = False) -> None:
        """Waits before the host reads a view: for the last launch that writes its bytes.

        Before the host writes the view, it waits for the launches that read it as well.
        """
        if ACTIVE:
            from eas.runtime.streams.waits import wait_for_access  # only its users pay for it

            wait_for_access([(*bounds(array), is_written)])

    def to_host(self, array: Array) -> Array:
        """The elements of a view, for the host to read, after a wait: where it can, the very same.

        `array` describes the view: where it begins, its shape and its strides.
        """
        self.wait_for(array)
        return array

    def update(self, array: Array, change: Callable[[Array], None]) -> None:
        """Has the host change the elements of a view, after a wait."""
        self.wait_for(array, is_written=True)
        change(array)

    def __repr__(self) -> str:
        return f"<{self.nbytes} bytes of {self.device} at {self.address:#x}>"


def storage_of(array: Array) -> Storage:
    """The memory of a NumPy array that somebody else has made."""
    low, high = bounds(array)
    return Storage(low, high - low, array, is_writeable=bool(array.flags.writeable))


def bounds(array: Array) -> tuple[int, int]:
    """The address of its first byte, and the one behind the last; equal if it has none."""
    if array.size == 0:
        return address_of(array), address_of(array)
    return np.lib.array_utils.byte_bounds(array)


def address_of(array: Array) -> int:
    """Where the first element of an array is."""
    return array.__array_interface__["data"][0]

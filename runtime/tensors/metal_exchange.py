"""Metal buffers that go from library to library: DLPack hands over an `id<MTLBuffer>`."""

from __future__ import annotations

import re
import sys
from typing import Any

from eas.runtime import metal
from eas.runtime.tensors.metal_memory import MetalStorage, Mode
from eas.runtime.tensors.storage import address_of, bounds
from eas.runtime.tensors.tensor import Tensor

# The last torch that ignores `byte_offset`, on its way in and on its way out.
LAST_WITHOUT_OFFSET = (2, 9, 1)


class ImportedBuffer:
    """A buffer that another library has made; `lender` is to be kept alive."""

    __slots__ = ("_pointer", "_residency", "address", "lender", "mode", "nbytes")

    def __init__(self, device: metal.Device, pointer: int, lender: object) -> None:
        found = metal.buffer_at(device, pointer)
        self._pointer = pointer
        self._residency = device.residency
        self.lender = lender
        self.nbytes = found.nbytes
        self.mode: Mode = "private" if found.contents is None else "shared"
        self.address = device.residency.add(found.buffer, pointer, found.nbytes, found.contents)

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self._residency.remove(self._pointer)


def import_buffer(pointer: int, byte_offset: int, lender: object) -> tuple[MetalStorage, int]:
    """The memory of a buffer, and the address that lies `byte_offset` bytes in it."""
    if pointer == 0:
        raise BufferError("DLPack hands over no Metal buffer")
    try:
        device = metal.default_device()
    except metal.MetalError as error:
        raise BufferError(f"a tensor on Metal cannot be read here: {error}") from error
    made = ImportedBuffer(device, pointer, lender)
    storage = MetalStorage(device, made.address, made.nbytes, made, made.mode)
    return storage, made.address + byte_offset


def buffer_of(tensor: Tensor) -> metal.Resident:
    """The buffer of a tensor on Metal, and where its first element is in it."""
    storage = tensor._storage  # pyright: ignore[reportPrivateUsage]
    assert isinstance(storage, MetalStorage)
    array = tensor.__eas_array__()
    low, high = bounds(array)
    found = storage.resident(low, high - low)
    return metal.Resident(found.buffer, found.offset + address_of(array) - low, high - low)


def pointer_to(buffer: Any) -> int:
    """The `id<MTLBuffer>` of a buffer."""
    return metal.pointer_to(metal.default_device(), buffer)


def is_offset_ignored() -> bool:
    """Whether a torch is loaded that takes a view for the beginning of its buffer."""
    torch: Any = sys.modules.get("torch")
    numbers = re.findall(r"\d+", str(getattr(torch, "__version__", "")))[:3]
    return bool(numbers) and tuple(map(int, numbers)) <= LAST_WITHOUT_OFFSET


def check_torch_offset(source: Any) -> None:
    """Refuses a view of a torch that would hand over a wrong buffer for it."""
    is_of_torch = type(source).__module__.partition(".")[0] == "torch"
    if is_of_torch and is_offset_ignored() and source.storage_offset() != 0:
        raise BufferError(
            "torch up to 2.9.1 does not say where a view begins in its buffer: pass `x.clone()`"
        )

"""Tensors for other libraries, through DLPack: they use the memory where it is."""

from __future__ import annotations

import ctypes
from typing import Any

from eas.runtime.cpu.dlpack import deleters
from eas.runtime.tensors import capsules
from eas.runtime.tensors.capsules import DLManagedTensor, DLManagedTensorVersioned, DLTensor
from eas.runtime.tensors.storage import Storage, address_of
from eas.runtime.tensors.tensor import Tensor, allocate_tensor

DEVICES = {"cpu": capsules.CPU, "metal": capsules.METAL}
NAMES = {number: name for name, number in DEVICES.items()}

_add_reference: Any = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))


def export(
    tensor: Tensor,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The capsule that `Tensor.__dlpack__` gives; `BufferError` for what is impossible."""
    if stream not in (None, -1):
        raise BufferError(
            f"tensors are handed over without streams: `stream` is None, not {stream}"
        )
    if copy not in (None, True, False):
        raise BufferError(f"`copy` is None, True or False, not {copy!r}")
    device = _wanted_device(dl_device, tensor)
    is_versioned = max_version is not None and max_version[0] >= capsules.VERSION[0]
    reason = _reason_to_copy(tensor, device, is_versioned)
    if reason and copy is False:
        raise BufferError(f"{reason}, and `copy=False` forbids a copy")
    is_copied = bool(reason) or copy is True
    given = _copied(tensor, device) if is_copied else tensor
    return _make_capsule(given, device, is_versioned, is_copied)


def _wanted_device(dl_device: tuple[int, int] | None, tensor: Tensor) -> int:
    if dl_device is None:
        return DEVICES[tensor.device]
    number = int(dl_device[0])
    if number not in NAMES or int(dl_device[1]) != 0:
        raise BufferError(
            f"a tensor on {tensor.device} cannot go to the DLPack device {tuple(dl_device)}; "
            f"{(capsules.CPU, 0)} is the CPU, {(capsules.METAL, 0)} is Metal"
        )
    return number


def _reason_to_copy(tensor: Tensor, device: int, is_versioned: bool) -> str:
    """Why the memory of a tensor cannot be handed over as it is; empty if it can."""
    if not is_reachable(tensor._storage, device):  # pyright: ignore[reportPrivateUsage]
        return f"a tensor on {tensor.device} is not in the memory of {NAMES[device]}"
    if min(tensor.strides, default=0) < 0:
        return "DLPack has no negative strides"  # torch ends the process for one
    array = tensor.__eas_array__()
    if not is_versioned and not array.flags.writeable:
        return "before version 1.0, DLPack cannot say that a tensor is read-only"
    if device == capsules.METAL:
        from eas.runtime.tensors import metal_exchange

        if metal_exchange.is_offset_ignored() and metal_exchange.buffer_of(tensor).offset:
            return "torch up to 2.9.1 ignores where a view begins in its buffer"
    return ""


def is_reachable(storage: Storage, device: int) -> bool:
    """Whether a device reaches a memory: the CPU also reaches shared memory of the GPU."""
    is_shared = getattr(storage, "mode", "shared") == "shared"
    return DEVICES[storage.device] == device or (device == capsules.CPU and is_shared)


def _copied(tensor: Tensor, device: int) -> Tensor:
    name: Any = NAMES[device]
    return allocate_tensor(tensor.shape, tensor.dtype, name).write(tensor)


def _make_capsule(tensor: Tensor, device: int, is_versioned: bool, is_copied: bool) -> Any:
    array = tensor.__eas_array__()
    storage = tensor._storage  # pyright: ignore[reportPrivateUsage]
    storage.wait_for(array)
    extents = (ctypes.c_int64 * (2 * max(tensor.ndim, 1)))(*tensor.shape, *tensor.strides)
    if is_versioned:
        managed = DLManagedTensorVersioned()
        managed.major, managed.minor = capsules.VERSION
        read_only = 0 if array.flags.writeable else capsules.READ_ONLY
        managed.flags = read_only | (capsules.IS_COPIED if is_copied else 0)
        managed.deleter, name = deleters().versioned, capsules.VERSIONED
    else:
        managed = DLManagedTensor()
        managed.deleter, name = deleters().plain, capsules.PLAIN
    buffer = _describe(managed.tensor, tensor, device, extents)
    owner = (managed, extents, storage, array, buffer)
    managed.owner = id(owner)
    _add_reference(owner)  # the deleter gives it back
    return capsules.new_capsule(ctypes.addressof(managed), name, deleters().capsule)


def _describe(struct: DLTensor, tensor: Tensor, device: int, extents: Any) -> Any:
    """Fills DLPack's struct; gives what else must stay alive."""
    buffer = None
    if device == capsules.METAL:
        from eas.runtime.tensors import metal_exchange

        buffer = metal_exchange.buffer_of(tensor)
        struct.data = metal_exchange.pointer_to(buffer.buffer)
        struct.byte_offset = buffer.offset
    else:
        struct.data = address_of(tensor.__eas_array__())
        struct.byte_offset = 0
    struct.device_type, struct.device_id, struct.ndim = device, 0, tensor.ndim
    code, bits, lanes = capsules.data_type(tensor.dtype)
    struct.dtype.code, struct.dtype.bits, struct.dtype.lanes = code, bits, lanes
    first = ctypes.addressof(extents)
    numbers = ctypes.POINTER(ctypes.c_int64)
    struct.shape = ctypes.cast(first, numbers)
    struct.strides = ctypes.cast(first + 8 * tensor.ndim, numbers)
    return buffer

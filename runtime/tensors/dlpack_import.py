"""Tensors of other libraries, through DLPack: their memory is used where it is."""

from __future__ import annotations

import ctypes
import math
import sys
from typing import Any

import numpy as np

from eas.ir.types import DType
from eas.runtime import torch_arguments
from eas.runtime.argument_values import describe
from eas.runtime.tensors import capsules
from eas.runtime.tensors.capsules import DLManagedTensor, DLManagedTensorVersioned, DLTensor
from eas.runtime.tensors.storage import Array, Storage
from eas.runtime.tensors.tensor import Tensor
from eas.support.records import frozen

MOST_AXES = 64  # of NumPy
MOST_BYTES = (1 << 63) - 1


_Deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # with the GIL, as NumPy and torch call it


class Foreign:
    """Memory that another library has lent: its deleter is called when nothing refers to it."""

    __slots__ = ("_is_finalizing", "_managed", "_release")

    def __init__(self, managed: int, deleter: int | None) -> None:
        self._managed = managed
        self._release: Any = _Deleter(deleter) if deleter else None
        self._is_finalizing = sys.is_finalizing

    def __del__(self) -> None:
        # At the end of the process the other library may be gone, and memory need not be freed.
        if self._release is not None and not self._is_finalizing():
            self._release(self._managed)


@frozen
class _Read:
    """What a capsule says, and the owner of its memory."""

    device: int
    data: int
    byte_offset: int
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_writeable: bool | None  # None: it does not say
    is_copied: bool
    owner: Foreign


def import_dlpack(source: Any, *, copy: bool | None = None) -> Tensor:
    """A tensor in the memory of an object with `__dlpack__`, or of a capsule.

    Whatever is impossible raises `BufferError`. With `copy=False` the object must not copy.
    """
    if isinstance(source, capsules.Capsule):
        return _to_tensor(_read_capsule(source), source)
    if not hasattr(source, "__dlpack__"):
        raise TypeError(f"an object with `__dlpack__` is expected, not {describe(source)}")
    if torch_arguments.is_tensor(source):
        source = torch_arguments.to_export(source, copy)
    device = _device_of(source)
    if device == capsules.METAL:
        from eas.runtime.tensors import metal_exchange

        metal_exchange.check_torch_offset(source)
    read = _read_capsule(_ask_for_capsule(source, copy))
    if copy is False and read.is_copied:
        raise BufferError("the object has made a copy, and `copy=False` forbids that")
    return _to_tensor(read, source)


def is_on_metal(value: Any) -> bool:
    """Whether an object says that its memory is a Metal buffer."""
    try:
        return int(value.__dlpack_device__()[0]) == capsules.METAL
    except Exception:  # of the object's own code: reading it reports what is wrong
        return False


def _device_of(source: Any) -> int:
    try:
        device = int(source.__dlpack_device__()[0])
    except Exception as error:
        raise BufferError(_unreadable(source, error)) from error
    if device not in (capsules.CPU, capsules.METAL):
        raise BufferError(f"{describe(source)} {_on_other_device(device)}")
    return device


def _ask_for_capsule(source: Any, copy: bool | None) -> Any:
    options: dict[str, Any] = {"max_version": capsules.VERSION}
    if copy is False:
        options["copy"] = False
    try:
        try:
            return source.__dlpack__(**options)
        except TypeError:  # an object from before version 1.0 takes no options
            return source.__dlpack__()
    except Exception as error:
        raise BufferError(_unreadable(source, error)) from error


def _unreadable(source: Any, error: Exception) -> str:
    return f"{describe(source)} cannot be read through DLPack: {error}"


def _read_capsule(capsule: Any) -> _Read:
    """Consumes a capsule: its memory belongs to the result."""
    if not isinstance(capsule, capsules.Capsule):
        raise BufferError(f"`__dlpack__` gave no capsule, but a `{type(capsule).__name__}`")
    if capsules.is_valid(capsule, capsules.VERSIONED):
        return _read_versioned(capsule)
    if capsules.is_valid(capsule, capsules.PLAIN):
        address = _consume(capsule, capsules.PLAIN)
        managed = DLManagedTensor.from_address(address)
        owner = Foreign(address, managed.deleter)
        return _read_tensor(managed.tensor, owner, None, False)
    raise BufferError("the capsule has no tensor of DLPack, or it was consumed before")


def _read_versioned(capsule: Any) -> _Read:
    address = _consume(capsule, capsules.VERSIONED)
    managed = DLManagedTensorVersioned.from_address(address)
    owner = Foreign(address, managed.deleter)
    if managed.major != capsules.VERSION[0]:
        version = f"{managed.major}.{managed.minor}"
        raise BufferError(f"DLPack {version} is not known here; versions 0.8 to 1.x are")
    is_writeable = not managed.flags & capsules.READ_ONLY
    is_copied = bool(managed.flags & capsules.IS_COPIED)
    return _read_tensor(managed.tensor, owner, is_writeable, is_copied)


def _consume(capsule: Any, name: bytes) -> int:
    address: int = capsules.get_pointer(capsule, name)
    capsules.set_name(capsule, capsules.USED[name])
    return address


def _read_tensor(
    tensor: DLTensor, owner: Foreign, is_writeable: bool | None, is_copied: bool
) -> _Read:
    found = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)
    dtype = capsules.DATA_TYPES.get(found)
    if dtype is None:
        kind = capsules.describe_type(*found)
        raise BufferError(f"elements of DLPack's {kind} have no counterpart in a tensor")
    ndim = tensor.ndim
    if not 0 <= ndim <= MOST_AXES:
        raise BufferError(f"a tensor of DLPack with {ndim} axes; there may be {MOST_AXES}")
    shape = tuple(tensor.shape[:ndim]) if ndim else ()
    strides = tuple(tensor.strides[:ndim]) if ndim and tensor.strides else _packed(shape)
    if min(shape, default=0) < 0:
        raise BufferError(f"a tensor of DLPack with the shape {shape}")
    return _Read(
        tensor.device_type,
        tensor.data or 0,
        tensor.byte_offset,
        dtype,
        shape,
        strides,
        is_writeable,
        is_copied,
        owner,
    )


def _packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of elements without gaps."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _to_tensor(read: _Read, source: Any) -> Tensor:
    if read.device == capsules.METAL:
        from eas.runtime.tensors import metal_exchange

        storage, start = metal_exchange.import_buffer(read.data, read.byte_offset, read.owner)
        low, high = _reach(read)
        first, last = start + low, start + high
        if math.prod(read.shape) and not (
            storage.address <= first and last <= storage.address + storage.nbytes
        ):
            raise BufferError(f"the elements are not inside of the {storage.nbytes} bytes of it")
        storage.is_writeable = read.is_writeable is not False
        return Tensor(_array(read, storage, start), storage)
    if read.device != capsules.CPU:
        raise BufferError(f"a capsule {_on_other_device(read.device)}")
    low, high = _reach(read)
    start = read.data + read.byte_offset
    storage = Storage(start + low, high - low, read.owner, is_writeable=read.is_writeable is True)
    array = _array(read, storage, start)
    if read.is_writeable is None and _has_writeable_twin(source, array):
        storage.is_writeable = True
        array = _array(read, storage, start)
    return Tensor(array, storage)


def _reach(read: _Read) -> tuple[int, int]:
    """The bytes of the elements: from the first to behind the last, from where the data starts."""
    size = read.dtype.numpy.itemsize
    if 0 in read.shape:
        return 0, 0
    reaches = [(n - 1) * s * size for n, s in zip(read.shape, read.strides, strict=True)]
    low = sum(reach for reach in reaches if reach < 0)
    high = sum(reach for reach in reaches if reach > 0) + size
    if high - low > MOST_BYTES or read.data == 0:
        raise BufferError(f"there is no memory for the shape {read.shape} of {read.dtype}")
    return low, high


def _array(read: _Read, storage: Storage, start: int) -> Array:
    size = read.dtype.numpy.itemsize
    strides = tuple(stride * size for stride in read.strides)
    if 0 in read.shape:
        return np.ndarray(read.shape, read.dtype.numpy, np.asarray(storage)[:0])
    return np.ndarray(
        read.shape, read.dtype.numpy, np.asarray(storage), start - storage.address, strides
    )


def _has_writeable_twin(source: Any, array: Array) -> bool:
    """Whether `__array__` gives the same memory, and lets it be written.

    Before version 1.0, DLPack had no flag for read-only tensors, so that they count as such.
    """
    if not hasattr(source, "__array__"):
        return False
    try:
        twin: Array = np.asarray(source)
    except Exception:  # of the object's own code
        return False
    here, there = array.__array_interface__["data"], twin.__array_interface__["data"]
    return here[0] == there[0] and twin.strides == array.strides and bool(twin.flags.writeable)


def _on_other_device(device: int) -> str:
    name = capsules.DEVICE_NAMES.get(device, f"device {device}")
    return (
        f"is not in the memory of the CPU or of Metal, but of {name} "
        f"(its DLPack device is {device}): copy it there first"
    )

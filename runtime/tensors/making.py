"""The functions that make tensors."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np

from eas.ir.types import F32, DType
from eas.runtime.tensors.devices import Device, to_device
from eas.runtime.tensors.dlpack_import import import_dlpack
from eas.runtime.tensors.dtypes import DTypeLike, dtype_of, natural_dtype, to_dtype
from eas.runtime.tensors.python_numbers import check_fit, to_numbers
from eas.runtime.tensors.storage import Array
from eas.runtime.tensors.tensor import Number, Tensor, allocate_tensor, check_number, share_array

Shape = int | Sequence[int]
Mode = Literal["shared", "private"]


def tensor(
    data: Any,
    *,
    dtype: DTypeLike = None,
    device: str | None = None,
    copy: bool | None = None,
    storage: Mode | None = None,
) -> Tensor:
    """A tensor of NumPy arrays, lists, numbers, tensors, or anything with DLPack.

    `copy=None` shares memory where it can, `True` never does, `False` refuses to copy. Numbers of
    Python's get the dtype that they have in kernels: f32, i32 if they fit, bool.

    >>> eas.tensor([[1, 2], [3, 4]])
    Tensor([[1, 2], [3, 4]], shape=(2, 2), dtype=i32, device=cpu)
    >>> a = np.zeros(3, np.float32)
    >>> t = eas.tensor(a)
    >>> a[1] = 5
    >>> t.tolist()
    [0.0, 5.0, 0.0]
    """
    if copy not in (None, True, False):
        raise TypeError(f"`copy` is None, True or False, not {copy!r}")
    wanted = None if dtype is None else to_dtype(dtype)
    given = _given(data, wanted, None if copy else copy)
    if given is None:  # numbers, which have no memory to share
        if copy is False:
            kind = type(data).__name__
            raise ValueError(f"a `{kind}` has no memory to share, and `copy=False` forbids a copy")
        return _of_numbers(data, wanted, to_device(device or "cpu"), storage)
    place = given.device if device is None else to_device(device)
    is_shared = place == given.device and wanted in (None, given.dtype) and storage is None
    if copy is False and not is_shared:
        raise ValueError(
            f"a tensor of {wanted or given.dtype} on {place} would be a copy of this one of "
            f"{given.dtype} on {given.device}, and `copy=False` forbids that"
        )
    if is_shared and not copy:
        return given
    return allocate_tensor(given.shape, wanted or given.dtype, place, storage).write(given)


def _given(data: Any, wanted: DType | None, copy: bool | None) -> Tensor | None:
    """The memory that data has already; None for numbers of Python's."""
    if isinstance(data, Tensor):
        return data[...]
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("a masked array: make two tensors, of its data and of its mask")
    if isinstance(data, np.ndarray | np.generic):
        array: Array = np.asarray(cast(Any, data))
        if wanted is None or not _is_convertible(array):
            dtype_of(array)
        return share_array(array)
    if hasattr(data, "__dlpack__"):
        return import_dlpack(data, copy=copy)
    return None


def from_dlpack(source: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor of an object with `__dlpack__`, or of a capsule: its memory is used where it is.

    `copy=True` makes a copy, `copy=False` refuses one, and so does `BufferError` for anything that
    cannot be done.

    >>> eas.from_dlpack(np.arange(3, dtype=np.int16))
    Tensor([0, 1, 2], shape=(3,), dtype=i16, device=cpu)
    """
    given = import_dlpack(source, copy=copy)
    place = given.device if device is None else to_device(device)
    if place != given.device and copy is False:
        raise BufferError(f"a tensor on {place} would be a copy of this one on {given.device}")
    if place == given.device and not copy:
        return given
    return allocate_tensor(given.shape, given.dtype, place).write(given)


def to_dlpack(
    tensor: Tensor,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A capsule of DLPack for libraries that take one; `tensor.__dlpack__` gives the same.

    >>> eas.from_dlpack(eas.to_dlpack(eas.ones(2))).tolist()
    [1.0, 1.0]
    """
    return tensor.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def _is_convertible(array: Array) -> bool:
    return array.dtype.kind in "biufV"


def _of_numbers(data: Any, wanted: DType | None, device: Device, storage: Mode | None) -> Tensor:
    numbers = to_numbers(data)
    dtype = wanted or natural_dtype(numbers)
    check_fit(numbers, dtype)
    return allocate_tensor(numbers.shape, dtype, device, storage).write(numbers)


def empty(
    shape: Shape, *, dtype: DTypeLike = F32, device: str = "cpu", storage: Mode | None = None
) -> Tensor:
    """A tensor whose elements are undefined.

    On `"metal"` its memory is shared with the CPU; `storage="private"` is for the GPU alone.

    >>> eas.empty((2, 3), dtype="f16").nbytes
    12
    """
    return allocate_tensor(to_shape(shape), to_dtype(dtype), to_device(device), storage)


def full(
    shape: Shape,
    value: Number,
    *,
    dtype: DTypeLike = F32,
    device: str = "cpu",
    storage: Mode | None = None,
) -> Tensor:
    """A tensor whose elements are all one number."""
    check_number(value)
    return empty(shape, dtype=dtype, device=device, storage=storage).write(value)


def zeros(
    shape: Shape, *, dtype: DTypeLike = F32, device: str = "cpu", storage: Mode | None = None
) -> Tensor:
    """A tensor of zeros.

    >>> eas.zeros(3)
    Tensor([0., 0., 0.], shape=(3,), dtype=f32, device=cpu)
    """
    return full(shape, 0, dtype=dtype, device=device, storage=storage)


def ones(
    shape: Shape, *, dtype: DTypeLike = F32, device: str = "cpu", storage: Mode | None = None
) -> Tensor:
    """A tensor of ones."""
    return full(shape, 1, dtype=dtype, device=device, storage=storage)


def arange(
    start: Number,
    stop: Number | None = None,
    step: Number = 1,
    *,
    dtype: DTypeLike = None,
    device: str = "cpu",
) -> Tensor:
    """The numbers from `start` to below `stop`, as `np.arange` gives them.

    >>> eas.arange(2, 8, 2)
    Tensor([2, 4, 6], shape=(3,), dtype=i32, device=cpu)
    """
    if step == 0:
        raise ValueError("the step of `arange` is not 0")
    numbers: Array = np.arange(start, step=step) if stop is None else np.arange(start, stop, step)
    wanted = natural_dtype(numbers) if dtype is None else to_dtype(dtype)
    check_fit(numbers, wanted)
    return allocate_tensor(numbers.shape, wanted, to_device(device)).write(numbers)


def empty_like(other: Any, *, dtype: DTypeLike = None, device: str | None = None) -> Tensor:
    """A contiguous tensor of the shape, the dtype and the device of another; undefined elements."""
    like = tensor(other)
    wanted = like.dtype if dtype is None else to_dtype(dtype)
    place = like.device if device is None else to_device(device)
    mode = like._storage.mode if place == like.device else None  # pyright: ignore[reportPrivateUsage]
    return allocate_tensor(like.shape, wanted, place, mode)


def zeros_like(other: Any, *, dtype: DTypeLike = None, device: str | None = None) -> Tensor:
    """A contiguous tensor of zeros, of the shape, the dtype and the device of another."""
    return empty_like(other, dtype=dtype, device=device).write(0)


def to_shape(shape: Shape) -> tuple[int, ...]:
    """The extents of a new tensor; refuses negative ones."""
    try:
        parts: Sequence[Any] = [shape] if hasattr(shape, "__index__") else [*cast(Any, shape)]
        extents = tuple(operator.index(part) for part in parts)
    except TypeError:
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}") from None
    if min(extents, default=0) < 0:
        raise ValueError(f"a shape has no negative extents, but this one is {extents}")
    return extents

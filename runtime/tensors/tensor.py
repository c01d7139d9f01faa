"""`eas.Tensor`: a typed view of memory on a device."""

from __future__ import annotations

import math
import operator
import pickle
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import EllipsisType
from typing import Any, cast

import numpy as np

from eas.ir.types import BF16, F64, DType, from_numpy
from eas.runtime.streams.active import ACTIVE
from eas.runtime.streams.recording import note_host_write
from eas.runtime.tensors.devices import Device, is_device, to_device
from eas.runtime.tensors.dtypes import DTypeLike, dtype_of, to_dtype
from eas.runtime.tensors.memory import allocate
from eas.runtime.tensors.python_numbers import check_fit, to_numbers
from eas.runtime.tensors.storage import Array, Storage, bounds, storage_of

Number = bool | int | float
Index = int | slice | EllipsisType | None

MOST_SHOWN = 20  # elements in a `repr`


class Tensor:
    """An array in the memory of a device, `"cpu"` or `"metal"`: an argument of launches.

    `eas.tensor`, `eas.zeros`, `eas.from_dlpack` and their like make one. Indexing gives views, as
    in NumPy; `.strides` counts elements, as in kernels.

    >>> t = eas.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> t[:, ::2]
    Tensor([[1., 3.], [4., 6.]], shape=(2, 2), dtype=f32, device=cpu)
    >>> t.T.shape, t.T.strides
    ((3, 2), (1, 3))
    """

    # `_array` describes the elements: address, shape, strides, dtype. `_cpu` is the same array if
    # the device is the CPU, else None: the launch fast path reads it (`runtime/cpu/call.ll`).
    __slots__ = ("__weakref__", "_array", "_cpu", "_storage")
    __eas_slot__ = "_cpu"

    def __init__(self, array: Array, storage: Storage) -> None:
        """A view of a storage; the array says where the elements are."""
        if not isinstance(storage, Storage):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("tensors are made with `eas.tensor`, `eas.empty`, `eas.zeros`, ...")
        self._array = array
        self._cpu = array if storage.device == "cpu" else None
        self._storage = storage

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis."""
        return self._array.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """How many elements lie between neighbors along each axis."""
        size = self._array.itemsize
        return tuple(stride // size for stride in self._array.strides)

    @property
    def dtype(self) -> DType:
        """The number format of the elements: `mk.f32`, ..."""
        return cast(DType, from_numpy(self._array.dtype))

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self._array.size

    @property
    def nbytes(self) -> int:
        """How many bytes the elements take, without gaps between them."""
        return self._array.nbytes

    @property
    def device(self) -> Device:
        """`"cpu"` or `"metal"`."""
        return self._storage.device

    @property
    def T(self) -> Tensor:
        """A view with the axes in reverse order."""
        return self._view(self._array.T)

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Tensor:
        """A view: `t[3]`, `t[2:5, ::2]`, `t[..., None]`. Ints count from the end if negative."""
        return self._view(self._array[_basic_index(index)])

    def __setitem__(self, index: Index | tuple[Index, ...], value: Any) -> None:
        """Copies a number, a tensor or an array into a view: `t[0] = 1`."""
        self[index].copy_(value)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeError("iteration over a tensor without axes")
        return (self[n] for n in range(len(self)))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of a tensor with {self.size} elements is ambiguous: "
                "compare its elements in a kernel, or use `.numpy()`"
            )
        return bool(self.item())

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """The elements in another shape: a view where strides allow, else a copy.

        One extent may be -1: it follows from the others.

        >>> eas.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        wanted = _resolve_shape(_to_shape(shape), self.size)
        view = _reshaped(self._array, wanted)
        return self._copy().reshape(wanted) if view is None else self._view(view)

    def contiguous(self) -> Tensor:
        """The tensor itself if its elements lie in order without gaps, else a copy that does."""
        return self if self._array.flags.c_contiguous else self._copy()

    def copy_(self, other: Any) -> Tensor:
        """Copies a tensor, an array or numbers into this one, converted to its dtype.

        As in NumPy, a smaller shape is broadcast, and elements of arrays are converted as `astype`
        does. Python's numbers have to fit. The result is the tensor itself.

        >>> t = eas.empty((2, 2)).copy_([1, 2])
        >>> t.tolist()
        [[1.0, 2.0], [1.0, 2.0]]
        """
        self.write(other)
        if ACTIVE:
            note_host_write(bounds(self._array))
        return self

    def write(self, other: Any) -> Tensor:
        """As `copy_`, for memory that is new: no recorded launch can have used it."""
        source = _host_array(other, self.dtype)
        self._update(lambda array: np.copyto(array, source, casting="unsafe"))
        return self

    def fill_(self, value: Number) -> Tensor:
        """Sets every element to a number. The result is the tensor itself."""
        check_number(value)
        return self.copy_(value.item() if isinstance(value, np.generic) else value)

    def to(self, target: DTypeLike, /) -> Tensor:
        """The tensor on another device or in another dtype; itself if it is there already.

        >>> eas.tensor([1.5, 2.5]).to("i32").tolist()
        [1, 2]
        """
        if is_device(target):
            return self._to_device(to_device(target))
        try:
            dtype = to_dtype(target)
        except TypeError:
            raise TypeError(f"{target!r} is neither a device nor a dtype") from None
        if dtype == self.dtype:
            return self
        return self._copy(dtype)

    def _to_device(self, device: Device) -> Tensor:
        if device == self.device:
            return self
        return allocate_tensor(self.shape, self.dtype, device).write(self)

    def numpy(self) -> Array:
        """The elements as a NumPy array: a view of the same memory.

        It waits for launches that write to the tensor. bf16 has the dtype of `ml_dtypes`. Private
        memory of a GPU is copied.
        """
        return self._host().view()

    def to_torch(self, device: str | None = None) -> Any:
        """A tensor of torch: with the same memory, if it is on the same device.

        `device` is `"cpu"` or `"mps"`. A read-only tensor is copied: those of torch can be written.
        """
        torch: Any = import_module("torch")
        there = self if device is None else self.to(device)
        return torch.from_dlpack(there if there._array.flags.writeable else there._copy())

    def item(self) -> Number:
        """The only element, as a number of Python's."""
        if self.size != 1:
            raise ValueError(f"`item` takes a tensor of one element, this one has {self.size}")
        return self._host().reshape(()).item()

    def tolist(self) -> Any:
        """The elements as numbers of Python's, in lists."""
        return self._host().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """What `np.asarray` calls: a view of the same memory, unless a copy is asked for."""
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(
                    f"an array of {dtype} would be a copy of this tensor of {self.dtype}"
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule of DLPack: another library uses the same memory, after a wait.

        What is impossible raises `BufferError`. Negative strides are copied, because DLPack has
        none; `copy=False` refuses that.
        """
        from eas.runtime.tensors.dlpack_export import export

        return export(cast(Any, self), stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's number of the device: (1, 0) is the CPU, (8, 0) is Metal."""
        return (1, 0) if self.device == "cpu" else (8, 0)

    def __eas_array__(self) -> Array:
        """The elements as the arguments of a launch are bound. No element is read."""
        return self._array

    def __reduce_ex__(self, protocol: Any) -> Any:
        """The elements and where they were: pickle makes a contiguous tensor of its own of them."""
        data = np.ascontiguousarray(self._host()).reshape(-1).view(np.uint8)
        content = pickle.PickleBuffer(cast(Any, data)) if protocol >= 5 else data.tobytes()
        facts = (self.shape, self.dtype.name, self.device, self._storage.mode)
        return _restore, (*facts, content)

    def __copy__(self) -> Tensor:
        """As in NumPy, `copy.copy` copies the elements."""
        return self._copy()

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self._copy()

    def __repr__(self) -> str:
        facts = f"shape={self.shape}, dtype={self.dtype}, device={self.device}"
        if self.size == 0:
            return f"Tensor([], {facts})"
        array = self._host()
        shown = array.astype(np.float32) if self.dtype == BF16 else array
        text = np.array2string(shown, threshold=MOST_SHOWN, edgeitems=2, separator=", ")
        return f"Tensor({' '.join(text.split()).replace('[ ', '[')}, {facts})"

    def _host(self) -> Array:
        """The elements for the host to read, after a wait."""
        return self._storage.to_host(self._array)

    def _view(self, array: Array) -> Tensor:
        return Tensor(array, self._storage)

    def _copy(self, dtype: DType | None = None) -> Tensor:
        """The elements in new memory of the same kind."""
        made = allocate_tensor(self.shape, dtype or self.dtype, self.device, self._storage.mode)
        return made.write(self)

    def _update(self, change: Callable[[Array], None]) -> None:
        if not self._array.flags.writeable:
            raise ValueError("the tensor is read-only")
        self._storage.update(self._array, change)


def allocate_tensor(
    shape: tuple[int, ...], dtype: DType, device: Device, storage: Any = None
) -> Tensor:
    """A contiguous tensor in new memory; its elements are undefined."""
    if device == "metal" and dtype == F64:
        raise TypeError("Metal has no f64: take f32, or a tensor on the CPU")
    size = math.prod(shape) * dtype.numpy.itemsize
    memory = allocate(size, device, storage)
    return Tensor(memory.array(shape, dtype.numpy), memory)


def _restore(shape: tuple[int, ...], dtype: str, device: Device, mode: Any, data: Any) -> Tensor:
    """A tensor that was pickled."""
    made = allocate_tensor(shape, to_dtype(dtype), device, mode)
    return made.write(np.frombuffer(data, to_dtype(dtype).numpy).reshape(shape))


def share_array(array: Array) -> Tensor:
    """A tensor in the memory of a NumPy array."""
    return Tensor(array.view(), storage_of(array))


def _host_array(value: Any, dtype: DType) -> Array:
    """What is copied into a tensor of a dtype, as the host reads it."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, np.ndarray | np.generic):
        array: Array = np.asarray(cast(Any, value))
        dtype_of(array.astype(array.dtype.newbyteorder("="), copy=False))
        return array
    if hasattr(value, "__dlpack__"):
        from eas.runtime.tensors.dlpack_import import import_dlpack  # it makes tensors

        return import_dlpack(value).numpy()
    numbers = to_numbers(value)
    check_fit(numbers, dtype)
    return numbers


def check_number(value: object) -> None:
    """Refuses to fill a tensor with anything else."""
    if not isinstance(value, Number | np.number | np.bool):
        raise TypeError(f"a tensor is filled with a number, not with {value!r}")


def _basic_index(index: object) -> tuple[Index, ...]:
    """The index for a view, also of a single element; refuses what would make a copy."""
    parts = cast("tuple[object, ...]", index) if isinstance(index, tuple) else (index,)
    found = [_basic_part(part) for part in parts]
    # with an ellipsis NumPy gives an array, where it would read the only element
    return (*found, *([] if Ellipsis in found else [Ellipsis]))


def _basic_part(part: object) -> Index:
    if part is None or part is Ellipsis or isinstance(part, slice):
        return cast(Index, part)
    kind = type(part)
    if kind in (bool, np.bool) or not hasattr(kind, "__index__") or kind is np.ndarray:
        raise IndexError(
            "a tensor is indexed with ints, slices (`:`), `...` and `None`, which give views, "
            f"not with a `{kind.__name__}`"
        )
    return operator.index(cast(Any, part))


def _to_shape(shape: Sequence[Any]) -> tuple[int, ...]:
    """The extents that are given one by one, or as a sequence."""
    if len(shape) == 1 and not hasattr(shape[0], "__index__"):
        shape = tuple(shape[0])
    return tuple(operator.index(extent) for extent in shape)


def _resolve_shape(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """The shape of so many elements, with the extent that -1 stands for."""
    known = math.prod(extent for extent in shape if extent != -1)
    unknown = shape.count(-1)
    is_possible = min(shape, default=0) >= -1 and unknown <= 1
    if is_possible and unknown and known and size % known == 0:
        return tuple(size // known if extent == -1 else extent for extent in shape)
    if not is_possible or unknown or known != size:
        raise ValueError(f"cannot reshape a tensor of size {size} into shape {shape}")
    return shape


def _reshaped(array: Array, shape: tuple[int, ...]) -> Array | None:
    """A view of another shape; None if there is none, because of the strides."""
    try:
        return np.reshape(array, shape, copy=False)
    except ValueError:
        return None

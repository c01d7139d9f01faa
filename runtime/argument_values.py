"""From the Python values of a call to NumPy arrays and NumPy scalars of our dtypes."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np

from eas.ir.types import BOOL, DTYPES, F32, I32, I64, U64, DType, from_numpy
from eas.runtime import torch_arguments
from eas.runtime.refusals import BadArgument
from eas.support.faults import Extent
from eas.support.records import frozen

Array = np.ndarray[Any, np.dtype[Any]]
Bound = Array | np.generic

Number = bool | int | float

_KNOWN = f"its dtypes are {', '.join(DTYPES)}"


_CPU = 1  # DLDeviceType.kDLCPU of the DLPack specification


@frozen
class ArrayArgument:
    """An array: the element at offset `o` is `flat[origin + o]`.

    `flat` is a one-dimensional view of the array's storage; `shape` is for messages.
    """

    flat: Array
    origin: int = 0
    shape: tuple[int, ...] | None = None

    def extent(self, name: str) -> Extent:
        """The offsets that are inside of it, and its name and shape for messages."""
        size = self.flat.size
        shape = (size,) if self.shape is None else self.shape
        return Extent(name, shape, -self.origin, size - self.origin)


def to_bound(value: Any, declared: DType | None) -> tuple[Bound, DType]:
    """An array as a view, a number as a NumPy scalar, and the dtype of either.

    `declared` is the dtype of the parameter's annotation; it allows numbers only.
    """
    if declared is not None:
        return _to_declared(value, declared), declared
    if is_array(value) and type(value) is np.ndarray:
        return value, _dtype_of(value)
    if is_numpy_scalar(value):
        return value, _dtype_of_scalar(value)
    if isinstance(value, Number):
        dtype = _natural_dtype(value)
        return _convert(value, dtype), dtype
    array = _to_array(value)
    return array, _dtype_of(array)


def is_numpy_scalar(value: object) -> TypeGuard[np.generic]:
    return isinstance(value, np.generic)


def _dtype_of_scalar(value: np.generic) -> DType:
    dtype = from_numpy(value.dtype)
    if dtype is None:
        raise BadArgument(f"{describe(value)} has no counterpart in a kernel; {_KNOWN}")
    return dtype


def _natural_dtype(value: Number) -> DType:
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, float):
        return F32
    for dtype in (I32, I64, U64):
        if dtype.min <= value <= dtype.max:
            return dtype
    raise BadArgument(f"{value} fits into no integer of 64 bits")


def _to_declared(value: Any, declared: DType) -> np.generic:
    number: object = value.item() if is_numpy_scalar(value) else value
    if not isinstance(number, Number) or not _is_accepted(number, declared):
        raise BadArgument(f"expected {_wanted(declared)}, not {describe(value)}")
    return _convert(number, declared)


def _is_accepted(number: Number, declared: DType) -> bool:
    if declared.is_bool:
        return isinstance(number, bool)
    return declared.is_float or not isinstance(number, float)


def _wanted(declared: DType) -> str:
    if declared.is_bool:
        return "a bool"
    return f"a float ({declared})" if declared.is_float else f"an int ({declared})"


def _convert(number: Number, dtype: DType) -> np.generic:
    """The number in that dtype; refused where it does not fit. Floats are rounded."""
    if dtype.is_int and not dtype.min <= number <= dtype.max:
        raise BadArgument(f"{number} does not fit into {dtype} ({dtype.min} to {dtype.max})")
    if not dtype.is_float:
        return dtype.numpy.type(number)
    with np.errstate(over="ignore"):
        rounded = dtype.numpy.type(_to_float(number, dtype))
    if math.isinf(float(rounded)) and not math.isinf(number):
        raise BadArgument(f"{number} is too large for {dtype}")
    return rounded


def _to_float(number: Number, dtype: DType) -> float:
    try:
        return float(number)
    except OverflowError:
        raise BadArgument(f"{number} is too large for {dtype}") from None


def is_array(value: object) -> TypeGuard[Array]:
    return isinstance(value, np.ndarray)


def is_eas_tensor(value: object) -> bool:
    """Whether a value is an `eas.Tensor`. The module of that class is not imported for it."""
    return hasattr(type(value), "__eas_array__")


def array_in(value: Any) -> Array | None:
    """The array that a NumPy array or a tensor is; None for anything else."""
    if is_eas_tensor(value):
        return value.__eas_array__()
    return value if is_array(value) else None


def is_wide(array: Array) -> bool:
    """Whether its extents, its strides or the offsets of its elements do not all fit into i32."""
    if 0 < array.nbytes <= I32.max and array.flags.c_contiguous:
        return False
    strides = [stride // array.itemsize for stride in array.strides]
    reaches = [(extent - 1) * stride for extent, stride in zip(array.shape, strides, strict=True)]
    low, high = sum(r for r in reaches if r < 0), sum(r for r in reaches if r > 0)
    numbers = (*array.shape, *strides, low, high)
    return min(numbers) < I32.min or max(numbers) > I32.max


def _dtype_of(array: Array) -> DType:
    dtype = from_numpy(array.dtype)
    if dtype is not None:
        return dtype
    if not array.dtype.isnative:
        raise BadArgument(
            f"its elements are {array.dtype.str}, not in this machine's byte order: "
            "convert them with `a.astype(a.dtype.newbyteorder('='))`"
        )
    raise BadArgument(f"an array of {array.dtype} has no counterpart in a kernel; {_KNOWN}")


def _to_array(value: Any) -> Array:
    """The same memory as a NumPy array."""
    if isinstance(value, np.ma.MaskedArray):
        raise BadArgument("a masked array: pass its data and its mask as two arguments")
    if is_eas_tensor(value):
        return value.__eas_array__()
    if torch_arguments.is_tensor(value):
        return torch_arguments.to_array(value)
    if is_array(value) or hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value)
    raise BadArgument(_unknown(value))


def _unknown(value: object) -> str:
    message = (
        "expected a number or an array (`eas.Tensor`, NumPy, or an object with `__dlpack__`), "
        f"not {describe(value)}"
    )
    if isinstance(value, list | tuple):
        return f"{message}; make an array of it with `np.array`"
    if isinstance(value, str) and value.lstrip("*").split("[")[0] in DTYPES:
        return f"{message}; a type is enough for `compile` and `to_msl`, but not for a launch"
    return f"{message}; a value for the compiler needs the annotation `eas.constexpr`"


def _from_dlpack(value: Any) -> Array:
    try:
        device = int(value.__dlpack_device__()[0])
        array = np.from_dlpack(value) if device == _CPU else None
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise BadArgument(f"{describe(value)} cannot be read through DLPack: {error}") from error
    if array is None:
        raise BadArgument(
            f"{describe(value)} is not in the memory of the CPU "
            f"(its DLPack device is {device}): copy it there first"
        )
    return array if array.flags.writeable else _writeable_twin(value, array)


def _writeable_twin(value: Any, array: Array) -> Array:
    """The same memory through `__array__`, if that is writable.

    Before version 1.0, DLPack had no flag for read-only tensors, so NumPy treats all of them as
    read-only. The tensor's own `__array__` gives the right flag.
    """
    if not hasattr(value, "__array__"):
        return array
    twin = np.asarray(value)
    is_same_memory = twin.ctypes.data == array.ctypes.data and twin.strides == array.strides
    return twin if is_same_memory and twin.dtype == array.dtype else array


def describe(value: Any) -> str:
    """A value for an error message: short, and by type where the value says little."""
    if value is None or isinstance(value, Number):
        return f"`{value!r}`"
    if is_numpy_scalar(value):
        return f"a NumPy `{value.dtype}`"
    if is_array(value):
        return f"an array of {value.dtype}"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} `{name}`"

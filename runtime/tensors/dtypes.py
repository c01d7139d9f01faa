"""The dtypes of tensors by all the names that users know them by."""

from __future__ import annotations

from typing import Any

import numpy as np

from eas.ir.types import BOOL, DTYPES, F32, I32, I64, U64, DType, from_numpy

_KNOWN = ", ".join(DTYPES)
_LONG_NAMES: dict[str, DType] = {dtype.numpy.name: dtype for dtype in DTYPES.values()}

# What the functions here take for a dtype.
DTypeLike = Any


def to_dtype(name: DTypeLike) -> DType:
    """The dtype of `mk.f32`, `"f32"`, `"float32"`, of a dtype of NumPy's or of torch's.

    >>> to_dtype("float32"), to_dtype(np.int8), to_dtype("bf16")
    (mk.f32, mk.i8, mk.bf16)
    """
    if isinstance(name, DType):
        return name
    found = _named(name) if isinstance(name, str) else _foreign(name)
    if found is None:
        raise TypeError(f"{name!r} names no dtype of a tensor; there are {_KNOWN}")
    return found


def is_dtype(name: object) -> bool:
    """Whether `to_dtype` takes it."""
    try:
        to_dtype(name)
    except TypeError:
        return False
    return True


def _named(name: str) -> DType | None:
    return DTYPES.get(name) or _LONG_NAMES.get(name)


def _foreign(given: Any) -> DType | None:
    if type(given).__module__ == "torch":  # a `torch.dtype`; its text is `torch.float32`
        return _LONG_NAMES.get(str(given).removeprefix("torch."))
    if given is None:  # NumPy takes it for f64
        return None
    try:
        return from_numpy(np.dtype(given))
    except TypeError:
        return None


def dtype_of(array: np.ndarray[Any, np.dtype[Any]]) -> DType:
    """The dtype of an array's elements; refuses those that tensors do not have."""
    found = from_numpy(array.dtype)
    if found is not None:
        return found
    if from_numpy(array.dtype.newbyteorder("=")) is not None:
        raise TypeError(
            f"its elements are {array.dtype.str}, not in this machine's byte order: "
            "convert them with `a.astype(a.dtype.newbyteorder('='))`"
        )
    raise TypeError(f"an array of {array.dtype} cannot be a tensor; its dtypes are {_KNOWN}")


def natural_dtype(array: np.ndarray[Any, np.dtype[Any]]) -> DType:
    """The dtype of an array that was made of Python numbers: the one that they have in kernels."""
    kind = array.dtype.kind
    if kind == "b":
        return BOOL
    if kind == "f" or (kind == "O" and array.size == 0):
        return F32
    if kind in "iu":
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        for dtype in (I32, I64, U64):
            if dtype.min <= low and high <= dtype.max:
                return dtype
    raise TypeError(f"numbers of NumPy's dtype {array.dtype} cannot be a tensor")

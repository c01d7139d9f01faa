"""Numbers of Python's as arrays: they are refused where a dtype cannot hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from eas.ir.types import DType
from eas.runtime.tensors.storage import Array


def to_numbers(data: Any) -> Array:
    """An array of a number, or of lists of numbers."""
    try:
        array: Array = np.asarray(data)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"these lists make no tensor: {error}") from None
    if array.dtype.kind in "biuf" or not array.size:
        return array
    too_large = [each for each in array.flat if type(each) is int] if array.dtype == object else []
    if len(too_large) == array.size:
        raise OverflowError(f"{max(too_large, key=abs)} fits into no integer of 64 bits")
    raise TypeError(
        "a tensor is made of numbers, lists of them, NumPy arrays or objects with "
        f"`__dlpack__`, not of a `{type(data).__name__}`"
    )


def check_fit(numbers: Array, dtype: DType) -> None:
    """Raises an error that names a number which a dtype cannot hold. Floats may be rounded."""
    if dtype.is_int:
        _check_integers(numbers, dtype)
    elif dtype.is_float:
        with np.errstate(over="ignore"):
            is_lost = np.isinf(numbers.astype(dtype.numpy)) & np.isfinite(numbers)
        if is_lost.any():
            raise OverflowError(f"{numbers[is_lost][0]} is too large for {dtype}")


def _check_integers(numbers: Array, dtype: DType) -> None:
    is_finite = np.isfinite(numbers)
    if not is_finite.all():
        raise ValueError(f"{numbers[~is_finite][0]} is no integer, and {dtype} holds nothing else")
    for extreme in (numbers.min(), numbers.max()) if numbers.size else ():
        if not dtype.min <= int(extreme) <= dtype.max:
            raise OverflowError(f"{extreme} does not fit into {dtype} ({dtype.min} to {dtype.max})")

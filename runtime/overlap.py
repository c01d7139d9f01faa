"""Whether arrays of a launch share memory."""

from __future__ import annotations

from typing import Literal

import numpy as np

from eas.runtime.argument_values import Array


def relation(a: Array, b: Array) -> Literal["apart", "same", "overlapping"]:
    """Whether two arrays are the same elements in the same order, or share some of them."""
    if a is b:
        return "same"
    if not np.may_share_memory(a, b):  # compares the ends only: it runs in every launch
        return "apart"
    if _layout(a) == _layout(b):
        return "same"
    return "overlapping" if np.shares_memory(a, b) else "apart"


def _layout(array: Array) -> tuple[object, ...]:
    return array.ctypes.data, array.dtype, array.shape, array.strides

"""What an operator is compared with: random arguments, and what its tasks make of them in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eas.ir.types import BF16, F16, F32, DType
from eas.septran.logic.eager import run_task
from eas.septran.logic.tasks import Task
from eas.tuning.equality import TOLERANCES

Array = np.ndarray[Any, Any]

# Of 16 bits only what is stored is rounded in the reference, and all that is computed elsewhere.
_ROUNDED_OFTEN = {"f16": 2e-2, "bf16": 1e-1}


def tolerance_of(dtype: DType) -> float:
    """The error that rounding explains, relative to a little more than the largest number."""
    if not dtype.is_float:
        return 0.0
    _, of_largest = TOLERANCES[dtype.numpy.name]
    return _ROUNDED_OFTEN.get(dtype.name, of_largest)


def random_arrays(shapes: Sequence[tuple[int, ...]], dtype: DType) -> list[Array]:
    """The same random numbers each time: small integers, or normal ones."""
    random: Any = np.random.default_rng(0)
    arrays: list[Array] = []
    for shape in shapes:
        array: Array = random.standard_normal(shape)
        if not dtype.is_float:
            array = random.integers(0, 2 if dtype.bits < 8 else 8, shape)
        arrays.append(array.astype(dtype.numpy))
    return arrays


def reference_of(
    entry: Task, given: Sequence[Array], dtype: DType, tunables: Mapping[str, int]
) -> list[Array]:
    """What the tasks make of arrays in NumPy; those of 16 bits are computed in f32.

    NaN and infinities are results as others: NumPy does not warn of them. A number that arrays of
    the dtype have no room for is infinite, as it is there.
    """
    wide = F32.numpy if dtype in (F16, BF16) else dtype.numpy
    arrays = [array.astype(wide) for array in given]
    with np.errstate(all="ignore"):
        run_task(entry, arrays, tunables)
        rounded = [array.astype(dtype.numpy) for array in arrays]
    pairs = zip(arrays, rounded, strict=True)
    return [np.where(np.isinf(narrow), narrow, array) for array, narrow in pairs]

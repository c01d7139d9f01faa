"""Floats that no integer of a dtype is near: some value on backends that do not check, a report."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from eas.ir.types import DTYPES, DType
from tests.backends import BACKENDS, TEXT_BACKENDS
from tests.thorough import sampled

FLOATS = [dtype for dtype in DTYPES.values() if dtype.is_float]
INTEGERS = [dtype for dtype in DTYPES.values() if dtype.is_int]


@eas.kernel
def convert(x, out, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    mk.store(out, i, mk.load(x, i).to(out.dtype))


@sampled(5)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_a_float_that_does_not_fit_harms_no_other_lane(
    source: DType, target: DType, backend: Backend
) -> None:
    if source.name == "f64" and backend in TEXT_BACKENDS:
        return
    with np.errstate(all="ignore"):
        wild = np.array([math.nan, math.inf, -math.inf, 2.0**70, -(2.0**70)]).astype(source.numpy)
    x = np.concatenate([wild, np.arange(1, 29).astype(source.numpy)])
    out = np.zeros(x.size, target.numpy)
    if backend == "interpret":
        with pytest.raises(eas.KernelError, match="does not fit is converted to an int"):
            convert[(1,)](x, out, SIZE=x.size, _backend=backend)
        return
    convert[(1,)](x, out, SIZE=x.size, _backend=backend)
    np.testing.assert_array_equal(out[wild.size :], np.arange(1, 29))

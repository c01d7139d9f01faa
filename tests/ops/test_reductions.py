"""Every reduction on every dtype, along every axis of every shape, on each backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.ops import OPS
from eas.ir.types import DTYPES, DType
from tests.ops.comparing import assert_close
from tests.ops.shapes import SHAPES, Shape, offsets

Array = np.ndarray[Any, np.dtype[Any]]
BACKENDS = ("interpret", "cpu", "msl-host")

# What NumPy gives; sums and products of ints of less than 32 bits have 32.
REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "reduce_sum": (mk.sum, np.sum),
    "reduce_prod": (mk.prod, np.prod),
    "reduce_max": (mk.max, np.max),
    "reduce_min": (mk.min, np.min),
    "reduce_argmax": (mk.argmax, np.argmax),
    "reduce_argmin": (mk.argmin, np.argmin),
    "reduce_xor": (mk.xor_sum, np.bitwise_xor.reduce),
    "reduce_any": (lambda v, axis: mk.any(v > 1, axis), lambda v, axis: (v > 1).any(axis)),
    "reduce_all": (lambda v, axis: mk.all(v > 0, axis), lambda v, axis: (v > 0).all(axis)),
}
CASES = [(s, axis) for s in SHAPES if s for axis in (None, *range(len(s)))]


def test_every_reduction_is_in_the_table() -> None:
    assert REDUCTIONS.keys() == {name for name in OPS if name.startswith("reduce_")}


@eas.kernel
def reduce_each(x, out, FUNCTIONS: eas.constexpr, AXIS: eas.constexpr, SHAPE: eas.constexpr):
    """Row `k` of `out` is what the function number `k` gives."""
    v = mk.load(x, offsets(SHAPE))
    rest = () if AXIS is None else SHAPE[:AXIS] + SHAPE[AXIS + 1 :]
    size = 1
    for extent in rest:
        size *= extent
    for k in mk.static_range(len(FUNCTIONS)):
        mk.store(out, k * size + offsets(rest), FUNCTIONS[k](v, AXIS))


def check(dtype: DType, shape: Shape, axis: int | None, backend: str) -> None:
    names = [n for n in REDUCTIONS if n != "reduce_xor" or dtype.is_int]
    x = (np.random.default_rng(0).integers(1, 4, shape)).astype(dtype.numpy)
    x.flat[: x.size // 2] = 1  # so that products stay small
    x.flat[8:] = 1
    rest = () if axis is None else shape[:axis] + shape[axis + 1 :]
    out = np.zeros((len(names), *rest), np.float32)
    functions = tuple(REDUCTIONS[name][0] for name in names)
    reduce_each[(1,)](x, out, FUNCTIONS=functions, AXIS=axis, SHAPE=shape, _backend=backend)
    wide = x.astype(np.float64 if dtype.is_float else np.int64)
    for name, result in zip(names, out, strict=True):
        right = np.asarray(REDUCTIONS[name][1](wide, axis=axis)).astype(np.float32)
        assert_close(np.asarray(result), right, 0, f"{name} of {dtype}")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("shape", "axis"), CASES, ids=str)
def test_reductions_agree_with_numpy_in_every_shape(
    shape: Shape, axis: int | None, backend: str
) -> None:
    check(DTYPES["f32"], shape, axis, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [name for name in DTYPES if name not in ("bool", "f64")])
def test_reductions_agree_with_numpy_on_every_dtype(name: str, backend: str) -> None:
    check(DTYPES[name], (70,), None, backend)

"""Every reduction on every dtype, along every axis of every shape, on each backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.ops import OPS
from eas.ir.ops.reduce import accumulator
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


# --- ties, NaNs, axes that are kept -----------------------------------------------------------

KEPT = [((65,), 0), ((4, 64), 1), ((3, 5, 7), 1), ((2, 3, 4, 5), 2), ((2, 3, 4, 5), None)]
KEPT_CASES = [*KEPT, ((2, 40, 33), 1), ((2, 3, 4, 5), 0), ((1, 1, 1, 1), 2), ((1, 3, 1), 1)]
NUMBERS = [name for name in DTYPES if name != "bool"]


@eas.kernel
def reduce_and_keep(
    x, sums, products, high, low, first_high, first_low, AXIS: eas.constexpr, SHAPE: eas.constexpr
):
    v = mk.load(x, offsets(SHAPE))
    outs = (sums, products, high, low, first_high, first_low)
    functions = (mk.sum, mk.prod, mk.max, mk.min, mk.argmax, mk.argmin)
    for out, function in zip(outs, functions, strict=True):
        result = function(v, AXIS, keep_dims=True)
        mk.store(out, offsets(result.shape), result)


def check_kept(dtype: DType, shape: Shape, axis: int | None, backend: str, nans: bool) -> None:
    x = np.random.default_rng(1).integers(0 if dtype.is_unsigned else -2, 3, shape)
    x = x.astype(dtype.numpy)
    if nans:
        x.flat[[x.size // 3, x.size // 2]] = np.nan
    wide = x.astype(np.float64 if dtype.is_float else np.int64)
    lowest, highest = (np.where(np.isnan(wide), bound, wide) for bound in (np.inf, -np.inf))
    given: dict[str, Any] = {"axis": axis, "keepdims": True}
    right: dict[str, Any] = {
        "sums": np.sum(wide, **given),
        "products": np.prod(wide, **given),
        "high": np.max(highest, **given),
        "low": np.min(lowest, **given),
        "first_high": np.argmax(highest, **given),
        "first_low": np.argmin(lowest, **given),
    }
    total = accumulator(dtype).numpy
    dtypes = [total, total, dtype.numpy, dtype.numpy, np.int32, np.int32]
    out = {
        name: np.zeros(array.shape, dtype)
        for (name, array), dtype in zip(right.items(), dtypes, strict=True)
    }
    reduce_and_keep[(1,)](x, **out, AXIS=axis, SHAPE=shape, _backend=backend)
    for name, found in out.items():
        np.testing.assert_array_equal(found, right[name].astype(found.dtype), name)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("shape", "axis"), KEPT, ids=str)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_reduced_axis_can_be_kept(
    name: str, shape: Shape, axis: int | None, backend: str
) -> None:
    if (name, backend) == ("f64", "msl-host"):
        pytest.skip("Metal has no f64")
    check_kept(DTYPES[name], shape, axis, backend, nans=False)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("shape", "axis"), KEPT_CASES, ids=str)
@pytest.mark.parametrize("name", ["f16", "f32"])
def test_nans_are_never_the_greatest_or_the_least(
    name: str, shape: Shape, axis: int | None, backend: str
) -> None:
    check_kept(DTYPES[name], shape, axis, backend, nans=True)


@eas.kernel
def count_bools(x, total, product, parity, SHAPE: eas.constexpr):
    v = mk.load(x, offsets(SHAPE))
    at = offsets(SHAPE[1:])
    mk.store(total, at, mk.sum(v, 0))
    mk.store(product, at, mk.prod(v, 0))
    mk.store(parity, at, mk.xor_sum(v, 0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_bools_are_counted(backend: str) -> None:
    x = np.random.default_rng(0).integers(0, 2, (3, 50)).astype(np.bool_)
    total, product, parity = np.zeros(50, "i4"), np.zeros(50, "i4"), np.zeros(50, np.bool_)
    count_bools[(1,)](x, total, product, parity, SHAPE=(3, 50), _backend=backend)
    np.testing.assert_array_equal(total, x.sum(0))
    np.testing.assert_array_equal(product, x.prod(0))
    np.testing.assert_array_equal(parity, np.logical_xor.reduce(x, 0))


@pytest.mark.parametrize("name", ["max", "argmin"])
def test_a_refused_reduction_is_named_as_it_was_written(name: str) -> None:
    with pytest.raises(eas.CompileError, match=f"`mk.{name}` takes numbers, not bool"):
        given = {"FUNCTIONS": (getattr(mk, name),), "AXIS": None, "SHAPE": (4,)}
        reduce_each[(1,)](np.ones(4, np.bool_), np.zeros(1, "i4"), **given, _backend="interpret")

"""Scans along each axis, forwards and backwards, and reductions by functions of the user's."""

from __future__ import annotations

from typing import Any

import numpy as np

import eas
from eas import mk
from eas.ir.ops.reduce import accumulator
from eas.ir.types import DTYPES, DType
from tests.ops.shapes import BLOCKS, Shape, offsets
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import Array, values


def linear(a, b, c, d):
    """The composition of two linear functions, which does not commute."""
    return a * c, b * c + d


def last_true(a, b, c, d):
    """The same of bits: where `c` holds, what was before is kept or turned by `d`."""
    return a and c, (b and c) != d


def greater(a, b):
    return b if b > a else a


def either(a, b):
    return a or b


def last_greatest(v, i, w, j):
    if w > v or (w == v and j > i):
        return w, j
    return v, i


def last_truth(v, i, w, j):
    if (w and not v) or (w == v and j > i):
        return w, j
    return v, i


@eas.kernel
def scan_each(
    steps, signs, totals, own,
    COMPOSE: eas.constexpr, GREATER: eas.constexpr, SHAPE: eas.constexpr, SIZE: eas.constexpr,
):  # fmt: skip
    """The rows of an axis follow those of the axis before it; every other scan goes backwards."""
    at = offsets(SHAPE)
    a, b = mk.load(steps, at), mk.load(signs, at)
    for axis in mk.static_range(len(SHAPE)):
        is_odd = axis % 2 == 1
        mk.store(totals, 2 * axis * SIZE + at, mk.cumsum(a, axis, reverse=is_odd))
        product = mk.cumprod(b, axis - len(SHAPE), reverse=not is_odd)
        mk.store(totals, (2 * axis + 1) * SIZE + at, product)
        slopes, constants = mk.associative_scan((b, a), axis, COMPOSE)
        mk.store(own, 3 * axis * SIZE + at, slopes)
        mk.store(own, (3 * axis + 1) * SIZE + at, constants)
        mk.store(own, (3 * axis + 2) * SIZE + at, mk.associative_scan(a, axis, GREATER, True))


TOTALS = ("cumsum", "cumprod")
OWN = ("slopes of a scan of pairs", "constants of a scan of pairs", "greatest in reverse")


def launch_scans(dtype: DType, shape: Shape) -> Launch:
    steps, signs = drawn(np.random.default_rng(int(np.prod(shape))), dtype, shape)
    totals = np.zeros((len(shape), 2, *shape), accumulator(dtype).numpy)
    own = np.zeros((len(shape), 3, *shape), dtype.numpy)
    checks: list[Check] = []
    for axis in range(len(shape)):
        for found, names, right in (
            (totals, TOTALS, right_totals(steps, signs, axis, dtype)),
            (own, OWN, right_scans(steps, signs, axis)),
        ):
            for k, name in enumerate(names):
                exact = np.asarray(right[k]).astype(found.dtype)
                checks.append(Check(f"{name} along {axis}", found[axis, k], exact))
    functions = (last_true, either) if dtype.is_bool else (linear, greater)
    constants = {"COMPOSE": functions[0], "GREATER": functions[1]}
    arrays = {"steps": steps, "signs": signs, "totals": totals, "own": own}
    size = int(np.prod(shape))
    return Launch(scan_each, {**arrays, **constants, "SHAPE": shape, "SIZE": size}, checks)


@eas.kernel
def reduce_pairs(numbers, best, places, FUNCTION: eas.constexpr, SHAPE: eas.constexpr):
    """The greatest number and its last place, in the rows of each axis, then of them all."""
    at = offsets(SHAPE)
    v = mk.load(numbers, at)
    size = 1
    for extent in SHAPE:
        size *= extent
    for row in mk.static_range(len(SHAPE) + 1):
        axis = row if row < len(SHAPE) else None
        high, place = mk.reduce((v, at), axis, FUNCTION, keep_dims=row % 2 == 0)
        to = row * size + offsets(high.shape)
        mk.store(best, to, high)
        mk.store(places, to, place)


def launch_reductions(dtype: DType, shape: Shape) -> Launch:
    size = int(np.prod(shape))
    numbers = values(np.random.default_rng(size), dtype, size).reshape(shape)
    if dtype.is_float:
        numbers = np.where(np.isnan(numbers), dtype.numpy.type(0), numbers)
    best = np.zeros((len(shape) + 1, size), dtype.numpy)
    places = np.zeros((len(shape) + 1, size), np.int32)
    checks: list[Check] = []
    for row, axis in enumerate((*range(len(shape)), None)):
        high, place = (a.ravel() for a in last_of_the_greatest(numbers, axis))
        name = f"reduce by a function along {axis}"
        checks.append(Check(name, best[row, : high.size], high))
        checks.append(Check(f"{name}, its index", places[row, : place.size], place))
    function = last_truth if dtype.is_bool else last_greatest
    given = {"numbers": numbers, "best": best, "places": places}
    return Launch(reduce_pairs, {**given, "FUNCTION": function, "SHAPE": shape}, checks)


def drawn(random: np.random.Generator, dtype: DType, shape: Shape) -> tuple[Array, Array]:
    """Steps and signs: floats whose sums and products are exact, in whatever order."""
    if not dtype.is_float:
        size = int(np.prod(shape))
        steps, signs = values(random, dtype, size), values(random, dtype, size)
        return steps.reshape(shape), (signs | signs.dtype.type(1)).reshape(shape)
    steps, signs = random.integers(-1, 2, shape), random.choice([-1, 1], shape)
    return steps.astype(dtype.numpy), signs.astype(dtype.numpy)


def right_totals(steps: Array, signs: Array, axis: int, dtype: DType) -> list[Any]:
    wide = accumulator(dtype).numpy
    given: dict[str, Any] = {"axis": axis, "dtype": wide if dtype.is_int else None}
    if axis % 2 == 0:
        return [np.cumsum(steps, **given), np.flip(np.cumprod(np.flip(signs, axis), **given), axis)]
    return [np.flip(np.cumsum(np.flip(steps, axis), **given), axis), np.cumprod(signs, **given)]


def right_scans(steps: Array, signs: Array, axis: int) -> list[Any]:
    a, b = np.moveaxis(signs, axis, -1), np.moveaxis(steps, axis, -1)
    slopes, constants = composed(a, b)
    back = np.flip(np.maximum.accumulate(np.flip(steps, axis), axis), axis)
    return [np.moveaxis(slopes, -1, axis), np.moveaxis(constants, -1, axis), back]


def composed(a: Array, b: Array) -> tuple[Array, Array]:
    """What `linear` makes of the pairs along the last axis, one after the other."""
    slopes, constants = a.copy(), b.copy()
    add = np.logical_xor if a.dtype == np.bool_ else np.add
    for k in range(1, a.shape[-1]):
        slopes[..., k] = slopes[..., k - 1] * a[..., k]
        constants[..., k] = add(constants[..., k - 1] * a[..., k], b[..., k])
    return slopes, constants


def last_of_the_greatest(a: Array, axis: int | None) -> tuple[Array, Array]:
    """The greatest numbers, and their last places in row-major order."""
    order = np.arange(a.size, dtype=np.int32).reshape(a.shape)
    high = np.max(a, axis, keepdims=True)
    place = np.max(np.where(a == high, order, -1), axis, keepdims=True)
    return a.ravel()[place], place.astype(np.int32)


ALL = tuple(DTYPES.values())
COMBINED = (
    Family("scan", ALL, BLOCKS, launch_scans),
    Family("reduce by a function", ALL, BLOCKS, launch_reductions),
)

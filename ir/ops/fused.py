"""`a * b + c`, rounded once, as NumPy does not have it.

Follows S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms
using rounding to odd": a sum that is rounded to odd keeps what it takes to round it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eas.ir.ops.record import Array
from eas.ir.rounding import as_dtype
from eas.ir.types import F64

if TYPE_CHECKING:
    from fractions import Fraction

_SPLITTER = float(2**27 + 1)
# Where products and what they round off are neither infinite nor subnormal.
_LEAST, _MOST = 2.0**-400, 2.0**400


def fused(a: Array, b: Array, c: Array) -> Array:
    dtype = a.dtype
    x, y, z = np.broadcast_arrays(*(v.astype(F64.numpy) for v in (a, b, c)))
    with np.errstate(all="ignore"):
        if dtype != F64.numpy:  # the product is exact
            return as_dtype(_odd_sum(x * y, z), dtype)
        return _fused_doubles(x, y, z)


def _fused_doubles(x: Array, y: Array, z: Array) -> Array:
    high, low = _product(x, y)
    top, rest = _sum(z, low)
    upper, lower = _sum(high, top)
    result = upper + _odd_sum(rest, lower)
    is_usual = np.ones(x.shape, bool)
    for v in (x, y, z):
        is_usual &= (np.abs(v) > _LEAST) & (np.abs(v) < _MOST)
    return np.where(is_usual, result, _fused_exactly(x, y, z, ~is_usual))


def _fused_exactly(x: Array, y: Array, z: Array, where: Array) -> Array:
    """The same for numbers of extreme sizes, one by one; zeros and infinities are exact anyway."""
    from fractions import Fraction  # which hardly a program needs

    result = np.where(np.isinf(z) & np.isfinite(x) & np.isfinite(y), z, x * y + z)
    is_number = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    is_exact = (x == 0) | (y == 0) | (z == 0)
    for place in zip(*np.nonzero(where & is_number & ~is_exact), strict=True):
        exact = Fraction(float(x[place])) * Fraction(float(y[place])) + Fraction(float(z[place]))
        if exact != 0:
            result[place] = _nearest(exact)
    return result


def _nearest(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The sum, and what it rounds off."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product, and what it rounds off."""
    total = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    lost = a_low * b_low - (((total - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return total, lost


def _split(a: Array) -> tuple[Array, Array]:
    """Two halves with few enough digits that their products are exact."""
    wide = _SPLITTER * a
    high = wide - (wide - a)
    return high, a - high


def _odd_sum(a: Array, b: Array) -> Array:
    """The sum, or the one of its two neighbours whose last digit is odd."""
    total, lost = _sum(a, b)
    is_even = (np.ascontiguousarray(total).view(np.int64) & 1) == 0
    moves = is_even & np.isfinite(total) & np.isfinite(lost) & (lost != 0)
    return np.where(moves, np.nextafter(total, np.copysign(np.inf, lost)), total)

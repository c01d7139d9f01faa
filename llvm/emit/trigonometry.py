"""Sines and angles of f32, computed in doubles: within 2 units in the last place.

`docs/accuracy.md` has the errors. The coefficients are minimax fits of the functions that the
comments name, with the errors of the results in exact arithmetic, relative ones unless they say
otherwise, as `scripts/polynomials.py` measures them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.emit.libm import each_lane
from eas.llvm.emit.polynomials import polynomial, round_even, to_double, to_float, to_int

# (sin(x) - x) / x**3 and (cos(x) - 1) / x**2, of x**2, up to pi / 4: 2**-47.4, 2**-43.8 (absolute)
SIN = (
    -0.16666666666631447,
    0.008333333325244836,
    -0.00019841263807766947,
    2.7555354432962282e-06,
    -2.476140579280076e-08,
)
COS = (
    -0.4999999999954285,
    0.04166666656166649,
    -0.0013888881055733695,
    2.4799036047039923e-05,
    -2.7179731538656015e-07,
)
# (asin(x) - x) / x**3, of x**2, up to 1/2: 2**-43.8
ASIN = (
    0.1666666666982489,
    0.07499999507401912,
    0.044643121174244176,
    0.030375032968480407,
    0.02247383891409612,
    0.016459161374126896,
    0.018709205200977755,
    -0.0030374690410575225,
    0.03212826045411273,
)
# (atan(x) - x) / x**3, of x**2, up to tan(pi / 8): 2**-40.1
ATAN = (
    -0.3333333329628275,
    0.19999994386883424,
    -0.142854258122165,
    0.11104040240615849,
    -0.08997144839588951,
    0.06992470415852173,
    -0.03794441053750006,
)
_HALF_PI = math.pi / 2
_HALF_PI_LOW = 6.123233995736766e-17
_MOST_REDUCED = 2.0**30  # larger angles need more digits of pi than two doubles have


def sin(e: Emitter, x: V) -> V:
    return _for_all_sizes(e, x, "sinf", lambda: _keep_zero(e, x, _sine(e, x, 0)))


def cos(e: Emitter, x: V) -> V:
    return _for_all_sizes(e, x, "cosf", lambda: _sine(e, x, 1))


def tan(e: Emitter, x: V) -> V:
    def near() -> V:
        sine, cosine, quadrant = _reduced(e, x)
        odd = _has_bit(e, quadrant, 1)
        top = e.select(odd, e.fneg(cosine), sine)
        bottom = e.select(odd, sine, cosine)
        return _keep_zero(e, x, to_float(e, e.fdiv(top, bottom)))

    return _for_all_sizes(e, x, "tanf", near)


def _keep_zero(e: Emitter, x: V, found: V) -> V:
    """Zero keeps its sign."""
    return e.select(e.fcmp("oeq", x, const(x.ty, 0.0)), x, found)


def _for_all_sizes(e: Emitter, x: V, name: str, near: Callable[[], V]) -> V:
    """Usual angles by vector code. If any lane has a huge one, all lanes call the C library."""
    result = e.variable(x.ty)
    e.set(result, near())
    size = e.intrinsic("fabs", x)
    is_huge = e.fcmp("oge", size, const(x.ty, _MOST_REDUCED))
    is_finite = e.fcmp("one", size, const(x.ty, float("inf")))
    e.when(e.any(e.and_(is_huge, is_finite)), lambda: e.set(result, each_lane(e, name, [x])))
    return e.get(result)


def _reduced(e: Emitter, x: V) -> tuple[V, V, V]:
    """Sine and cosine of an angle modulo pi / 2, and the number of quarter turns."""
    wide = to_double(e, x)
    n = round_even(e, e.fmul(wide, const(wide.ty, 2 / math.pi)))
    rest = e.fma(n, const(wide.ty, -_HALF_PI), wide)
    rest = e.fma(n, const(wide.ty, -_HALF_PI_LOW), rest)
    square = e.fmul(rest, rest)
    sine = e.fma(e.fmul(square, rest), polynomial(e, square, SIN), rest)
    cosine = e.fma(square, polynomial(e, square, COS), const(wide.ty, 1.0))
    return sine, cosine, to_int(e, n, "i32")


def _sine(e: Emitter, x: V, quarters: int) -> V:
    sine, cosine, n = _reduced(e, x)
    n = e.add(n, const(n.ty, quarters))
    value = to_float(e, e.select(_has_bit(e, n, 1), cosine, sine))
    return e.select(_has_bit(e, n, 2), e.fneg(value), value)


def _has_bit(e: Emitter, n: V, bit: int) -> V:
    return e.icmp("ne", e.and_(n, const(n.ty, bit)), const(n.ty, 0))


def asin(e: Emitter, x: V) -> V:
    wide = to_double(e, x)
    size = e.intrinsic("fabs", wide)
    near, far = _asin_parts(e, wide, size)
    large = e.fsub(const(wide.ty, _HALF_PI), far)
    large = e.intrinsic("copysign", large, wide)
    return to_float(e, e.select(_is_small(e, size), near, large))


def acos(e: Emitter, x: V) -> V:
    wide = to_double(e, x)
    size = e.intrinsic("fabs", wide)
    near, far = _asin_parts(e, wide, size)
    small = e.fsub(const(wide.ty, _HALF_PI), near)
    is_below = e.fcmp("olt", wide, const(wide.ty, 0.0))
    large = e.select(is_below, e.fsub(const(wide.ty, math.pi), far), far)
    return to_float(e, e.select(_is_small(e, size), small, large))


def _is_small(e: Emitter, size: V) -> V:
    return e.fcmp("olt", size, const(size.ty, 0.5))


def _asin_parts(e: Emitter, x: V, size: V) -> tuple[V, V]:
    """asin(x), valid below 1/2, and acos(|x|), valid above."""
    rest = e.fmul(e.fsub(const(x.ty, 1.0), size), const(x.ty, 0.5))
    root = e.intrinsic("sqrt", rest)
    near = _asin_polynomial(e, x, e.fmul(x, x))
    far = _asin_polynomial(e, root, rest)
    return near, e.fadd(far, far)


def _asin_polynomial(e: Emitter, x: V, square: V) -> V:
    return e.fma(e.fmul(square, x), polynomial(e, square, ASIN), x)


def atan(e: Emitter, x: V) -> V:
    wide = to_double(e, x)
    return to_float(e, _angle(e, wide, const(wide.ty, 1.0)))


def atan2(e: Emitter, y: V, x: V) -> V:
    return to_float(e, _angle(e, to_double(e, y), to_double(e, x)))


def _angle(e: Emitter, y: V, x: V) -> V:
    """The angle of a point: first in the lowest octant, then in the one that its signs give."""
    zero = const(x.ty, 0.0)
    across, up = e.intrinsic("fabs", x), e.intrinsic("fabs", y)
    is_steep = e.fcmp("ogt", up, across)
    small, large = e.select(is_steep, across, up), e.select(is_steep, up, across)
    ratio = e.fdiv(small, large)
    ratio = e.select(e.fcmp("oeq", small, zero), zero, ratio)
    infinite = e.fcmp("oeq", small, const(x.ty, float("inf")))
    ratio = e.select(infinite, const(x.ty, 1.0), ratio)
    angle = _atan_of_ratio(e, ratio)
    angle = e.select(is_steep, e.fsub(const(x.ty, _HALF_PI), angle), angle)
    turned = e.fsub(const(x.ty, math.pi), angle)
    angle = e.select(_has_minus(e, x), turned, angle)
    angle = e.intrinsic("copysign", angle, y)
    return e.select(e.fcmp("uno", x, y), e.fadd(x, y), angle)


def _atan_of_ratio(e: Emitter, ratio: V) -> V:
    """The arctangent of a number from 0 to 1."""
    one = const(ratio.ty, 1.0)
    is_large = e.fcmp("ogt", ratio, const(ratio.ty, math.tan(math.pi / 8)))
    turned = e.fdiv(e.fsub(ratio, one), e.fadd(ratio, one))
    t = e.select(is_large, turned, ratio)
    square = e.fmul(t, t)
    value = e.fma(e.fmul(square, t), polynomial(e, square, ATAN), t)
    return e.select(is_large, e.fadd(value, const(ratio.ty, math.pi / 4)), value)


def _has_minus(e: Emitter, x: V) -> V:
    bits = e.bits(x)
    return e.icmp("slt", bits, const(bits.ty, 0))

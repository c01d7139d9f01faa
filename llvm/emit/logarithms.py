"""Logarithms of f32, and powers: within 2 units in the last place (`docs/accuracy.md`)."""

from __future__ import annotations

from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.emit.exponentials import exp2_double
from eas.llvm.emit.polynomials import polynomial, to_double, to_float
from eas.support.records import frozen

# A minimax fit of (log(1 + x) - x + x**2 / 2) / x**3, for 1 + x between the roots of 1/2 and 2,
# rounded to f32; the relative error of log(1 + x) is 2**-28.3 (`scripts/polynomials.py`).
LOG = (
    0.3333331346511841,
    -0.25000008940696716,
    0.20002123713493347,
    -0.16668005287647247,
    0.14219450950622559,
    -0.12405342608690262,
    0.11888708919286728,
    -0.11677505075931549,
    0.06747692078351974,
)
_ROOT_HALF_BITS = 0x3F3504F3
_ROOT_HALF_BITS_DOUBLE = 0x3FE6A09E667F3BCD
_LEAST_NORMAL = 1.1754943508222875e-38


@frozen
class _Base:
    """log(e) and log(2) to a base, each as a sum of two floats."""

    e_high: float
    e_low: float
    two_high: float
    two_low: float


_NATURAL = _Base(1.0, 0.0, 0.693359375, -2.1219444005469057e-4)
_BINARY = _Base(1.4426950216293335, 1.9259629911266175e-08, 1.0, 0.0)
_DECIMAL = _Base(0.4342944920063019, -1.0103050118726031e-08, 0.30078125, 2.4874566137790680e-04)


def log(e: Emitter, x: V) -> V:
    return _log(e, x, _NATURAL)


def log2(e: Emitter, x: V) -> V:
    return _log(e, x, _BINARY)


def log10(e: Emitter, x: V) -> V:
    return _log(e, x, _DECIMAL)


def _log(e: Emitter, x: V, base: _Base) -> V:
    tiny = e.fcmp("olt", x, const(x.ty, _LEAST_NORMAL))
    scaled = e.select(tiny, e.fmul(x, const(x.ty, 2.0**23)), x)
    f, exponent = _parts(e, scaled)
    n = e.fsub(exponent, e.select(tiny, const(x.ty, 23.0), const(x.ty, 0.0)))
    square = e.fmul(f, f)
    # log(1 + f) is f plus a smaller rest
    rest = e.fmul(e.fmul(square, f), polynomial(e, f, LOG))
    rest = e.fma(square, const(x.ty, -0.5), rest)
    if base is _NATURAL:
        total = e.fma(n, const(x.ty, base.two_low), rest)
        total = e.fma(n, const(x.ty, base.two_high), e.fadd(f, total))
    else:
        high, factor = const(x.ty, base.e_high), e.fmul(f, const(x.ty, base.e_high))
        low = e.fma(f, high, e.fneg(factor))
        low = e.fma(f, const(x.ty, base.e_low), low)
        low = e.fma(rest, high, low)
        low = e.fma(n, const(x.ty, base.two_low), low)
        total = e.fma(n, const(x.ty, base.two_high), e.fadd(factor, low))
    return _with_special_values(e, x, total)


def _parts(e: Emitter, x: V) -> tuple[V, V]:
    """f and n with x = (1 + f) * 2**n and 1 + f between the roots of 1/2 and 2."""
    bits = e.bits(x)
    above = e.binary("sub", bits, const(bits.ty, _ROOT_HALF_BITS))
    n = e.binary("ashr", above, const(bits.ty, 23))
    fraction = e.and_(above, const(bits.ty, 0x7FFFFF))
    m = e.floats(e.add(fraction, const(bits.ty, _ROOT_HALF_BITS)))
    return e.fsub(m, const(x.ty, 1.0)), e.cast("sitofp", n, "float")


def _with_special_values(e: Emitter, x: V, found: V) -> V:
    infinity = const(x.ty, float("inf"))
    found = e.select(e.fcmp("olt", x, infinity), found, x)  # infinity and NaN
    found = e.select(e.fcmp("oeq", x, const(x.ty, 0.0)), const(x.ty, float("-inf")), found)
    return e.select(e.fcmp("olt", x, const(x.ty, 0.0)), const(x.ty, float("nan")), found)


def _log2_double(e: Emitter, x: V) -> V:
    """The logarithm to base 2 of doubles that come from f32 and are above zero."""
    bits = e.bits(x)
    above = e.binary("sub", bits, const(bits.ty, _ROOT_HALF_BITS_DOUBLE))
    n = e.binary("ashr", above, const(bits.ty, 52))
    fraction = e.and_(above, const(bits.ty, (1 << 52) - 1))
    m = e.floats(e.add(fraction, const(bits.ty, _ROOT_HALF_BITS_DOUBLE)))
    one = const(x.ty, 1.0)
    s = e.fdiv(e.fsub(m, one), e.fadd(m, one))
    series = [2.8853900817779268 / k for k in range(1, 21, 2)]
    value = e.fmul(s, polynomial(e, e.fmul(s, s), series))
    exponent = e.cast("sitofp", e.cast("trunc", n, "i32"), "double")
    return e.fadd(value, exponent)


def log1p(e: Emitter, x: V) -> V:
    wide = to_double(e, x)
    moved = e.fadd(wide, const(wide.ty, 1.0))  # exact unless x is so small that it is the result
    value = e.fmul(_log2_double(e, moved), const(wide.ty, 0.6931471805599453))
    found = _with_special_values(e, to_float(e, moved), to_float(e, value))
    is_tiny = e.fcmp("olt", e.intrinsic("fabs", x), const(x.ty, 2.0**-29))
    return e.select(is_tiny, x, found)


def pow(e: Emitter, x: V, y: V) -> V:
    """x**y, with the special cases of C's `pow`."""
    a, b = to_double(e, x), to_double(e, y)
    size = e.intrinsic("fabs", a)
    zero, one, infinity = (const(a.ty, number) for number in (0.0, 1.0, float("inf")))
    exponent = _log2_double(e, size)
    exponent = e.select(e.fcmp("oeq", size, zero), const(a.ty, float("-inf")), exponent)
    exponent = e.select(e.fcmp("olt", size, infinity), exponent, size)
    found = exp2_double(e, e.fmul(b, exponent))
    is_whole = e.fcmp("oeq", e.intrinsic("floor", b), b)
    half = e.fmul(b, const(a.ty, 0.5))
    is_odd = e.and_(is_whole, e.fcmp("one", e.intrinsic("floor", half), half))
    found = e.select(is_odd, e.intrinsic("copysign", found, a), found)
    is_below = e.and_(e.fcmp("olt", a, zero), e.fcmp("olt", size, infinity))
    has_none = e.and_(is_below, e.not_(is_whole))
    found = e.select(has_none, const(a.ty, float("nan")), found)
    is_sign = e.and_(e.fcmp("oeq", size, one), e.fcmp("oeq", e.intrinsic("fabs", b), infinity))
    is_one = e.or_(e.fcmp("oeq", a, one), e.fcmp("oeq", b, zero))
    return to_float(e, e.select(e.or_(is_one, is_sign), one, found))

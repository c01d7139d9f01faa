"""exp and its relatives, of f32: within 2 units in the last place (`docs/accuracy.md`).

The coefficients are minimax fits of the functions that the comments name, in the range that is left
after argument reduction. The comments have the errors of the results in exact arithmetic, relative
ones unless they say otherwise, as `scripts/polynomials.py` measures them.
"""

from __future__ import annotations

from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.emit.polynomials import (
    clamped,
    polynomial,
    power_of_two,
    round_even,
    to_double,
    to_float,
    to_int,
)

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693359375
_LN2_LOW = -2.12194440e-4

# (exp(x) - 1 - x) / x**2, up to log(2) / 2; rounded to f32: 2**-29.2
EXP = (
    0.5,
    0.1666666716337204,
    0.04166625440120697,
    0.008333262987434864,
    0.0013947224942967296,
    0.00019919380429200828,
)
# (2**x - 1) / x, up to 1/2; rounded to f32: 2**-25.8
EXP2 = (
    0.6931471824645996,
    0.24022650718688965,
    0.0555032454431057,
    0.009618000127375126,
    0.0013401624746620655,
    0.0001547736901557073,
)
# 2**x, up to 1/2, in doubles: 2**-46.0 (absolute)
EXP2_DOUBLE = (
    1.0000000000000135,
    0.6931471805599527,
    0.24022650695640102,
    0.055504108664267665,
    0.009618129193951663,
    0.0013333558256076739,
    0.0001540343375143749,
    1.525264346402544e-05,
    1.3259643765195506e-06,
    1.0211145151650669e-07,
)
# (tanh(x) - x) / x**3, of x**2, below 5/8; rounded to f32: 2**-27.1
TANH = (
    -0.33333277702331543,
    0.13331328332424164,
    -0.05372922867536545,
    0.020601999014616013,
    -0.00566078070551157,
)
# (sinh(x) - x) / x**3, of x**2, below 1, in doubles: 2**-43.3
SINH = (
    0.16666666667089708,
    0.00833333327401717,
    0.0001984129684360322,
    2.755195773190531e-06,
    2.553464276177081e-08,
)
# erf(x) / x - 1, of x**2, below 1; rounded to f32: 2**-28.7
ERF = (
    0.12837916612625122,
    -0.3761262595653534,
    0.1128358542919159,
    -0.026853814721107483,
    0.005188330542296171,
    -0.000801020476501435,
    7.853864372009411e-05,
)
# log2(1 - erf(x)), from 1 to 4, weighted by 1 - erf(x); rounded to f32: 2**-25.7 (absolute, of erf)
LOG2_ERFC = (
    -0.003853664267808199,
    -1.6121255159378052,
    -0.9442245960235596,
    -0.1278742253780365,
    0.02132098749279976,
    -0.0016597892390564084,
)
# (2**x - 1) / x, up to 1/2, as accurate as 1 - erf(x) needs; rounded to f32: 2**-23.1
EXP2_ERFC = (
    0.6931470036506653,
    0.24022242426872253,
    0.055507343262434006,
    0.009671509265899658,
    0.001326455269008875,
)


def exp(e: Emitter, x: V) -> V:
    value, n = _exp_parts(e, clamped(e, x, -104.0, 89.0))
    return _scaled(e, value, n)


def _exp_near(e: Emitter, x: V) -> V:
    """exp(x) where it is neither subnormal nor infinite."""
    value, n = _exp_parts(e, x)
    return e.fmul(value, power_of_two(e, to_int(e, n, "i32")))


def _exp_parts(e: Emitter, x: V) -> tuple[V, V]:
    """exp(x) as a number near 1, and the exponent of a power of two."""
    n = round_even(e, e.fmul(x, const(x.ty, _LOG2_E)))
    rest = e.fma(n, const(x.ty, -_LN2_HIGH), x)
    rest = e.fma(n, const(x.ty, -_LN2_LOW), rest)
    more = e.fma(e.fmul(rest, rest), polynomial(e, rest, EXP), rest)
    return e.fadd(more, const(x.ty, 1.0)), n


def expm1(e: Emitter, x: V) -> V:
    small = e.fma(e.fmul(x, x), polynomial(e, x, EXP), x)
    wide = to_double(e, x)
    power = exp2_double(e, e.fmul(wide, const(wide.ty, _LOG2_E)))
    large = to_float(e, e.fsub(power, const(wide.ty, 1.0)))
    is_small = e.fcmp("olt", e.intrinsic("fabs", x), const(x.ty, 0.34375))
    value = e.select(is_small, small, large)
    return e.select(e.fcmp("oeq", x, const(x.ty, 0.0)), x, value)


def exp2(e: Emitter, x: V) -> V:
    x = clamped(e, x, -151.0, 129.0)
    n = round_even(e, x)
    rest = e.fsub(x, n)
    return _scaled(e, e.fma(rest, polynomial(e, rest, EXP2), const(x.ty, 1.0)), n)


def _scaled(e: Emitter, x: V, n: V, is_near: bool = False) -> V:
    """x * 2**n: by one instruction, or by two factors unless 2**n is a normal float (`is_near`)."""
    if e.has_avx512 and x.lanes == 16:
        all_lanes, usual_rounding = const("i16", -1), const("i32", 4)
        name = "llvm.x86.avx512.mask.scalef.ps.512"
        return e.call(name, x.ty, x, n, x, all_lanes, usual_rounding)
    n = to_int(e, n, "i32")
    if is_near:
        return e.fmul(x, power_of_two(e, n))
    half = e.binary("ashr", n, const(n.ty, 1))
    first = e.fmul(x, power_of_two(e, half))
    return e.fmul(first, power_of_two(e, e.sub(n, half)))


def exp2_double(e: Emitter, x: V) -> V:
    """2**x of doubles, as accurate as an f32 result needs; 0 or huge outside of f32's range."""
    x = clamped(e, x, -1000.0, 1000.0)
    n = round_even(e, x)
    value = polynomial(e, e.fsub(x, n), EXP2_DOUBLE)
    return e.fmul(value, power_of_two(e, _to_int64(e, n)))


def _to_int64(e: Emitter, n: V) -> V:
    """A small integral double as an i64, by a conversion to i32."""
    return e.cast("sext", to_int(e, n, "i32"), "i64")


def sigmoid(e: Emitter, x: V) -> V:
    """Uses the power that does not overflow: exp(-x) above zero, exp(x) below.

    The rounding error of the sum in the denominator is corrected in the quotient.
    """
    one = const(x.ty, 1.0)
    power = exp(e, e.fneg(e.intrinsic("fabs", x)))
    top = e.select(e.fcmp("olt", x, const(x.ty, 0.0)), power, one)
    below = e.fadd(one, power)
    lost = e.fsub(power, e.fsub(below, one))
    quotient = e.fdiv(top, below)
    return e.fma(e.fneg(quotient), e.fdiv(lost, below), quotient)


def tanh(e: Emitter, x: V) -> V:
    size = e.intrinsic("fabs", x)
    square = e.fmul(x, x)
    small = e.fma(e.fmul(square, x), polynomial(e, square, TANH), x)
    one = const(x.ty, 1.0)
    near = clamped(e, size, 0.0, 20.0)  # from 10 on it is 1
    power = _exp_near(e, e.fadd(near, near))
    large = e.fsub(one, e.fdiv(const(x.ty, 2.0), e.fadd(power, one)))
    value = e.select(e.fcmp("olt", size, const(x.ty, 0.625)), small, large)
    return e.intrinsic("copysign", value, x)


def erf(e: Emitter, x: V) -> V:
    size = e.intrinsic("fabs", x)
    small = e.fma(x, polynomial(e, e.fmul(x, x), ERF), x)
    one, most = const(x.ty, 1.0), const(x.ty, 4.0)  # from there on it is 1
    power = polynomial(e, e.select(e.fcmp("ogt", size, most), most, size), LOG2_ERFC)
    n = round_even(e, power)
    rest = e.fsub(power, n)
    tail = e.fma(rest, polynomial(e, rest, EXP2_ERFC), one)
    tail = _scaled(e, tail, n, is_near=True)
    large = e.intrinsic("copysign", e.fsub(one, tail), x)
    return e.select(e.fcmp("olt", size, one), small, large)


def sinh(e: Emitter, x: V) -> V:
    wide = to_double(e, x)
    size = e.intrinsic("fabs", wide)
    square = e.fmul(wide, wide)
    small = e.fma(e.fmul(square, wide), polynomial(e, square, SINH), wide)
    up, down = _both_powers(e, size)
    large = e.intrinsic("copysign", e.fsub(up, down), wide)
    is_small = e.fcmp("olt", size, const(wide.ty, 1.0))
    return to_float(e, e.select(is_small, small, large))


def cosh(e: Emitter, x: V) -> V:
    up, down = _both_powers(e, e.intrinsic("fabs", to_double(e, x)))
    return to_float(e, e.fadd(up, down))


def _both_powers(e: Emitter, size: V) -> tuple[V, V]:
    """exp(x) / 2 and exp(-x) / 2."""
    half = const(size.ty, 0.5)
    power = exp2_double(e, e.fmul(size, const(size.ty, _LOG2_E)))
    return e.fmul(power, half), e.fdiv(half, power)

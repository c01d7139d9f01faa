"""Integer division that never traps. By zero, and on overflow, the result is unspecified."""

from __future__ import annotations

from eas.ir.types import DType
from eas.llvm.emit.emit import Emitter, V, bits_of, const, like, vector


def divide(e: Emitter, a: V, b: V, dtype: DType) -> V:
    """The quotient, rounded towards zero."""
    if _is_plain(b):
        return e.binary("sdiv" if dtype.is_signed else "udiv", a, b)
    if not a.lanes:
        return _divide_single(e, a, b, dtype)
    if bits_of(a.ty) == 64:
        return _lane_by_lane(e, a, b, dtype)
    return _through_floats(e, a, b, dtype)


def remainder(e: Emitter, a: V, b: V, dtype: DType) -> V:
    """The remainder, with the sign of `a`."""
    if _is_plain(b):
        return e.binary("srem" if dtype.is_signed else "urem", a, b)
    return e.sub(a, e.mul(divide(e, a, b, dtype), b))


def floor_divide(e: Emitter, a: V, b: V, dtype: DType) -> V:
    quotient = divide(e, a, b, dtype)
    if not dtype.is_signed:
        return quotient
    return e.add(quotient, e.cast("sext", _rounds_down(e, a, b, quotient), quotient.element))


def floor_remainder(e: Emitter, a: V, b: V, dtype: DType) -> V:
    rest = remainder(e, a, b, dtype)
    if not dtype.is_signed:
        return rest
    zero = const(rest.ty, 0)
    differs = e.icmp("slt", e.xor(rest, b), zero)
    wrong = e.and_(e.icmp("ne", rest, zero), differs)
    return e.add(rest, e.select(wrong, b, zero))


def _rounds_down(e: Emitter, a: V, b: V, quotient: V) -> V:
    """Whether floor division is one less: the signs differ, and the remainder is not zero."""
    rest = e.sub(a, e.mul(quotient, b))
    zero = const(a.ty, 0)
    return e.and_(e.icmp("ne", rest, zero), e.icmp("slt", e.xor(rest, b), zero))


def _is_plain(b: V) -> bool:
    return b.known is not None and b.known not in (0, -1)


def _divide_single(e: Emitter, a: V, b: V, dtype: DType) -> V:
    zero, one = const(b.ty, 0), const(b.ty, 1)
    safe = e.select(e.icmp("eq", b, zero), one, b)
    if not dtype.is_signed:
        return e.binary("udiv", a, safe)
    is_minus_one = e.icmp("eq", b, const(b.ty, -1))
    quotient = e.binary("sdiv", a, e.select(is_minus_one, one, safe))
    return e.select(is_minus_one, e.sub(zero, a), quotient)


def _lane_by_lane(e: Emitter, a: V, b: V, dtype: DType) -> V:
    result = V(a.ty, "poison")
    for lane in range(a.lanes):
        quotient = _divide_single(e, e.extract(a, lane), e.extract(b, lane), dtype)
        result = e.insert(result, quotient, lane)
    return result


def _through_floats(e: Emitter, a: V, b: V, dtype: DType) -> V:
    """A float with more than twice the digits has the exact quotient as its integer part."""
    wide = "double" if bits_of(a.ty) == 32 else "float"
    to_float = "sitofp" if dtype.is_signed else "uitofp"
    number, divisor = e.cast(to_float, a, wide), e.splat_source(b)
    if divisor is None:
        ratio = e.fdiv(number, e.cast(to_float, b, wide))
    else:
        ratio = _by_reciprocal(e, number, e.cast(to_float, divisor, wide))
    whole = e.value(like(a, "i32"), f"fptosi {ratio} to {vector('i32', a.lanes)}")
    quotient = e.value(whole.ty, f"freeze {whole}")
    narrow = e.cast("trunc", quotient, a.element)
    if dtype.is_signed:
        return narrow
    # only a division by 1 gives a quotient that is too large for the conversion
    return e.select(e.icmp("eq", b, const(b.ty, 1)), a, narrow)


def _by_reciprocal(e: Emitter, a: V, b: V) -> V:
    """Divides integers by a uniform one, by multiplication with its reciprocal.

    Adding 0.5 to the dividend moves the quotient away from the next lower integer, farther than
    rounding errors reach, and not to the next higher one.
    """
    inverse = e.splat(e.fdiv(const(b.ty, 1.0), b), a.lanes)
    more = e.intrinsic("copysign", const(a.ty, 0.5), a)
    return e.fmul(e.fadd(a, more), inverse)

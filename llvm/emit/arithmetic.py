"""The spelling of arithmetic, comparisons and bit ops, on single numbers and on vectors."""

from __future__ import annotations

import math
from collections.abc import Callable

from eas.ir.types import DType
from eas.llvm.emit import division
from eas.llvm.emit.dtypes import is_narrow, odd_sum, to_single
from eas.llvm.emit.emit import Emitter, V, const

# Takes the operands and their dtype.
Spelling = Callable[[Emitter, list[V], DType], V]


def _numbers(floats: str, ints: str) -> Spelling:
    def spell(e: Emitter, a: list[V], dtype: DType) -> V:
        if dtype.is_float:
            return e.binary(f"{floats} {e.fast}".strip(), a[0], a[1])
        return {"add": e.add, "sub": e.sub, "mul": e.mul}[ints](a[0], a[1])

    return spell


def _div(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.binary(f"fdiv {e.fast}".strip(), a[0], a[1])


def _floordiv(e: Emitter, a: list[V], dtype: DType) -> V:
    if not dtype.is_float:
        return division.floor_divide(e, a[0], a[1], dtype)
    x, y = a
    rest = e.binary("frem", x, y)
    ratio = e.fdiv(e.fsub(x, rest), y)
    # Subtract one, since the remainder with the sign of the divisor may be infinite.
    ratio = e.select(_is_moved(e, rest, y), e.fsub(ratio, const(x.ty, 1.0)), ratio)
    down = e.intrinsic("floor", ratio)
    lost = e.fcmp("ogt", e.fsub(ratio, down), const(x.ty, 0.5))
    whole = e.select(lost, e.fadd(down, const(x.ty, 1.0)), down)
    zero = e.intrinsic("copysign", const(x.ty, 0.0), e.fdiv(x, y))
    whole = e.select(e.fcmp("oeq", ratio, const(x.ty, 0.0)), zero, whole)
    return e.select(e.fcmp("oeq", y, const(x.ty, 0.0)), e.fdiv(x, y), whole)


def _mod(e: Emitter, a: list[V], dtype: DType) -> V:
    if dtype.is_float:
        return _python_remainder(e, a[0], a[1])
    return division.floor_remainder(e, a[0], a[1], dtype)


def _python_remainder(e: Emitter, x: V, y: V) -> V:
    rest = e.binary("frem", x, y)
    moved = e.select(_is_moved(e, rest, y), e.fadd(rest, y), rest)
    zero = const(x.ty, 0.0)
    none = e.intrinsic("copysign", zero, y)
    return e.select(e.fcmp("oeq", rest, zero), none, moved)


def _is_moved(e: Emitter, rest: V, y: V) -> V:
    """Whether C's remainder is not zero and has not the sign of the divisor."""
    zero = const(rest.ty, 0.0)
    differs = e.xor(e.fcmp("olt", y, zero), e.fcmp("olt", rest, zero))
    return e.and_(e.fcmp("une", rest, zero), differs)


def _truncdiv(e: Emitter, a: list[V], dtype: DType) -> V:
    return division.divide(e, a[0], a[1], dtype)


def _truncmod(e: Emitter, a: list[V], dtype: DType) -> V:
    if dtype.is_float:
        return e.binary("frem", a[0], a[1])
    return division.remainder(e, a[0], a[1], dtype)


def _neg(e: Emitter, a: list[V], dtype: DType) -> V:
    return e.fneg(a[0]) if dtype.is_float else e.binary("sub", const(a[0].ty, 0), a[0])


def _abs(e: Emitter, a: list[V], dtype: DType) -> V:
    if dtype.is_float:
        return e.intrinsic("fabs", a[0])
    return e.intrinsic("abs", a[0], const("i1", False)) if dtype.is_signed else a[0]


def _minimum(e: Emitter, a: list[V], dtype: DType) -> V:
    return lesser(e, a[0], a[1], dtype)


def _maximum(e: Emitter, a: list[V], dtype: DType) -> V:
    return greater(e, a[0], a[1], dtype)


def lesser(e: Emitter, a: V, b: V, dtype: DType) -> V:
    if dtype.is_float:
        return _extreme(e, a, b, is_max=False)
    return e.intrinsic("smin" if dtype.is_signed else "umin", a, b)


def greater(e: Emitter, a: V, b: V, dtype: DType) -> V:
    if dtype.is_float:
        return _extreme(e, a, b, is_max=True)
    return e.intrinsic("smax" if dtype.is_signed else "umax", a, b)


def _extreme(e: Emitter, a: V, b: V, *, is_max: bool) -> V:
    """The greater or the lesser float. A number wins against a NaN, and -0.0 is below 0.0."""
    constant, other = (a, b) if a.known is not None else (b, a)
    if constant.known is not None and not math.isnan(constant.known):
        return _extreme_of_constant(e, other, constant, is_max=is_max)
    return with_ordered_zeros(
        e, e.intrinsic("maxnum" if is_max else "minnum", a, b), a, b, is_max=is_max
    )


def _extreme_of_constant(e: Emitter, a: V, constant: V, *, is_max: bool) -> V:
    """One comparison. It is false for a NaN, and for a zero that loses against the constant."""
    assert constant.known is not None
    is_best_zero = constant.known == 0 and (math.copysign(1, constant.known) > 0) == is_max
    how = "gt" if is_max else "lt"
    if constant.known == 0 and not is_best_zero:
        how = how.replace("t", "e")
    return e.select(e.fcmp(f"o{how}", a, constant), a, constant)


def with_ordered_zeros(e: Emitter, found: V, a: V, b: V, *, is_max: bool) -> V:
    """`found` of two floats, but of two zeros the right one: -0.0 is below 0.0.

    Equal numbers have equal bits, except zeros: `and` or `or` of their bits gives the sign.
    """
    if e.fast:
        return found
    bits = e.binary("and" if is_max else "or", e.bits(a), e.bits(b))
    return e.select(e.fcmp("oeq", a, b), e.bitcast(bits, found.ty), found)


def _clamp(e: Emitter, a: list[V], dtype: DType) -> V:
    return lesser(e, greater(e, a[0], a[1], dtype), a[2], dtype)


def _and(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.and_(a[0], a[1])


def _or(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.or_(a[0], a[1])


def _xor(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.xor(a[0], a[1])


def _not(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.not_(a[0])


def _amount(e: Emitter, b: V, dtype: DType) -> V:
    """A shift amount in range. One that is out of range gives an unspecified value."""
    if b.known is not None and 0 <= b.known < dtype.bits:
        return b
    return e.and_(b, const(b.ty, dtype.bits - 1))


def _shl(e: Emitter, a: list[V], dtype: DType) -> V:
    return e.binary("shl", a[0], _amount(e, a[1], dtype))


def _shr(e: Emitter, a: list[V], dtype: DType) -> V:
    return e.binary("ashr" if dtype.is_signed else "lshr", a[0], _amount(e, a[1], dtype))


def _popcount(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.intrinsic("ctpop", a[0])


def _clz(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.intrinsic("ctlz", a[0], const("i1", False))


def _umulhi(e: Emitter, a: list[V], dtype: DType) -> V:
    wide = f"i{2 * dtype.bits}"
    extend = "sext" if dtype.is_signed else "zext"
    product = e.binary("mul", e.cast(extend, a[0], wide), e.cast(extend, a[1], wide))
    high = e.binary("lshr", product, const(product.ty, dtype.bits))
    return e.cast("trunc", high, a[0].element)


def _compare(floats: str, ints: str) -> Spelling:
    def spell(e: Emitter, a: list[V], dtype: DType) -> V:
        if dtype.is_float:
            return e.fcmp(floats, a[0], a[1])
        if ints in ("eq", "ne"):
            return e.icmp(ints, a[0], a[1])
        return e.icmp(("s" if dtype.is_signed else "u") + ints, a[0], a[1])

    return spell


def _select(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.select(a[0], a[1], a[2])


def _sign(e: Emitter, a: list[V], dtype: DType) -> V:
    if not dtype.is_float:
        zero = const(a[0].ty, 0)
        above = e.cast("zext", e.icmp("ne", a[0], zero), a[0].element)
        if not dtype.is_signed:
            return above
        return e.select(e.icmp("slt", a[0], zero), const(a[0].ty, -1), above)
    zero = const(a[0].ty, 0.0)
    kept = e.select(e.fcmp("oeq", a[0], zero), zero, a[0])
    below = e.select(e.fcmp("olt", a[0], zero), const(a[0].ty, -1.0), kept)
    return e.select(e.fcmp("ogt", a[0], zero), const(a[0].ty, 1.0), below)


def _copysign(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.intrinsic("copysign", a[0], a[1])


def _fma(e: Emitter, a: list[V], dtype: DType) -> V:
    if not is_narrow(dtype):
        return e.fma(a[0], a[1], a[2])
    x, y, z = (e.cast("fpext", v, "double") for v in a)
    return to_single(e, odd_sum(e, e.fmul(x, y), z))


def _isnan(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.fcmp("uno", a[0], a[0])


def _isinf(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.fcmp("oeq", e.intrinsic("fabs", a[0]), const(a[0].ty, float("inf")))


def _isfinite(e: Emitter, a: list[V], dtype: DType) -> V:
    del dtype
    return e.fcmp("one", e.intrinsic("fabs", a[0]), const(a[0].ty, float("inf")))


def _index(e: Emitter, a: list[V], dtype: DType) -> V:
    if not dtype.is_signed:
        return a[0]
    below = e.icmp("slt", a[0], const(a[0].ty, 0))
    return e.select(below, e.add(a[0], a[1]), a[0])


ARITHMETIC: dict[str, Spelling] = {
    "add": _numbers("fadd", "add"),
    "sub": _numbers("fsub", "sub"),
    "mul": _numbers("fmul", "mul"),
    "div": _div,
    "floordiv": _floordiv,
    "mod": _mod,
    "truncdiv": _truncdiv,
    "truncmod": _truncmod,
    "neg": _neg,
    "abs": _abs,
    "minimum": _minimum,
    "maximum": _maximum,
    "clamp": _clamp,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "not": _not,
    "shl": _shl,
    "shr": _shr,
    "popcount": _popcount,
    "clz": _clz,
    "umulhi": _umulhi,
    "lt": _compare("olt", "lt"),
    "le": _compare("ole", "le"),
    "gt": _compare("ogt", "gt"),
    "ge": _compare("oge", "ge"),
    "eq": _compare("oeq", "eq"),
    "ne": _compare("une", "ne"),
    "select": _select,
    "sign": _sign,
    "copysign": _copysign,
    "fma": _fma,
    "isnan": _isnan,
    "isinf": _isinf,
    "isfinite": _isfinite,
    "index": _index,
}

"""Conversions between dtypes."""

from __future__ import annotations

from eas.ir.types import DType
from eas.llvm.emit.dtypes import is_narrow, register, rounded, to_register, to_single, to_stored
from eas.llvm.emit.emit import Emitter, V, bits_of, const, like


def cast(e: Emitter, v: V, old: DType, new: DType) -> V:
    """Converts a number. A float that does not fit the integer gives an unspecified value."""
    if old == new:
        return v
    if new.is_bool:
        zero = const(v.ty, 0)
        return e.fcmp("une", v, zero) if old.is_float else e.icmp("ne", v, zero)
    if old.is_float:
        return _from_float(e, v, new) if new.is_int else _between_floats(e, v, new)
    if new.is_float:
        return _to_float(e, v, old, new)
    how = "trunc" if new.bits < old.bits else "sext" if old.is_signed else "zext"
    return e.cast(how, v, register(new))


def bitcast(e: Emitter, v: V, old: DType, new: DType) -> V:
    bits = to_stored(e, v, old)
    target = {"f16": "half"}.get(new.name, f"i{new.bits}" if new.name == "bf16" else register(new))
    return to_register(e, e.bitcast(bits, like(v, target)), new)


def _from_float(e: Emitter, v: V, new: DType) -> V:
    """Through a wider signed integer where there is one: that is one instruction."""
    if new.bits < 32:
        wide, how = "i32", "fptosi"
    else:
        wide, how = f"i{new.bits}", "fptosi" if new.is_signed else "fptoui"
    ty = like(v, wide)
    # what does not fit is poison, which must not propagate
    whole = e.value(ty, f"{how} {v} to {ty}")
    return e.cast("trunc", e.value(ty, f"freeze {whole}"), register(new))


def _between_floats(e: Emitter, v: V, new: DType) -> V:
    if is_narrow(new) and bits_of(v.ty) == 64:
        return rounded(e, to_single(e, v), new)
    if bits_of(v.ty) == 64:
        return e.cast("fptrunc", v, register(new))
    return rounded(e, e.cast("fpext", v, register(new)), new)


def _to_float(e: Emitter, v: V, old: DType, new: DType) -> V:
    how = "sitofp" if old.is_signed else "uitofp"
    return rounded(e, e.cast(how, v, register(new)), new)

"""Offsets and indices of lanes, in the width of an address."""

from __future__ import annotations

from eas.ir.nodes import Value
from eas.ir.types import DType
from eas.llvm.emit.emit import V, const, like
from eas.llvm.lanes.coordinates import Coords
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector
from eas.llvm.lanes.vector_body import Body


def offsets(body: Body, value: Value, coords: Coords) -> LaneValue:
    """The offsets of the lanes, in the width of an address.

    Signed strided offsets are assumed not to wrap within unrolled vectors; the interpreter reports
    those that do. Unsigned offsets, and those of fewer than 32 bits, wrap as in the IR.
    """
    how = "sext" if value.ty.dtype.is_signed else "zext"
    found = body.at(value, coords)
    match found:
        case Uniform(v):
            return Uniform(widened(body, v, how))
        case Strided(is_exact=False) if _may_wrap(value.ty.dtype):
            return Vector(widened(body, body.to_vector(found), how))
        case Strided(base=base, step=step, start=start):
            return Strided(widened(body, base, how), step, start=start)
        case Vector(v):
            return Vector(widened(body, v, how))


def _may_wrap(dtype: DType) -> bool:
    return dtype.bits < (32 if dtype.is_signed else 64)


def widened(body: Body, v: V, how: str = "sext") -> V:
    if v.known is not None:
        return const(like(v, "i64"), v.known)
    return body.e.cast(how, v, "i64")

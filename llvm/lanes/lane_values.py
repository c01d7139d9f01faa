"""A value in the lanes of one vector: uniform, strided, or any vector."""

from __future__ import annotations

from eas.llvm.emit.emit import Emitter, V, const
from eas.support.records import frozen


@frozen
class Uniform:
    """One number for all lanes."""

    v: V


@frozen
class Strided:
    """`base + start`, `base + start + step`, ...: integers that become a vector only on demand.

    `is_exact` says that no step wraps around. The vectors of an unrolled loop share their base.
    """

    base: V
    step: int
    is_exact: bool = True
    start: int = 0


@frozen
class Vector:
    v: V


LaneValue = Uniform | Strided | Vector


def number(lanes: LaneValue) -> V:
    """The number of a uniform value."""
    assert isinstance(lanes, Uniform)
    return lanes.v


def first(e: Emitter, steps: Strided) -> V:
    """The number of the first lane."""
    return e.add(steps.base, const(steps.base.ty, steps.start))


def to_vector(e: Emitter, lanes: LaneValue, width: int) -> V:
    match lanes:
        case Uniform(v):
            return e.splat(v, width)
        case Strided(base=base, step=step, start=start):
            row = e.constants(base.ty, [start + step * lane for lane in range(width)])
            return row if base.known == 0 else e.binary("add", e.splat(base, width), row)
        case Vector(v):
            return v


def add(e: Emitter, a: LaneValue, b: LaneValue, sign: int, wraps: bool) -> LaneValue | None:
    """The sum (or difference) of integers, if it is strided or uniform."""
    first, second = _parts(a), _parts(b)
    if first is None or second is None:
        return None
    base = e.add(first.base, second.base) if sign > 0 else e.sub(first.base, second.base)
    start, step = first.start + sign * second.start, first.step + sign * second.step
    if not step:
        return Uniform(e.add(base, const(base.ty, start)))
    return Strided(base, step, first.is_exact and second.is_exact and not wraps, start)


def scale(e: Emitter, a: LaneValue, b: LaneValue, wraps: bool) -> LaneValue | None:
    """The product of strided integers and a constant; None for other products."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Uniform) and isinstance(one.v.known, int) and isinstance(other, Strided):
            factor = one.v.known
            if not factor:
                return one
            base = e.mul(other.base, one.v)
            is_exact = other.is_exact and not wraps
            return Strided(base, other.step * factor, is_exact, other.start * factor)
    return None


def _parts(a: LaneValue) -> Strided | None:
    match a:
        case Uniform(v):
            return Strided(v, 0)
        case Strided():
            return a
        case Vector():
            return None

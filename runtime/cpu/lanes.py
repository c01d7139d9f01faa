"""What is known of a value in the lanes of one vector: that all are equal, or in steps."""

from __future__ import annotations

from eas.ir.records import frozen
from eas.runtime.cpu.emit import Emitter, V


@frozen
class Uniform:
    """One number for all lanes."""

    v: V


@frozen
class Steps:
    """`base`, `base + step`, ...: integers that are not written out as long as possible.

    `is_exact` tells that no step wraps around.
    """

    base: V
    step: int
    is_exact: bool = True


@frozen
class Vector:
    v: V


Lanes = Uniform | Steps | Vector


def number(lanes: Lanes) -> V:
    """The one number of all lanes."""
    assert isinstance(lanes, Uniform)
    return lanes.v


def to_vector(e: Emitter, lanes: Lanes, width: int) -> V:
    match lanes:
        case Uniform(v):
            return e.splat(v, width)
        case Steps(base=base, step=step):
            row = e.row(base.ty, [step * lane for lane in range(width)])
            return row if base.known == 0 else e.binary("add", e.splat(base, width), row)
        case Vector(v):
            return v


def add(e: Emitter, a: Lanes, b: Lanes, sign: int, wraps: bool) -> Lanes | None:
    """The sum (or difference) of integers, if it is one of steps."""
    first, second = _parts(a), _parts(b)
    if first is None or second is None:
        return None
    base = e.add(first.base, second.base) if sign > 0 else e.sub(first.base, second.base)
    step = first.step + sign * second.step
    if not step:
        return Uniform(base)
    return Steps(base, step, first.is_exact and second.is_exact and not wraps)


def scale(e: Emitter, a: Lanes, b: Lanes, wraps: bool) -> Lanes | None:
    """The product of integers in steps and a constant, if it is that."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Uniform) and isinstance(one.v.known, int) and isinstance(other, Steps):
            factor = one.v.known
            if not factor:
                return one
            base = e.mul(other.base, one.v)
            return Steps(base, other.step * factor, other.is_exact and not wraps)
    return None


def _parts(a: Lanes) -> Steps | None:
    match a:
        case Uniform(v):
            return Steps(v, 0)
        case Steps():
            return a
        case Vector():
            return None

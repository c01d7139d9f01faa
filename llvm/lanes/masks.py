"""Masks of active lanes; None is all lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.llvm.emit.emit import V, const, vector
from eas.llvm.lanes.coordinates import Coords, is_varying
from eas.llvm.lanes.lane_values import LaneValue, Uniform, Vector
from eas.llvm.lanes.vector_body import Body, Mask


def narrow(body: Body, mask: Mask, condition: Mask, expected: bool = True) -> Mask:
    """The lanes of a mask for which a condition is true (or false)."""
    if condition is None:
        condition = Uniform(const("i1", True))
    if not expected:
        condition = _negated(body, condition)
    if mask is None:
        is_all = isinstance(condition, Uniform) and condition.v.known is True
        return None if is_all else condition
    if isinstance(mask, Uniform) and isinstance(condition, Uniform):
        return Uniform(body.e.and_(mask.v, condition.v))
    return Vector(body.e.and_(body.to_vector(mask), body.to_vector(condition)))


def _negated(body: Body, lanes: LaneValue) -> LaneValue:
    if isinstance(lanes, Uniform):
        return Uniform(body.e.not_(lanes.v))
    return Vector(body.e.not_(body.to_vector(lanes)))


def union(body: Body, a: Mask, b: Mask) -> Mask:
    if a is None or b is None:
        return None
    if isinstance(a, Uniform) and isinstance(b, Uniform):
        return Uniform(body.e.or_(a.v, b.v))
    return Vector(body.e.or_(body.to_vector(a), body.to_vector(b)))


def mask_vector(body: Body, mask: Mask) -> V:
    """A mask as a vector of bools."""
    if mask is None:
        return const(vector("i1", body.width), True)
    return body.to_vector(mask)


def is_any(body: Body, masks: Sequence[Mask]) -> V:
    """Whether any lane of any point is active."""
    total: V | None = None
    single: V | None = None
    for mask in masks:
        if mask is None:
            return const("i1", True)
        if isinstance(mask, Uniform):
            single = mask.v if single is None else body.e.or_(single, mask.v)
        else:
            v = body.to_vector(mask)
            total = v if total is None else body.e.or_(total, v)
    if total is None:
        assert single is not None
        return single
    found = body.e.any(total)
    return found if single is None else body.e.or_(found, single)


def joint_mask(body: Body, masks: Sequence[Mask], points: Sequence[int], coords: Coords) -> Mask:
    """The mask of a value that several points share; a uniform one needs any active lane."""
    chosen = [masks[n] for n in points]
    if any(mask is None for mask in chosen):
        return None
    if not is_varying(coords):
        return Uniform(is_any(body, chosen))
    total = chosen[0]
    for mask in chosen[1:]:
        total = union(body, total, mask)
    return total


def tail_mask(body: Body, coords: Coords) -> Mask:
    """The lanes at these coordinates that are inside of the domain; None: all of them."""
    varying = [at for at in coords if not isinstance(at, Uniform)]
    for point, mask in zip(body.points, body.start, strict=True):
        if any(at in point for at in varying):
            return mask
    return body.start[0] if varying else None


def condition(body: Body, mask: Mask) -> V | None:
    """Whether any lane is active; None if all are."""
    return None if mask is None else is_any(body, [mask])


def when(body: Body, holds: V | None, then: Callable[[], None]) -> None:
    if holds is None:
        then()
    else:
        body.e.when(holds, then)

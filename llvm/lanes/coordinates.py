"""The coordinates of lanes in a domain, and in the operand of a view."""

from __future__ import annotations

from typing import Any

from eas.ir.nodes import Compute
from eas.ir.types import Shape
from eas.llvm.emit.emit import Emitter, const
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector, add, to_vector

Coords = tuple[LaneValue, ...]

ZERO = Uniform(const("i32", 0))


def is_varying(coords: Coords) -> bool:
    """Whether the lanes of a vector are at different coordinates."""
    return any(not isinstance(at, Uniform) for at in coords)


def view_coords(e: Emitter, op: Compute, coords: Coords, width: int) -> Coords:
    """The coordinates of a view's element in the view's operand."""
    shape = op.operands[0].shape
    attrs: dict[str, Any] = dict(op.attrs)
    match op.op.name:
        case "splat":
            return ()
        case "broadcast":
            pairs = zip(shape, op.result.shape, coords, strict=True)
            return tuple(ZERO if mine == 1 and whole > 1 else at for mine, whole, at in pairs)
        case "expand_dims":
            axis = attrs["axis"]
            return (*coords[:axis], *coords[axis + 1 :])
        case "permute":
            found = {axis: coords[position] for position, axis in enumerate(attrs["axes"])}
            return tuple(found[axis] for axis in range(len(shape)))
        case "slice":
            parts = zip(coords, attrs["starts"], attrs["steps"], strict=True)
            return tuple(scale_and_add(e, at, step, start) for at, start, step in parts)
        case "cycle":
            return _cycled(e, op, coords, width)
        case _:
            return _unravel(e, ravel(e, coords, op.result.shape), shape, width)


def _cycled(e: Emitter, op: Compute, coords: Coords, width: int) -> Coords:
    axis, start, size = (_number(op, name) for name in ("axis", "start", "size"))
    extent = op.operands[0].shape[axis]
    at = scale_and_add(e, coords[axis], 1, start % extent)
    at = at if start % extent + size <= extent else _divmod(e, at, extent, width)[1]
    return (*coords[:axis], at, *coords[axis + 1 :])


def _number(op: Compute, name: str) -> int:
    number = op.attr(name)
    assert isinstance(number, int)
    return number


def _divmod(e: Emitter, at: LaneValue, extent: int, width: int) -> tuple[LaneValue, LaneValue]:
    """The quotient and the remainder of a coordinate by an extent."""
    if isinstance(at, Uniform):
        by = const("i32", extent)
        return Uniform(e.binary("udiv", at.v, by)), Uniform(e.binary("urem", at.v, by))
    v = to_vector(e, at, width)
    by = const(v.ty, extent)
    return Vector(e.binary("udiv", v, by)), Vector(e.binary("urem", v, by))


def scale_and_add(e: Emitter, at: LaneValue, factor: int, offset: int) -> LaneValue:
    """`at * factor + offset` of a coordinate."""
    by, more = const("i32", factor), const("i32", offset)
    match at:
        case Uniform(v):
            return Uniform(e.add(e.mul(v, by), more))
        case Strided(base=base, step=step, start=start):
            return Strided(e.add(e.mul(base, by), more), step * factor, start=start * factor)
        case Vector(v):
            scaled = e.mul(v, const(v.ty, factor))
            return Vector(e.add(scaled, const(v.ty, offset)))


def ravel(e: Emitter, coords: Coords, shape: Shape) -> LaneValue:
    """The index of an element in row-major order."""
    total: LaneValue = ZERO
    for at, extent in zip(coords, shape, strict=True):
        total = _plus(e, scale_and_add(e, total, extent, 0), at)
    return total


def _plus(e: Emitter, a: LaneValue, b: LaneValue) -> LaneValue:
    found = add(e, a, b, 1, False)
    if found is not None:
        return found
    width = next(each.v.lanes for each in (a, b) if isinstance(each, Vector))
    return Vector(e.add(to_vector(e, a, width), to_vector(e, b, width)))


def _unravel(e: Emitter, position: LaneValue, shape: Shape, width: int) -> Coords:
    """The coordinates of the element at an index in row-major order."""
    if sum(extent > 1 for extent in shape) <= 1:
        return tuple(position if extent > 1 else ZERO for extent in shape)
    found: list[LaneValue] = []
    for extent in reversed(shape):
        position, at = _divmod(e, position, extent, width)
        found.append(at)
    return tuple(reversed(found))

"""Serialized lanes: a loop that runs code for one active lane after the other.

It is not unrolled: in straight-line code of many atomic updates, processors predict that each one
depends on the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.llvm.emit.emit import V, const, like
from eas.llvm.lanes.lane_values import LaneValue, Uniform
from eas.llvm.lanes.masks import mask_vector
from eas.llvm.lanes.vector_body import Body, Mask


def serialize(
    body: Body, parts: Sequence[LaneValue], mask: Mask, act: Callable[[V, list[V]], None]
) -> None:
    """Calls `act` for each lane of a mask, with the lane's number and its elements of `parts`."""
    e = body.e
    sources = [_source(body, part) for part in parts]
    bits = e.cast("zext", e.bitcast(mask_vector(body, mask), f"i{body.width}"), "i32")
    left = e.variable(bits.ty)
    e.set(left, bits)
    head, inside, after = e.label("head"), e.label("lane"), e.label("after")
    e.begin(head)
    now = e.get(left)
    e.branch(e.icmp("ne", now, const(now.ty, 0)), inside, after)
    e.begin(inside)
    lane = e.cast("zext", e.intrinsic("cttz", now, const("i1", True)), "i64")
    act(lane, [source(lane) for source in sources])
    lower = e.sub(now, const(now.ty, 1))
    e.set(left, e.and_(now, lower))
    e.jump(head)
    e.begin(after)


def _source(body: Body, part: LaneValue) -> Callable[[V], V]:
    """Reads the element of a lane: a vector is stored to memory, and indexed there."""
    e = body.e
    if isinstance(part, Uniform):
        return lambda lane: part.v
    v = body.to_vector(part)
    is_bool = v.element == "i1"
    kept = e.cast("zext", v, "i8") if is_bool else v
    memory = e.alloca(kept.element, body.width)
    e.store(kept, memory)

    def read(lane: V) -> V:
        number = e.load(kept.element, e.gep(kept.element, memory, lane))
        return e.icmp("ne", number, const("i8", 0)) if is_bool else number

    return read


class LaneResults:
    """The results of serialized lanes; those of inactive lanes are zero."""

    def __init__(self, body: Body, element: str) -> None:
        self.e, self.element = body.e, element
        self.memory = body.e.alloca(element, body.width)
        self.ty = like(V(f"<{body.width} x i1>", ""), element)
        self.e.store(const(self.ty, 0), self.memory)

    def put(self, lane: V, number: V) -> None:
        self.e.store(number, self.e.gep(self.element, self.memory, lane))

    def take(self) -> V:
        return self.e.load(self.ty, self.memory)

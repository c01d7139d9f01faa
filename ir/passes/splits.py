"""By which shapes lanes part, and so what a result must cover where they meet again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eas.ir.nodes import (
    Break,
    Condition,
    Continue,
    For,
    If,
    Leave,
    Loop,
    Op,
    While,
    regions_of,
    walk,
)
from eas.ir.types import Shape, broadcast_shapes


def union(*shapes: Shape) -> Shape:
    """The shape that all of these fit into."""
    whole: Shape = ()
    for shape in shapes:
        both = broadcast_shapes(whole, shape)
        if both is None:
            raise ValueError(f"the shapes {list(whole)} and {list(shape)} split the same lanes")
        whole = both
    return whole


def covers(shape: Shape, split: Shape) -> bool:
    """Whether a value of a shape can differ in each lane of a split."""
    return broadcast_shapes(shape, split) == shape


def has_leave(op: Op, label: int) -> bool:
    """Whether an op holds a `Leave` with this label in its regions."""
    return any(has_leave_inside(region.ops, label) for region in regions_of(op))


def has_leave_inside(ops: Iterable[Op], label: int) -> bool:
    return any((isinstance(op, Leave) and op.label == label) or has_leave(op, label) for op in ops)


def exhaustion_split(loop: Loop) -> Shape:
    """The shape by which lanes come to the end of a loop in different trips."""
    if isinstance(loop, For):
        return union(loop.start.shape, loop.stop.shape, loop.step.shape)
    test = loop.test.terminator
    assert isinstance(test, Condition)
    return test.condition.shape


def loop_split(loop: Loop) -> Shape:
    """The shape by which lanes end a loop in different trips, whatever the way."""
    leaving, _ = _exits(loop.body.ops, ())
    return union(exhaustion_split(loop), leaving)


def leave_split(ops: Sequence[Op], label: int) -> Shape:
    """The shape by which lanes part at the `Leave`s with this label."""
    shape: Shape = ()
    for op in ops:
        match op:
            case If() if has_leave(op, label):
                inner = (leave_split(region.ops, label) for region in regions_of(op))
                shape = union(shape, op.condition.shape, *inner)
            case For() | While() if has_leave(op, label):
                shape = union(shape, loop_split(op), leave_split(op.orelse.ops, label))
            case _:
                pass
    return shape


def _exits(ops: Sequence[Op], split: Shape) -> tuple[Shape, Shape]:
    """The splits of the lanes that leave the loop here, and of those that do not reach the end.

    Code after a split exit is split as well, so an exit there is one too.
    """
    leaving: Shape = ()
    gone: Shape = ()
    for op in ops:
        here = union(split, gone)
        match op:
            case Break() | Leave():
                leaving, gone = union(leaving, here), union(gone, here)
            case Continue():
                gone = union(gone, here)
            case If():
                parted = union(here, op.condition.shape)
                for region in regions_of(op):
                    more, lost = _exits(region.ops, parted)
                    leaving, gone = union(leaving, more), union(gone, lost)
            case For() | While():
                parted = union(here, loop_split(op))
                more, lost = _exits(op.orelse.ops, parted)
                if any(isinstance(inner, Leave) for inner in walk(op.body)):
                    more, lost = parted, parted
                leaving, gone = union(leaving, more), union(gone, lost)
            case _:
                pass
    return leaving, gone

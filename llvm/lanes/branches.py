"""Branches of the lanes of a few vectors, and the terminators of regions.

A uniform branch is a plain jump. Where lanes diverge, both sides run, predicated by masks.
"""

from __future__ import annotations

from eas.ir.nodes import Break, Continue, If, Region, Yield
from eas.llvm.analysis.facts import has_exit, is_pure
from eas.llvm.lanes.lane_values import Uniform
from eas.llvm.lanes.masks import is_any, narrow
from eas.llvm.lanes.slots import JoinSlots, LaneSlots, LoopFrame, Masks, MaskSlots
from eas.llvm.lanes.vector_body import Body


def run_if(body: Body, op: If, masks: Masks) -> Masks | None:
    is_masked = bool(body.loops) and body.loops[-1].labels is None
    exits = is_masked and (has_exit(op.then) or has_exit(op.orelse))
    after = MaskSlots(body, None) if exits else None
    slots = LaneSlots(body, op.results)
    if op.condition.shape:
        _run_divergent_if(body, op, masks, slots, after)
    else:
        _run_uniform_if(body, op, masks, slots, after)
    slots.take(op.results)
    return masks if after is None else after.take()


def _run_uniform_if(
    body: Body, op: If, masks: Masks, slots: LaneSlots, after: MaskSlots | None
) -> None:
    e = body.e
    then, orelse, end = e.label("then"), e.label("else"), e.label("endif")
    e.branch(body.scalar(op.condition), then, orelse)
    for label, region in ((then, op.then), (orelse, op.orelse)):
        e.begin(label)
        run_region(body, region, masks, slots, after)
        e.jump(end)
    e.begin(end)


def _run_divergent_if(
    body: Body, op: If, masks: Masks, slots: LaneSlots, after: MaskSlots | None
) -> None:
    conditions = [body.at(op.condition, body.coords_in(op.condition.shape, p)) for p in body.points]
    if all(isinstance(each, Uniform) and each.v.known for each in conditions):
        _run_inline(body, op.then, masks, slots, after)
        return
    for region, expected in ((op.then, True), (op.orelse, False)):
        here = [
            narrow(body, mask, condition, expected)
            for mask, condition in zip(masks, conditions, strict=True)
        ]
        run_divergent(body, region, here, slots, after)


def run_divergent(
    body: Body, region: Region, masks: Masks, slots: JoinSlots, after: MaskSlots | None
) -> None:
    """A region that some lanes enter. It is skipped if none does, unless it only computes."""

    def run() -> None:
        run_region(body, region, masks, slots, after, is_divergent=True)

    if is_pure(region):
        run()
    else:
        body.e.when(is_any(body, masks), run)


def run_region(
    body: Body,
    region: Region,
    masks: Masks,
    slots: JoinSlots,
    after: MaskSlots | None = None,
    is_divergent: bool = False,
) -> Masks | None:
    """Writes a region; gives the lanes that reach its end, which are added to `after` as well.

    What it yields goes to the slots; if lanes have diverged, only in the lanes that reach it.
    """
    body.scopes.append({})
    reached = _run_inline(body, region, masks, slots, after, is_divergent)
    body.scopes.pop()
    return reached


def _run_inline(
    body: Body,
    region: Region,
    masks: Masks,
    slots: JoinSlots,
    after: MaskSlots | None,
    is_divergent: bool = False,
) -> Masks | None:
    """Writes a region into the scope of the region around it."""
    reached = body.run(region, masks)
    last = region.terminator
    if reached is not None:
        if isinstance(last, Yield):
            slots.put(last.values, reached if is_divergent else None)
            if after is not None:
                after.add(reached)
        else:
            assert isinstance(last, Break | Continue)
            leave(body, last, reached)
            reached = None
    return reached


def leave(body: Body, op: Break | Continue, masks: Masks) -> None:
    """Lanes leave the innermost loop, or continue with its next trip."""
    frame: LoopFrame = body.loops[-1]
    slots = frame.results if isinstance(op, Break) else frame.carried
    slots.put(op.values, masks if frame.labels is None else None)
    if isinstance(op, Break):
        if frame.done is not None:
            frame.done.add(masks)
    elif frame.labels is None:
        assert frame.early is not None
        frame.early.add(masks)
    if frame.labels is not None:
        body.e.jump(frame.labels[isinstance(op, Break)])

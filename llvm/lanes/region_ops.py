"""The code of one op of a region, in the active lanes."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import (
    Assert,
    Atomic,
    Break,
    Compute,
    Constant,
    Continue,
    For,
    If,
    Load,
    Op,
    Print,
    Store,
    While,
)
from eas.llvm.lanes.atomics import atomic
from eas.llvm.lanes.bounds_checks import check_index
from eas.llvm.lanes.branches import leave, run_if
from eas.llvm.lanes.loops import run_loop
from eas.llvm.lanes.masks import joint_mask
from eas.llvm.lanes.memory import load, store
from eas.llvm.lanes.reports import check, show
from eas.llvm.lanes.vector_body import Body, Mask

Masks = Sequence[Mask]


def emit_op(body: Body, op: Op, masks: Masks) -> Masks | None:
    """Writes the code of an op; gives the lanes that are active after it, None if none is."""
    match op:
        case Constant():
            pass
        case Compute():
            if body.facts.is_checked_at_definition(op):
                for coords, points in body.distinct_coords(op.result.shape):
                    check_index(body, op, coords, joint_mask(body, masks, points, coords))
            if not body.facts.is_cheap(op.result):
                body.compute_now(op, op.result, lambda coords, _: body.compute(op, coords))
        case Load():
            body.compute_now(
                op, op.result, lambda c, n: load(body, op, c, joint_mask(body, masks, n, c))
            )
        case Atomic():
            body.compute_now(
                op, op.result, lambda c, n: atomic(body, op, c, joint_mask(body, masks, n, c))
            )
        case Store():
            store(body, op, masks)
        case Assert():
            for coords, points in body.distinct_coords(op.condition.shape):
                check(body, op, coords, joint_mask(body, masks, points, coords))
        case Print():
            show(body, op, masks)
        case If():
            return run_if(body, op, masks)
        case For() | While():
            return run_loop(body, op, masks)
        case Break() | Continue():
            leave(body, op, masks)
            return None
        case _:
            raise AssertionError(f"{type(op).__name__} among lanes")
    return masks

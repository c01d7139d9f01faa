"""Fuses reductions: hoists one to an earlier one, so that both need one loop and one barrier.

Two reductions with a store between them are two loops over elements with a barrier each, although
neither depends on the other. The later one is hoisted, with its operands.
"""

from __future__ import annotations

from eas.ir.nodes import (
    Atomic,
    Compute,
    Constant,
    Function,
    Load,
    Op,
    Print,
    Region,
    Store,
    is_reduction,
    operands_of,
    regions_of,
    results_of,
    walk,
)
from eas.ir.ops.simdgroup import SIMD
from eas.ir.rewrite import rebuild
from eas.ir.types import Pointer
from eas.msl.layout.layout import axis_of
from eas.support.records import frozen, replace


def fuse_reductions(function: Function) -> Function:
    """The function with reductions hoisted to earlier ones of the same region."""
    ops = list(walk(function.body))
    if sum(map(is_reduction, ops)) < 2:
        return function
    written = frozenset(op.pointer for op in ops if isinstance(op, Store | Atomic))
    return replace(function, body=_Change(written).region(function.body))


def _is_collective_reduction(op: Compute) -> bool:
    """Whether a reduction needs a barrier; one along another axis is a loop in each owner."""
    if not is_reduction(op):
        return False
    axis = axis_of(op)
    return not op.result.shape or (axis.after == 1 and axis.extent % SIMD == 0)


def _are_alike(a: Compute, b: Compute) -> bool:
    return a.operands[0].shape == b.operands[0].shape and a.result.shape == b.result.shape


@frozen
class _Change:
    written: frozenset[object]

    def region(self, region: Region) -> Region:
        ops: list[Op] = []
        for op in region.ops:
            if isinstance(op, Compute) and _is_collective_reduction(op):
                self.insert(op, ops)
            else:
                ops.append(rebuild(op, inner=self.region) if regions_of(op) else op)
        return Region(region.args, tuple(ops))

    def insert(self, op: Compute, ops: list[Op]) -> None:
        """Hoists a reduction behind an earlier one if effects stand between, else appends it."""
        place = self.place_for(op, ops)
        after = ops[place:]
        needed = self.needed(op, after)
        if needed is None:
            ops.append(op)
            return
        ops[place:] = [*needed, op, *(each for each in after if each not in needed)]

    def place_for(self, op: Compute, ops: list[Op]) -> int:
        """The index behind a reduction of the same shapes, if `op` may pass what follows it."""
        place = len(ops)
        for number in range(len(ops) - 1, -1, -1):
            before = ops[number]
            if isinstance(before, Compute) and _is_collective_reduction(before):
                passes = any(isinstance(each, Store | Atomic | Print) for each in ops[number:])
                return number + 1 if passes and _are_alike(before, op) else place
            if not self.may_pass(before):
                return place
        return place

    def may_pass(self, op: Op) -> bool:
        return isinstance(op, Store | Atomic | Print) or self.is_movable(op)

    def is_movable(self, op: Op) -> bool:
        """Whether an op gives the same result at an earlier position."""
        if isinstance(op, Load):
            is_device = isinstance(op.pointer.ty, Pointer) and op.pointer.ty.space == "device"
            return is_device and op.pointer not in self.written
        if isinstance(op, Compute):
            return op.op.view or not op.op.collective
        return isinstance(op, Constant)

    def needed(self, op: Op, after: list[Op]) -> list[Op] | None:
        """The operands of an op among those that it passes; None if one of them cannot move."""
        values = set(operands_of(op))
        found: list[Op] = []
        for each in reversed(after):
            if values.isdisjoint(results_of(each)):
                continue
            if not self.is_movable(each):
                return None
            found.append(each)
            values.update(operands_of(each))
        return found[::-1]

"""Removes divergent `Continue`s from loops that are uniform over all threads.

Some lanes of such a loop would be in the next trip already, while others are still in this one. So
the rest of the body moves to the other branch of the `If`, as for a `return`.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.analysis import divergences
from eas.ir.builder import Builder
from eas.ir.nodes import (
    Continue,
    For,
    Function,
    If,
    Leave,
    Op,
    Region,
    Scope,
    Value,
    While,
    Yield,
)
from eas.ir.passes.exits import lower_exits
from eas.ir.rewrite import builder_for, rebuild, renumber, rewrite, same
from eas.support.records import field, record, replace


def without_lane_continues(function: Function, shared: set[int]) -> Function:
    """The function without `Continue`s that split lanes of the loops with these numbers."""
    found = divergences(function)
    loops = {
        name
        for name, each in found.items()
        if name in shared and each.carried is not None and each.carried.split is not None
    }
    if not loops:
        return function
    body = rewrite(function.body, _Scopes(loops, builder_for(function)).change)
    return renumber(lower_exits(replace(function, body=body)))


@record
class _Scopes:
    """Wraps the bodies of loops in scopes; `labels` counts them."""

    loops: set[int]
    build: Builder
    labels: int = field(default=0)

    def change(self, op: Op, old: Op) -> Sequence[Op] | None:
        if not isinstance(op, For | While) or op.number not in self.loops:
            return None
        return [replace(op, body=self.scope(op.body, op))]

    def scope(self, body: Region, op: For | While) -> Region:
        carried = body.args[1:] if isinstance(op, For) else body.args
        results: tuple[Value, ...] = tuple(self.build.value(v.ty, v.hint) for v in carried)
        self.labels += 1
        inner = Region((), _as_leaves(body.ops, self.labels))
        scope = Scope(self.labels, inner, results, op.loc)
        return Region(body.args, (scope, Yield(results, body.terminator.loc)))


def _as_leaves(ops: tuple[Op, ...], label: int) -> tuple[Op, ...]:
    """The ops of a body whose `Continue`s leave a scope instead."""
    return tuple(_as_leave(op, label) for op in ops)


def _as_leave(op: Op, label: int) -> Op:
    def inner(region: Region) -> Region:
        return Region(region.args, _as_leaves(region.ops, label))

    match op:
        case Continue():
            return Leave(label, op.values, op.loc)
        case If():
            return rebuild(op, same, same, inner)
        case For() | While():
            return replace(op, orelse=inner(op.orelse))
        case _:
            return op

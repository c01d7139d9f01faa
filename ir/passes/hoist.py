"""Loop-invariant motion: what every trip of a loop computes equally is hoisted above it.

Only ops that stand in the loop itself move; those in a branch may never run, and stay there.
"""

from __future__ import annotations

from eas.ir.nodes import (
    Compute,
    Function,
    Loop,
    Op,
    Pure,
    Region,
    operands_of,
    regions_of,
    results_of,
)
from eas.ir.passes.purity import Literal, can_fault, note_literal
from eas.ir.rewrite import rebuild
from eas.support.records import field, record, replace


def hoist(f: Function) -> Function:
    """The function with pure ops that cannot fault moved out of the loops they do not depend on."""
    if not any(regions_of(op) for op in f.body.ops):
        return f
    hoister = _Hoister()
    for param in f.params:
        hoister.depths[param.value.id] = 0
    return replace(f, body=hoister.region(f.body))


@record
class _Hoister:
    """`loops` has one item for each region around: the ops to put before the loop, or None.

    `depths` has the number of regions around the definition of a value.
    """

    loops: list[list[Op] | None] = field(default_factory=list[list[Op] | None])
    depths: dict[int, int] = field(default_factory=dict[int, int])
    known: dict[int, Literal] = field(default_factory=dict[int, Literal])

    def region(self, region: Region, before: list[Op] | None = None) -> Region:
        self.loops.append(before)
        for value in region.args:
            self.depths[value.id] = len(self.loops)
        ops: list[Op] = []
        for op in region.ops:
            note_literal(op, self.known)
            if isinstance(op, Loop):
                ops += self.loop(op)
            else:
                self.place(op, ops)
        self.loops.pop()
        return Region(region.args, tuple(ops))

    def loop(self, op: Loop) -> list[Op]:
        before: list[Op] = []

        def inner(region: Region) -> Region:
            return self.region(region, None if region is op.orelse else before)

        changed = rebuild(op, inner=inner)
        self.define(op, len(self.loops))
        return [*before, changed]

    def place(self, op: Op, ops: list[Op]) -> None:
        """Puts an op at the end of these, or before the outermost loop that it may leave."""
        depth = len(self.loops)
        if isinstance(op, Pure):
            needed = max((self.depths[value.id] for value in operands_of(op)), default=0)
            if needed < depth and not (isinstance(op, Compute) and can_fault(op, self.known)):
                while depth > needed and (before := self.loops[depth - 1]) is not None:
                    ops = before
                    depth -= 1
        elif regions_of(op):
            op = rebuild(op, inner=self.region)
        self.define(op, depth)
        ops.append(op)

    def define(self, op: Op, depth: int) -> None:
        for value in results_of(op):
            self.depths[value.id] = depth

"""Rewrites products of matrices: simdgroups do them, with accumulators in registers.

A block that an accumulator replaces is no value any more: no loop carries it, no branch yields it.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.aliasing.in_place import find_places
from eas.ir.nodes import (
    Compute,
    For,
    Function,
    If,
    Load,
    Op,
    Region,
    Terminator,
    Value,
    While,
    regions_of,
    walk,
)
from eas.ir.rewrite import builder_for, rebuild, with_values
from eas.msl.analysis.facts import gather
from eas.msl.layout.layout import Budget
from eas.msl.ops.mma import fits_fragments
from eas.msl.rewrites.accumulators import Accumulators, find_accumulators
from eas.msl.rewrites.tiling import Tiling
from eas.support.records import record, replace


def dot_to_mma(function: Function, budget: Budget) -> Function:
    """The function with each `dot` that simdgroups can do as ops of `eas.msl.ops.mma`."""
    dots = [op for op in walk(function.body) if isinstance(op, Compute) and op.op.name == "dot"]
    if not any(map(fits_fragments, dots)):
        return function
    accumulators = find_accumulators(function, fits_fragments)
    fitting = list(filter(fits_fragments, dots))
    places = find_places(function, fitting, lambda: gather(function))
    tiling = Tiling(builder_for(function), accumulators, budget, places)
    tiling.replace_dots(dots)
    body = _Change(accumulators, tiling).region(function.body)
    return replace(function, body=Region(body.args, (*tiling.used_allocs(), *body.ops)))


@record
class _Change:
    accumulators: Accumulators
    tiling: Tiling

    def region(self, region: Region) -> Region:
        """A region without the versions of accumulators."""
        ops: list[Op] = []
        for op in region.ops:
            ops += self.tiling.before.get(op.number, [])
            ops += self.op(op)
            ops += self.tiling.after.get(op.number, [])
        return Region(self.others(region.args), tuple(ops))

    def op(self, op: Op) -> list[Op]:
        match op:
            case Compute() | Load() if op.result in self.tiling.places.unused:
                return []
            case Compute():
                is_gone = op.result in self.accumulators.absorbed  # the next product does it
                return [] if is_gone else self.tiling.instead.get(op.result, [op])
            case For() | While():
                return [self.loop(op)]
            case If():
                then, orelse = self.region(op.then), self.region(op.orelse)
                results = self.results_of(op)
                return [replace(op, then=then, orelse=orelse, results=results)]
            case _ if isinstance(op, Terminator):
                dropped = self.accumulators.dropped.get(op.number, ())
                return [with_values(op, [v for n, v in enumerate(op.values) if n not in dropped])]
            case _:
                return [rebuild(op, inner=self.region) if regions_of(op) else op]

    def loop(self, op: For | While) -> For | While:
        carried = zip(op.orelse.args, op.inits, strict=True)
        inits = tuple(init for value, init in carried if value not in self.accumulators.versions)
        body, orelse, results = self.region(op.body), self.region(op.orelse), self.results_of(op)
        if isinstance(op, For):
            return replace(op, inits=inits, body=body, orelse=orelse, results=results)
        test = self.region(op.test)
        return replace(op, inits=inits, test=test, body=body, orelse=orelse, results=results)

    def others(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """Those of some values that are no versions of accumulators."""
        return tuple(value for value in values if value not in self.accumulators.versions)

    def results_of(self, op: For | While | If) -> tuple[Value, ...]:
        """The results that control flow still gives; an epilogue gives an accumulator's last."""
        last = {each.result for each in self.accumulators.found}
        return tuple(value for value in self.others(op.results) if value not in last)

"""Induction variables of block type: blocks of integers that a loop advances by uniform steps.

The loop carries the distance from the first block instead, one scalar for all lanes. So each trip's
block is the first one plus a scalar, and its affine form is still known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eas.ir.aliasing.affine_forms import AffineForms, Form, is_never, own_indices
from eas.ir.analysis import divergences
from eas.ir.builder import Builder
from eas.ir.nodes import (
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    Function,
    Loop,
    Op,
    Region,
    Terminator,
    Value,
    Yield,
    regions_of,
    walk,
)
from eas.ir.ops import OPS
from eas.ir.rewrite import builder_for, renumber, rewrite, with_values
from eas.ir.types import Scalar
from eas.support.records import frozen, replace


def simplify_induction(f: Function) -> Function:
    """The function whose loops carry scalar distances instead of blocks that they only advance."""
    if not any(isinstance(op, Loop) and any(v.shape for v in op.inits) for op in walk(f.body)):
        return f
    makers = {op.result.id: op for op in walk(f.body) if isinstance(op, Compute)}
    forms = AffineForms(lambda value: makers.get(value.id) if value.shape else None, is_never)
    split = {key for key, each in divergences(f).items() if each.inside}
    induction = _Induction(builder_for(f), forms, split)
    return renumber(replace(f, body=rewrite(f.body, induction.change)))


@frozen
class _Induction:
    """`forms` are exact in wrapping arithmetic, `split` the loops in which lanes diverge."""

    build: Builder
    forms: AffineForms
    split: set[int]

    def change(self, op: Op, old: Op) -> Sequence[Op] | None:
        if not isinstance(op, Loop) or not isinstance(old, Loop):
            return None
        if op.number in self.split or _continues(old.body):
            return None
        moves = {place: by for place in range(len(op.inits)) if (by := self.moves(old, place))}
        return self.with_distances(op, moves) if moves else None

    def moves(self, op: Loop, place: int) -> Sequence[Value]:
        """The numbers that each trip adds to all lanes of a carried block; none if it does more."""
        init, first = op.inits[place], isinstance(op, For)
        if not init.shape or not init.ty.dtype.is_int:
            return ()
        if not isinstance(op, For):
            test = op.test.terminator
            assert isinstance(test, Condition)
            if test.values[place] != op.test.args[place]:
                return ()
        last = op.body.terminator
        if not isinstance(last, Yield):
            return ()  # there is no next trip
        return self.added(last.values[place], op.body.args[place + first])

    def added(self, value: Value, start: Value) -> Sequence[Value]:
        """The scalars that were added to `start` to get a value; none if it is anything else."""
        indices = own_indices(value.shape)
        form = self.forms.of(value, indices)
        rest = replace(form, shared={}, unknown={})
        is_sum = form.unknown == {(start, indices): 1} and rest == Form()
        if not is_sum or any(v.shape or times < 0 for v, times in form.shared.items()):
            return ()
        return [number for number, times in form.shared.items() for _ in range(times)]

    def with_distances(self, op: Loop, moves: Mapping[int, Sequence[Value]]) -> Sequence[Op]:
        zeros: dict[int, Value] = {}
        before: list[Op] = []
        for place in moves:
            zeros[place] = self.scalar(op.inits[place])
            before.append(Constant(0, zeros[place], op.loc))
        inits = tuple(zeros.get(place, value) for place, value in enumerate(op.inits))
        body = self.inside(op, op.body, int(isinstance(op, For)), moves, steps=True)
        orelse = self.inside(op, op.orelse, 0, moves)
        if isinstance(op, For):
            return [*before, replace(op, inits=inits, body=body, orelse=orelse)]
        test = self.inside(op, op.test, 0, moves)
        return [*before, replace(op, inits=inits, test=test, body=body, orelse=orelse)]

    def inside(
        self,
        op: Loop,
        region: Region,
        first: int,
        moves: Mapping[int, Sequence[Value]],
        steps: bool = False,
    ) -> Region:
        """A region that is entered with distances; at its end they are advanced and passed on."""
        self.build.ops, self.build.loc = [], op.loc
        args, distances = list(region.args), dict[int, Value]()
        for place in moves:
            block = args[place + first]
            distances[place] = args[place + first] = self.scalar(block)
            far = self.build.compute("splat", distances[place], shape=block.shape)
            self.build.emit(Compute(OPS["add"], (op.inits[place], far), (), block, op.loc))
        start, last = self.build.ops, region.terminator
        assert isinstance(last, Terminator)
        self.build.ops = []
        if steps or isinstance(last, Condition):
            last = with_values(last, self.passed(last, distances, moves if steps else {}))
        return Region(tuple(args), (*start, *region.ops[:-1], *self.build.ops, last))

    def passed(
        self,
        last: Terminator,
        distances: Mapping[int, Value],
        moves: Mapping[int, Sequence[Value]],
    ) -> Sequence[Value]:
        values = list(last.values)
        for place, distance in distances.items():
            values[place] = distance
            for number in moves.get(place, ()):
                values[place] = self.build.compute("add", values[place], number)
        return values

    def scalar(self, block: Value) -> Value:
        return self.build.value(Scalar(block.ty.dtype))


def _continues(region: Region) -> bool:
    """Whether a trip may end before the end of the body."""
    return any(
        isinstance(op, Continue)
        or (not isinstance(op, Loop) and any(map(_continues, regions_of(op))))
        for op in region.ops
    )

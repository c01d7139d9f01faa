"""Offsets that wrap: a second computation of them in i64, for launches in which they may.

An offset, or an index, is traced back through `+`, `-`, `*`, changes of shape, conversions to wider
types, branches and loops. Other operands (a load, `%`, `>>`, `^`, `&`, a selection, a conversion to
a narrower type) are taken as they are: hashes and random numbers wrap on purpose. So does
arithmetic in u8 and u16. Where the ranges of a launch show that no sum or product wraps, nothing is
computed twice.

The exact values are in i64, where they may wrap themselves. They equal the true values modulo
2**64, so a correct offset is never reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Atomic,
    Break,
    Compute,
    Condition,
    Continue,
    For,
    Function,
    If,
    Leave,
    Load,
    Loop,
    Op,
    Region,
    Scope,
    Store,
    Terminator,
    Value,
    While,
    Yield,
    regions_of,
    walk,
)
from eas.ir.passes.ranges import analyze_launch
from eas.ir.rewrite import builder_for, carried_by, loop_exits, with_values
from eas.ir.types import I64, DType, make_type
from eas.support.records import field, record, replace

_ARITHMETIC = frozenset({"add", "sub", "mul", "neg"})
_MODULAR = frozenset({"u8", "u16"})

# The operands that a value is traced back to, by its id.
Sources = dict[int, list[Value]]


def with_exact_offsets(
    f: Function, arguments: Mapping[int, int], grid: Sequence[int]
) -> tuple[Function, dict[int, int]]:
    """The function, with exact offsets beside those that may wrap in this launch.

    Gives the ids of the exact ones by those of the others. `arguments` are the integers of the
    launch by the ids of their parameters.
    """
    sources = _sources_of(f)
    followed = _closure([value.id for value in _addresses(f)], _ids(sources))
    if not any(_may_wrap(op, followed) for op in walk(f.body)):
        return f, {}
    wrapping = analyze_launch(f, arguments, grid).wrapping
    first = [op for op in walk(f.body) if _may_wrap(op, followed) and op.result.id in wrapping]
    if not first:
        return f, {}
    inexact = _closure([op.result.id for op in first], _uses(sources, followed))
    change = _Change(builder_for(f), inexact)
    body = change.region(f.body, ())
    exact = {id: value.id for id, value in change.exact.items()}
    return replace(f, body=body), exact


def _addresses(f: Function) -> Iterator[Value]:
    for op in walk(f.body):
        match op:
            case Load() | Store() | Atomic():
                yield op.offset
            case Compute() if op.op.name == "index":
                yield op.operands[0]
            case _:
                pass


def _may_wrap(op: Op, followed: set[int]) -> TypeGuard[Compute]:
    if not isinstance(op, Compute) or op.op.name not in _ARITHMETIC:
        return False
    dtype = op.result.ty.dtype
    return op.result.id in followed and dtype.bits < 64 and dtype.name not in _MODULAR


def _sources_of(f: Function) -> Sources:
    found: Sources = {}
    for op in walk(f.body):
        match op:
            case Compute() if _is_followed(op):
                found[op.result.id] = list(op.operands)
            case If():
                _pass_on(op.results, _yielded(regions_of(op)), found)
            case For() | While():
                _add_loop(op, found)
            case Scope():
                _pass_on(op.results, [*_leaves(op), *_yielded([op.body])], found)
            case _:
                pass
    return found


def _is_followed(op: Compute) -> bool:
    name, dtype = op.op.name, op.result.ty.dtype
    if not dtype.is_int:
        return False
    return name in _ARITHMETIC or op.op.view or _widens(op)


def _widens(op: Compute) -> bool:
    """Whether it is an integer conversion that preserves every value."""
    if op.op.name != "cast":
        return False
    old, new = op.operands[0].ty.dtype, op.result.ty.dtype
    return old.is_int and new.is_int and _holds(new, old)


def _holds(new: DType, old: DType) -> bool:
    return new.min <= old.min and old.max <= new.max


def _yielded(regions: Iterable[Region]) -> list[Sequence[Value]]:
    ends = [region.terminator for region in regions]
    return [end.values for end in ends if isinstance(end, Yield)]


def _pass_on(targets: Sequence[Value], rows: Iterable[Sequence[Value]], found: Sources) -> None:
    for row in rows:
        for target, value in zip(targets, row, strict=True):
            if target.ty.dtype.is_int:
                found.setdefault(target.id, []).append(value)


def _leaves(scope: Scope) -> list[Sequence[Value]]:
    inside = (op for op in walk(scope.body) if isinstance(op, Leave))
    return [op.values for op in inside if op.label == scope.label]


def _add_loop(op: Loop, found: Sources) -> None:
    exits = list(loop_exits(op.body))
    again = [each.values for each in exits if isinstance(each, Continue)]
    left = [each.values for each in exits if isinstance(each, Break)]
    _pass_on(carried_by(op), [op.inits, *_yielded([op.body]), *again], found)
    if isinstance(op, While):
        test = op.test.terminator
        assert isinstance(test, Condition)
        _pass_on(op.body.args, [test.values], found)
        _pass_on(op.orelse.args, [test.values], found)
    else:
        _pass_on(op.orelse.args, [carried_by(op)], found)
    _pass_on(op.results, [*left, *_yielded([op.orelse])], found)


def _ids(sources: Sources) -> dict[int, list[int]]:
    return {id: [value.id for value in values] for id, values in sources.items()}


def _uses(sources: Sources, followed: set[int]) -> dict[int, list[int]]:
    """The inverse relation, among values that are traced."""
    found: dict[int, list[int]] = {}
    for id, values in sources.items():
        for value in values if id in followed else ():
            found.setdefault(value.id, []).append(id)
    return found


def _closure(start: Iterable[int], edges: Mapping[int, Sequence[int]]) -> set[int]:
    found: set[int] = set()
    waiting = list(start)
    while waiting:
        id = waiting.pop()
        if id not in found:
            found.add(id)
            waiting += edges.get(id, ())
    return found


@record
class _Change:
    """Adds the exact value of each value that may be `inexact`.

    `loops` are the positions of the results and of the carried values that have exact values, for
    the loops around, the innermost last; `scopes` are those of the results of scopes, by label.
    """

    build: Builder
    inexact: set[int]
    exact: dict[int, Value] = field(default_factory=dict[int, Value])
    loops: list[tuple[list[int], list[int]]] = field(
        default_factory=list[tuple[list[int], list[int]]]
    )
    scopes: dict[int, list[int]] = field(default_factory=dict[int, list[int]])

    def region(self, region: Region, places: Sequence[int], args: Sequence[Value] = ()) -> Region:
        """A region that also yields the exact values of those that it yields at `places`."""
        ops: list[Op] = []
        for op in region.ops[:-1]:
            ops += self.op(op)
        end = region.terminator
        assert isinstance(end, Terminator)
        match end:
            case Break():
                places = self.loops[-1][0]
            case Continue():
                places = self.loops[-1][1]
            case Leave():
                places = self.scopes[end.label]
            case _:
                pass
        self.build.ops, self.build.loc = [], end.loc
        more = [self.of(end.values[place]) for place in places]
        end = with_values(end, [*end.values, *more]) if more else end
        return Region((*region.args, *args), (*ops, *self.build.ops, end))

    def op(self, op: Op) -> Sequence[Op]:
        match op:
            case Compute() if op.result.id in self.inexact:
                return [op, *self.compute(op)]
            case If():
                return [self.branch(op)]
            case For() | While():
                return self.loop(op)
            case Scope():
                return [self.scope(op)]
            case _:
                return [op]

    def compute(self, op: Compute) -> Sequence[Op]:
        self.build.ops, self.build.loc = [], op.loc
        operands = [self.of(value) for value in op.operands]
        if _widens(op):
            self.exact[op.result.id] = operands[0]
        else:
            made = self.build.compute(op.op.name, *operands, **dict(op.attrs))
            self.exact[op.result.id] = made
        return self.build.ops

    def of(self, value: Value) -> Value:
        """The exact value of a value; one that cannot have wrapped is converted."""
        found = self.exact.get(value.id)
        if found is None:
            found = self.build.compute("cast", value, dtype=I64)
        return found

    def branch(self, op: If) -> Op:
        places = self.places(op.results)
        then, orelse = (self.region(inner, places) for inner in (op.then, op.orelse))
        return replace(op, then=then, orelse=orelse, results=self.extended(op.results, places))

    def scope(self, op: Scope) -> Op:
        places = self.scopes[op.label] = self.places(op.results)
        body = self.region(op.body, places)
        return replace(op, body=body, results=self.extended(op.results, places))

    def loop(self, op: Loop) -> Sequence[Op]:
        own = carried_by(op)
        lists = [own, op.orelse.args, *([op.body.args] if isinstance(op, While) else [])]
        carried = sorted({place for values in lists for place in self.places(values)})
        results = self.places(op.results)
        self.build.ops, self.build.loc = [], op.loc
        inits = (*op.inits, *(self.of(op.inits[place]) for place in carried))
        before = self.build.ops
        self.loops.append((results, carried))
        if isinstance(op, While):
            test = self.inside(op.test, op.test.args, carried, carried)
            body = self.inside(op.body, op.body.args, carried, carried)
        else:
            test = None
            body = self.inside(op.body, own, carried, carried)
        self.loops.pop()
        orelse = self.inside(op.orelse, op.orelse.args, carried, results)
        made = self.extended(op.results, results)
        if isinstance(op, For):
            return [*before, replace(op, inits=inits, body=body, orelse=orelse, results=made)]
        assert test is not None
        changed = replace(op, inits=inits, test=test, body=body, orelse=orelse, results=made)
        return [*before, changed]

    def inside(
        self, region: Region, args: Sequence[Value], given: Sequence[int], passed: Sequence[int]
    ) -> Region:
        """A region of a loop with further arguments: the exact values of some of its arguments."""
        more = [self.fresh(args[place]) for place in given]
        return self.region(region, passed, more)

    def places(self, values: Sequence[Value]) -> list[int]:
        return [place for place, value in enumerate(values) if value.id in self.inexact]

    def extended(self, values: Sequence[Value], places: Sequence[int]) -> tuple[Value, ...]:
        return (*values, *(self.fresh(values[place]) for place in places))

    def fresh(self, value: Value) -> Value:
        found = self.exact[value.id] = self.build.value(make_type(I64, value.shape))
        return found

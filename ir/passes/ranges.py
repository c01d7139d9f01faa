"""Integer range analysis: between which bounds each integer of a function lies.

Bounds come from constants, positions and the conditions that a value has passed. The index of a
program has no bound of its own, so its part in a value is separate: an `Interval` may grow with
the number of programs. Where such a value would overflow for a large grid, the grid is limited
instead (`Ranges.programs`): a launch of more programs is refused, and the rest relies on that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from eas.ir.nodes import (
    Break,
    Combine,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    Function,
    If,
    Leave,
    Loop,
    Op,
    Region,
    Scope,
    Value,
    While,
    Yield,
    operands_of,
    regions_of,
    results_of,
)
from eas.ir.ops.arithmetic import OPPOSITES
from eas.ir.types import DType
from eas.support.records import field, frozen, record

# A grid of this many programs is always possible; a tighter limit counts as an overflow instead.
_LEAST_LIMIT = 1 << 20
MOST_PROGRAMS = (1 << 31) - 1
_MOST_TRIPS = 8
_MOST_NARROWINGS = 2


@frozen
class Interval:
    """From `low` to `high + growth * p`, both included, in a grid of up to p + 1 programs."""

    low: int
    high: int
    growth: int = 0

    def join(self, other: Interval) -> Interval:
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Interval(low, high, max(self.growth, other.growth))

    def within(self, low: int, high: int) -> Interval:
        """What remains under a condition; a contradiction leaves the interval alone."""
        low = max(self.low, low)
        if self.growth and high >= MOST_PROGRAMS:  # says nothing about the programs
            return Interval(low, self.high, self.growth)
        high = high if self.growth else min(self.high, high)
        return Interval(low, high) if low <= high else self

    def covers(self, other: Interval) -> bool:
        inside = self.low <= other.low and other.high <= self.high
        return inside and other.growth <= self.growth


@record
class Ranges:
    """What is known of a function's integers.

    `values` holds the interval of each integer or bool value; `uses` those of an op's operands at
    the place of the op, where conditions may say more; `wrapping` the ids of results that may
    overflow; `programs` the most programs per axis that the rest relies on.
    """

    values: dict[int, Interval] = field(default_factory=dict[int, Interval])
    uses: dict[int, tuple[Interval | None, ...]] = field(
        default_factory=dict[int, tuple[Interval | None, ...]]
    )
    wrapping: set[int] = field(default_factory=set[int])
    programs: int = MOST_PROGRAMS

    def bounds(self, value: Value) -> tuple[int, int] | None:
        """The least and the greatest number that a value can be."""
        found = self.values.get(value.id)
        return None if found is None else _bounds(found, value.ty.dtype)


def analyze(f: Function) -> Ranges:
    """The ranges of all integers of a function."""
    analysis = _Analysis()
    for param in f.params:
        if param.role == "extent":
            analysis.found.values[param.value.id] = Interval(0, param.value.ty.dtype.max)
    analysis.region(f.body)
    return analysis.found


def analyze_launch(f: Function, arguments: Mapping[int, int], grid: Sequence[int]) -> Ranges:
    """The ranges in a launch with these integers, by the ids of their parameters.

    An index is within its axis here: where it is not, that is reported, and nothing comes after.
    """
    analysis = _Analysis(grid)
    for id, number in arguments.items():
        analysis.found.values[id] = Interval(number, number)
    analysis.region(f.body)
    return analysis.found


def ranges(f: Function) -> dict[Value, tuple[int, int]]:
    """The least and the greatest number that each integer value can be."""
    found = analyze(f)
    values = [param.value for param in f.params]
    _collect(f.body, values)
    pairs = ((value, found.bounds(value)) for value in values)
    return {value: bounds for value, bounds in pairs if bounds is not None}


def _collect(region: Region, values: list[Value]) -> None:
    values += region.args
    for op in region.ops:
        values += results_of(op)
        for inner in regions_of(op):
            _collect(inner, values)


def _bounds(interval: Interval, dtype: DType) -> tuple[int, int]:
    return interval.low, dtype.max if interval.growth else interval.high


def _whole(value: Value) -> Interval | None:
    return _all_numbers(value.ty.dtype)


@cache
def _all_numbers(dtype: DType) -> Interval | None:
    return None if dtype.is_float else Interval(dtype.min, dtype.max)


class _Analysis:
    """Walks a function once, loops a few times, and stores what it learns in `found`."""

    def __init__(self, grid: Sequence[int] | None = None) -> None:
        self.grid = grid
        self.found = Ranges()
        self.defined: dict[int, Compute] = {}
        self.exits: list[tuple[list[Sequence[Value]], list[Sequence[Value]]]] = []
        self.leaves: dict[int, list[Sequence[Value]]] = {}

    def of(self, value: Value) -> Interval | None:
        return self.found.values.get(value.id) or _whole(value)

    def intervals(self, values: Sequence[Value]) -> tuple[Interval | None, ...]:
        return tuple([self.of(value) for value in values])

    def number(self, value: Value) -> Interval:
        found = self.of(value)
        assert found is not None
        return found

    def region(self, region: Region) -> None:
        for op in region.ops:
            self.op(op)

    def op(self, op: Op) -> None:
        match op:
            case Constant():
                if not op.result.ty.dtype.is_float:
                    self.set(op.result, Interval(int(op.value), int(op.value)))
            case Compute():
                self.compute(op)
            case Combine():
                self.found.uses[op.number] = self.intervals(op.operands)
                self.region(op.body)
            case If():
                self.branch(op)
            case For():
                self.count(op)
            case While():
                self.repeat(op)
            case Scope():
                self.scope(op)
            case Leave():
                self.leaves[op.label].append(op.values)
            case Break():
                self.exits[-1][0].append(op.values)
            case Continue():
                self.exits[-1][1].append(op.values)
            case _:
                self.found.uses[op.number] = self.intervals(operands_of(op))

    def set(self, value: Value, interval: Interval | None) -> None:
        if interval is not None:
            self.found.values[value.id] = interval

    def compute(self, op: Compute) -> None:
        self.defined[op.result.id] = op
        operands = self.intervals(op.operands)
        self.found.uses[op.number] = operands
        self.found.values.pop(op.result.id, None)  # what an earlier trip of a loop said
        dtype = op.result.ty.dtype
        if dtype.is_float:
            return
        kind = op.op.reduction
        rule = _REDUCTIONS.get(kind) if kind else _RULES.get(op.op.name)
        known = [operand for operand in operands if operand is not None]
        if rule is None or len(known) < len(operands):
            return
        exact = rule(known, op, dtype)
        if self.grid is not None:
            exact = _in_launch(self.grid, op, known, exact)
        if exact is not None:
            self.set(op.result, self.fit(op, exact, dtype))

    def fit(self, op: Compute, exact: Interval, dtype: DType) -> Interval | None:
        """The interval, if it cannot overflow in a grid of a reasonable size."""
        wraps, wrapping = op.result.id, self.found.wrapping
        wrapping.discard(wraps)
        limit = MOST_PROGRAMS
        if exact.growth > 0:
            limit = (dtype.max - exact.high) // exact.growth + 1
        if exact.low < dtype.min or exact.high > dtype.max or limit < _LEAST_LIMIT:
            wrapping.add(wraps)
            return Interval(dtype.min, dtype.max)
        self.found.programs = min(self.found.programs, limit)
        return exact

    def branch(self, op: If) -> None:
        for region, truth in ((op.then, True), (op.orelse, False)):
            saved = self.assume(op.condition, truth)
            self.region(region)
            self.found.values.update(saved)
        ends = [
            r.terminator.values for r in (op.then, op.orelse) if isinstance(r.terminator, Yield)
        ]
        self.join(op.results, ends)

    def scope(self, op: Scope) -> None:
        self.leaves[op.label] = []
        self.region(op.body)
        end = op.body.terminator
        ends = [end.values] if isinstance(end, Yield) else []
        self.join(op.results, [*self.leaves.pop(op.label), *ends])

    def join(self, targets: Sequence[Value], sources: Iterable[Sequence[Value]]) -> None:
        rows = list(sources)
        for place, target in enumerate(targets):
            if target.ty.dtype.is_float or not rows:
                continue
            joined = self.number(rows[0][place])
            for row in rows[1:]:
                joined = joined.join(self.number(row[place]))
            self.set(target, joined)

    def count(self, op: For) -> None:
        counter, carried = op.body.args[0], op.body.args[1:]
        self.set(counter, self.counter(op))

        def trip() -> list[Sequence[Value]]:
            self.region(op.body)
            end = op.body.terminator
            return [end.values] if isinstance(end, Yield) else []

        breaks = self.settle(carried, op.inits, trip)
        self.finish(op, carried, breaks)

    def counter(self, op: For) -> Interval:
        start, stop, step = (self.number(v) for v in (op.start, op.stop, op.step))
        low = start.low if step.low > 0 else min(start.low, stop.low + 1)
        if step.high < 0:
            return Interval(min(start.low, stop.low + 1), start.high, start.growth)
        high = stop.high - 1 if step.low > 0 else max(start.high, stop.high - 1)
        growth = max(start.growth, stop.growth)
        return Interval(low, max(high, low), growth)

    def repeat(self, op: While) -> None:
        def trip() -> list[Sequence[Value]]:
            self.region(op.test)
            test = op.test.terminator
            assert isinstance(test, Condition)
            self.pass_on(test, op.body.args, True)
            self.region(op.body)
            end = op.body.terminator
            return [end.values] if isinstance(end, Yield) else []

        breaks = self.settle(op.test.args, op.inits, trip)
        test = op.test.terminator
        assert isinstance(test, Condition)
        self.pass_on(test, op.orelse.args, False)
        self.region(op.orelse)
        self.leave(op, breaks)

    def pass_on(self, test: Condition, args: Sequence[Value], truth: bool) -> None:
        saved = self.assume(test.condition, truth)
        self.join(args, [test.values])
        self.found.values.update(saved)

    def finish(self, op: For, carried: Sequence[Value], breaks: list[Sequence[Value]]) -> None:
        self.join(op.orelse.args, [carried])
        self.region(op.orelse)
        self.leave(op, breaks)

    def leave(self, op: Loop, breaks: list[Sequence[Value]]) -> None:
        end = op.orelse.terminator
        self.join(op.results, [*breaks, *([end.values] if isinstance(end, Yield) else [])])

    def settle(
        self,
        carried: Sequence[Value],
        inits: Sequence[Value],
        trip: Callable[[], list[Sequence[Value]]],
    ) -> list[Sequence[Value]]:
        """Repeats a trip until the carried intervals hold for all of them; gives the breaks.

        What grows twice is widened to the end of its type; once the intervals hold, a further
        trip or two may narrow them again (the condition of a loop bounds its counter).
        """
        self.join(carried, [inits])
        narrowed = 0
        for attempt in range(_MOST_TRIPS):
            old = [self.of(value) for value in carried]
            breaks, ends = self.trip(trip)
            self.join(carried, [inits, *ends])
            new = [self.of(value) for value in carried]
            if all(a is None or b is None or a.covers(b) for a, b in zip(old, new, strict=True)):
                if new == old or narrowed == _MOST_NARROWINGS:
                    return breaks
                narrowed += 1
                continue
            for value, before, after in zip(carried, old, new, strict=True):
                self.set(value, _grown(value, before, after, widen=attempt > 0))
        for value in carried:
            self.set(value, _whole(value))
        return self.trip(trip)[0]

    def trip(
        self, run: Callable[[], list[Sequence[Value]]]
    ) -> tuple[list[Sequence[Value]], list[Sequence[Value]]]:
        """One trip of a loop: what its breaks pass, and what the next trip begins with."""
        self.exits.append(([], []))
        ends = run()
        breaks, continues = self.exits.pop()
        return breaks, [*ends, *continues]

    def assume(self, condition: Value, truth: bool) -> dict[int, Interval]:
        """Narrows what a condition says of values; gives the intervals to put back after."""
        saved: dict[int, Interval] = {}
        for value, low, high in self.facts(condition, truth):
            interval = self.of(value)
            if interval is not None:
                saved.setdefault(value.id, interval)
                self.set(value, interval.within(low, high))
        return saved

    def facts(self, condition: Value, truth: bool) -> list[tuple[Value, int, int]]:
        op = self.defined.get(condition.id)
        if op is None:
            return []
        name, operands = op.op.name, op.operands
        if op.op.repeats:
            return self.facts(operands[0], truth)
        if name == "not":
            return self.facts(operands[0], not truth)
        if name == ("and" if truth else "or"):
            return self.facts(operands[0], truth) + self.facts(operands[1], truth)
        if name not in OPPOSITES or operands[0].ty.dtype.is_float:
            return []
        return self.comparison(name if truth else OPPOSITES[name], *operands)

    def comparison(self, name: str, a: Value, b: Value) -> list[tuple[Value, int, int]]:
        if name in ("gt", "ge"):
            name, a, b = ("lt" if name == "gt" else "le"), b, a
        (a_low, _), (b_low, b_high) = (_bounds(self.number(v), v.ty.dtype) for v in (a, b))
        least, most = a.ty.dtype.min, a.ty.dtype.max
        if name == "eq":
            a_high = _bounds(self.number(a), a.ty.dtype)[1]
            return [*self.behind(a, b_low, b_high), *self.behind(b, a_low, a_high)]
        if name == "ne":
            return []
        gap = 1 if name == "lt" else 0
        return [*self.behind(a, least, b_high - gap), *self.behind(b, a_low + gap, most)]

    def behind(self, value: Value, low: int, high: int) -> list[tuple[Value, int, int]]:
        """The fact for a value, and for the scalar that it repeats in every lane."""
        facts = [(value, low, high)]
        op = self.defined.get(value.id)
        if op is not None and op.op.repeats:
            facts += self.behind(op.operands[0], low, high)
        return facts


def _grown(
    value: Value, before: Interval | None, after: Interval | None, widen: bool
) -> Interval | None:
    if before is None or after is None:
        return after
    both = before.join(after)
    if not widen:
        return both
    dtype = value.ty.dtype
    low = dtype.min if after.low < before.low else both.low
    if after.high > before.high or after.growth > before.growth:
        return Interval(low, dtype.max)
    return Interval(low, both.high, both.growth)


Rule = Callable[[Sequence[Interval], Compute, DType], Interval | None]


def _add(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del op, dtype
    a, b = operands
    return Interval(a.low + b.low, a.high + b.high, a.growth + b.growth)


def _sub(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval | None:
    del op
    a, b = operands
    b_high = dtype.max if b.growth else b.high
    return Interval(a.low - b_high, a.high - b.low, a.growth)


def _mul(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    a, b = operands
    if b.growth and not a.growth:
        a, b = b, a
    if a.growth and not b.growth and b.low == b.high and b.low >= 0 and a.low >= 0:
        return Interval(a.low * b.low, a.high * b.low, a.growth * b.low)
    (a_low, a_high), (b_low, b_high) = _bounds(a, dtype), _bounds(b, dtype)
    del op
    products = (a_low * b_low, a_low * b_high, a_high * b_low, a_high * b_high)
    return Interval(min(products), max(products))


def _neg(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del op
    low, high = _bounds(operands[0], dtype)
    return Interval(-high, -low)


def _divide(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval | None:
    (a_low, a_high), (b_low, b_high) = (_bounds(o, dtype) for o in operands)
    if b_low <= 0:
        return None
    floor = op.op.name == "floordiv" or a_low >= 0
    if not floor:
        return Interval(min(a_low, 0), max(a_high, 0))
    quotients = [a // b for a in (a_low, a_high) for b in (b_low, b_high)]
    return Interval(min(quotients), max(quotients))


def _remainder(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval | None:
    (a_low, a_high), (b_low, b_high) = (_bounds(o, dtype) for o in operands)
    if b_low <= 0:
        return None
    if a_low >= 0:
        return Interval(0, min(a_high, b_high - 1))
    return Interval(0, b_high - 1) if op.op.name == "mod" else Interval(1 - b_high, b_high - 1)


def _and(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval | None:
    bounds = [_bounds(o, dtype) for o in operands]
    masks = [high for low, high in bounds if low >= 0]
    del op
    return Interval(0, min(masks)) if masks else None


def _shift_right(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval | None:
    low, high = _bounds(operands[0], dtype)
    shift = _bounds(operands[1], dtype)
    del op
    if shift[0] < 0 or shift[1] >= dtype.bits:
        return None
    return Interval(min(low >> shift[0], low >> shift[1]), max(high >> shift[0], high >> shift[1]))


def _minimum(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del op
    (a_low, a_high), (b_low, b_high) = (_bounds(o, dtype) for o in operands)
    return Interval(min(a_low, b_low), min(a_high, b_high))


def _maximum(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del op
    (a_low, a_high), (b_low, b_high) = (_bounds(o, dtype) for o in operands)
    return Interval(max(a_low, b_low), max(a_high, b_high))


def _clamp(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    return _minimum([_maximum(operands[:2], op, dtype), operands[2]], op, dtype)


def _abs(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del op
    low, high = _bounds(operands[0], dtype)
    return Interval(0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high)))


def _select(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del op, dtype
    return operands[1].join(operands[2])


def _cast(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval | None:
    source = op.operands[0].ty.dtype
    low, high = _bounds(operands[0], source)
    if dtype.is_bool:
        return None
    if dtype.min <= low and high <= dtype.max:
        return operands[0]
    return None


def _same(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del op, dtype
    return operands[0]


def _index(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del op
    low, high = _bounds(operands[0], dtype)
    return (
        operands[0] if low >= 0 else Interval(0, max(high, _bounds(operands[1], dtype)[1] - 1, 0))
    )


def _row(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del operands, dtype
    attrs: dict[str, Any] = dict(op.attrs)
    start: int = attrs.get("start", 0)
    return Interval(start, start + attrs["size"] - 1)


def _program(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del operands, op, dtype
    return Interval(0, 0, growth=1)


def _programs(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval:
    del operands, op, dtype
    return Interval(1, 1, growth=1)


def _in_launch(
    grid: Sequence[int], op: Compute, operands: Sequence[Interval], found: Interval | None
) -> Interval | None:
    """What an op gives in a launch on a grid that ends with the first index that is outside."""
    if op.op.name == "index":
        return found and found.within(0, operands[1].high - 1)
    if not op.op.positional:
        return found
    axis = op.attr("axis")
    assert isinstance(axis, int)
    programs = max(grid[axis], 1) if axis < len(grid) else 1
    return Interval(0, programs - 1) if op.op.name == "program_id" else Interval(programs, programs)


def _compare(operands: Sequence[Interval], op: Compute, dtype: DType) -> Interval | None:
    """A comparison that the bounds decide is a constant."""
    del dtype
    source = op.operands[0].ty.dtype
    (a_low, a_high), (b_low, b_high) = (_bounds(o, source) for o in operands)
    name = op.op.name
    if name in ("gt", "ge"):
        name = "lt" if name == "gt" else "le"
        a_low, a_high, b_low, b_high = b_low, b_high, a_low, a_high
    decided = _decide(name, (a_low, a_high), (b_low, b_high))
    return None if decided is None else Interval(int(decided), int(decided))


def _decide(name: str, a: tuple[int, int], b: tuple[int, int]) -> bool | None:
    if name in ("eq", "ne"):
        if a[1] < b[0] or b[1] < a[0]:
            return name == "ne"
        return name == "eq" if a[0] == a[1] == b[0] == b[1] else None
    gap = 1 if name == "lt" else 0
    if a[1] + gap <= b[0]:
        return True
    return False if b[1] < a[0] + gap else None


_RULES: dict[str, Rule] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "neg": _neg,
    "floordiv": _divide,
    "truncdiv": _divide,
    "mod": _remainder,
    "truncmod": _remainder,
    "and": _and,
    "shr": _shift_right,
    "minimum": _minimum,
    "maximum": _maximum,
    "clamp": _clamp,
    "abs": _abs,
    "select": _select,
    "cast": _cast,
    "index": _index,
    "arange": _row,
    "thread_index": _row,
    "lane_index": _row,
    "simdgroup_index": _row,
    "program_id": _program,
    "num_programs": _programs,
    "splat": _same,
    "broadcast": _same,
    "expand_dims": _same,
    "reshape": _same,
    "permute": _same,
    "slice": _same,
    "lt": _compare,
    "le": _compare,
    "gt": _compare,
    "ge": _compare,
    "eq": _compare,
    "ne": _compare,
}

# By `OpDef.reduction`; a target has ops of the same kinds.
_REDUCTIONS: dict[str, Rule] = {"max": _same, "min": _same}

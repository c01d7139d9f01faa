"""Which integers may overflow, where that matters, and which divisors may be zero.

Ints wrap at their width, but in C++ the overflow of a signed one is undefined. Where ranges do not
exclude it, arithmetic goes through helper functions. Offsets are the exception: arithmetic that
only feeds addresses of loads and stores, and masks that compare such numbers, uses plain operators.
An offset that overflows is out of bounds in any case.
"""

from __future__ import annotations

from collections.abc import Iterable

from eas.ir.nodes import (
    Assert,
    Atomic,
    Break,
    Combine,
    Compute,
    Condition,
    Continue,
    For,
    If,
    Load,
    Op,
    Print,
    Store,
    TargetOp,
    Value,
    While,
    Yield,
    operands_of,
)
from eas.ir.passes.ranges import Ranges, analyze
from eas.msl.analysis.facts import Facts, breaks_of, carried_by, continues_of, left_with
from eas.msl.ops.mma import in_place_factors
from eas.support.records import frozen

Bounds = tuple[int, int]


@frozen
class Numbers:
    ranges: Ranges
    exact: frozenset[Value]

    def may_wrap(self, op: Compute) -> bool:
        """Whether an op may overflow, undefined in C++, and its result is used as a number."""
        return op.result.id in self.ranges.wrapping and op.result in self.exact

    def bounds(self, op: Op, place: int) -> Bounds:
        """The range of an operand, at the op that uses it."""
        value = operands_of(op)[place]
        found = self.ranges.uses.get(op.number, ())
        interval = found[place] if place < len(found) else None
        if interval is None:
            return self.bounds_of(value)
        high = value.ty.dtype.max if interval.growth else interval.high
        return interval.low, high

    def bounds_of(self, value: Value) -> Bounds:
        found = self.ranges.bounds(value)
        return found or (value.ty.dtype.min, value.ty.dtype.max)

    def may_be(self, op: Op, place: int, number: int) -> bool:
        low, high = self.bounds(op, place)
        return low <= number <= high


def study(facts: Facts) -> Numbers:
    return Numbers(analyze(facts.function), _exact_values(facts))


def _exact_values(facts: Facts) -> frozenset[Value]:
    """The values that are used as numbers somewhere, not only as addresses."""
    ops = facts.ops
    offsets = _sources([op.offset for op in ops if isinstance(op, Load | Store | Atomic)], facts)
    used = [v for op in ops for v in _used_as_numbers(op, offsets) if not v.ty.dtype.is_float]
    return frozenset(_sources(used, facts))


def _sources(values: list[Value], facts: Facts) -> set[Value]:
    """The values themselves, and all that they are computed from."""
    found: set[Value] = set()
    open_values = list(values)
    while open_values:
        value = open_values.pop()
        if value not in found:
            found.add(value)
            open_values += _made_from(value, facts)
    return found


def _used_as_numbers(op: Op, offsets: set[Value]) -> Iterable[Value]:
    match op:
        case Store():
            return (op.value,)
        case Atomic():
            return (op.value,) if op.expected is None else (op.value, op.expected)
        case Assert() | Print() | If():
            return operands_of(op)
        case Load():
            return () if op.other is None else (op.other,)
        case For():
            return (op.start, op.stop, op.step)
        case Condition():
            return (op.condition,)
        case Combine():
            return (*op.operands, *operands_of(op.body.terminator))
        case TargetOp():
            addresses = [factor.offset for factor in in_place_factors(op) if factor is not None]
            return [value for value in op.operands if value not in addresses]
        case Compute() if op.result.ty.dtype.is_float or op.op.reduction:
            return op.operands
        case Compute() if op.result.ty.dtype.is_bool:
            return [v for v in op.operands if v.ty.dtype.is_int and v not in offsets]
        case _:
            return ()


def _made_from(value: Value, facts: Facts) -> list[Value]:
    """The values that a value is computed or joined from."""
    resolved = facts.resolve(value)
    if resolved != value:
        return [resolved]
    op = facts.definition(value)
    if isinstance(op, Compute):
        return list(op.operands)
    if isinstance(op, If | For | While):
        return _given(value, op)
    owner = facts.owners.get(value)
    if isinstance(owner, For | While):
        return _passed(value, owner)
    return []


def _given(value: Value, op: If | For | While) -> list[Value]:
    """The values that a result of control flow may have."""
    place = op.results.index(value)
    regions = (op.then, op.orelse) if isinstance(op, If) else (op.orelse,)
    ends: list[Yield | Break] = [r.terminator for r in regions if isinstance(r.terminator, Yield)]
    if not isinstance(op, If):
        ends += breaks_of(op)
    return [end.values[place] for end in ends]


def _passed(value: Value, op: For | While) -> list[Value]:
    """The values that a carried value may have."""
    value = dict(left_with(op)).get(value, value)
    args = carried_by(op)
    if value not in args:
        return []
    place = args.index(value)
    ends: list[Yield | Continue] = [*continues_of(op)]
    if isinstance(op.body.terminator, Yield):
        ends.append(op.body.terminator)
    return [op.inits[place], *(end.values[place] for end in ends)]

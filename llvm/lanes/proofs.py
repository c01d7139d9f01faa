"""Proves that accesses are in bounds: for a whole launch, or for a loop over lanes.

A launch runs its proofs once, before its first program, with spans for the positions of programs.
Where such a proof fails, each loop over lanes tries again for its own program. What neither proves
is checked vector by vector, see `eas.llvm.lanes.bounds_checks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from eas.ir.nodes import (
    Atomic,
    Compute,
    Condition,
    If,
    Load,
    Op,
    Region,
    Store,
    Value,
    While,
    operands_of,
    regions_of,
    results_of,
)
from eas.llvm.analysis.facts import Facts, defined_inside, with_inner
from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.lanes.bounds_checks import Bounds
from eas.llvm.lanes.spans import Span, Spans, box_of
from eas.llvm.lanes.vector_body import Body
from eas.support.records import frozen

MOST_PROOFS = 64  # bits of a word

Access = Load | Store | Atomic


@frozen
class GuardedAccess:
    """An access, and the conditions that hold in its active lanes."""

    op: Access
    conditions: tuple[Value, ...]


def accesses_in(ops: Sequence[Op], around: tuple[Value, ...] = ()) -> Iterator[GuardedAccess]:
    """The accesses of ops and of their regions."""
    for op in ops:
        if isinstance(op, Access):
            yield GuardedAccess(op, around if op.mask is None else (*around, op.mask))
        for region in regions_of(op):
            yield from accesses_in(region.ops, (*around, *_holding(op, region)))


def _holding(op: Op, region: Region) -> tuple[Value, ...]:
    """The condition under which a region is entered."""
    if isinstance(op, If) and region is op.then:
        return (op.condition,)
    if isinstance(op, While) and region is op.body:
        test = op.test.terminator
        assert isinstance(test, Condition)
        return (test.condition,)
    return ()


def inside(spans: Spans, access: GuardedAccess, bounds: Bounds) -> V | None:
    """Whether an access is in bounds in all of its active lanes; None if unknown."""
    e, op = spans.e, access.op
    spans.under(access.conditions)
    span = spans.of(op.offset, box_of(op.offset.shape))
    if span is None:
        return None
    span = spans.fit(span, op.offset.ty.dtype)
    holds = e.and_(e.icmp("sge", span.low, bounds.low), e.icmp("slt", span.high, bounds.high))
    for condition in spans.relied_on:
        holds = e.and_(holds, condition)
    return holds


def launch_proofs(
    e: Emitter,
    facts: Facts,
    arguments: Mapping[int, V],
    extents: Sequence[V],
    bounds: Mapping[int, Bounds],
) -> tuple[dict[int, int], V]:
    """The bit of a word that says that an access is proved, by the id of its op, and the word.

    `arguments` are the integer arguments by their ids, `extents` those of the grid.
    """

    def position(op: Compute) -> Span:
        extent = e.cast("zext", extents[_axis(op)], "i64")
        if op.op.name == "num_programs":
            return Span(extent, extent, 31)
        return Span(const("i64", 0), e.sub(extent, const("i64", 1)), 31)

    spans = Spans(e, facts, lambda value: arguments.get(value.id), position)
    bits: dict[int, int] = {}
    word = const("i64", 0)
    for access in accesses_in(facts.function.body.ops):
        if access.op.pointer.id not in bounds or len(bits) == MOST_PROOFS:
            continue
        holds = inside(spans, access, bounds[access.op.pointer.id])
        if holds is not None:
            bit = bits[access.op.number] = _signed(1 << len(bits))
            set_bit = e.select(holds, const("i64", bit), const("i64", 0))
            word = e.or_(word, set_bit)
    return bits, word


def _signed(bit: int) -> int:
    return bit - (1 << 64) if bit >> 63 else bit


def _axis(op: Compute) -> int:
    axis = op.attr("axis")
    assert isinstance(axis, int)
    return axis


def prove_loop(
    body: Body, ops: Sequence[Op], rematerialized: set[int], bounds: Mapping[int, Bounds]
) -> tuple[frozenset[int], V]:
    """The accesses of a loop that are proved if a condition holds, and the condition."""
    accesses = [each for each in accesses_in(ops) if each.op.pointer.id in bounds]
    accesses += _rematerialized_loads(ops, rematerialized, body.facts, bounds)
    early = [each for each in accesses if each.op.number in body.program.proofs]
    late = [each for each in accesses if each.op.number not in body.program.proofs]
    proven, holds = _prove_here(body, ops, late, bounds)
    if not early:
        return proven, holds
    e = body.e
    known = e.variable("i1")
    wanted = const("i64", _signed(sum(body.program.proofs[each.op.number] for each in early)))
    is_known = e.icmp("eq", e.and_(body.program.proven, wanted), wanted)
    e.set(known, is_known)

    def try_again() -> None:
        found, all_hold = _prove_here(body, ops, early, bounds)
        if len(found) == len(early):
            e.set(known, all_hold)

    e.when(e.not_(is_known), try_again, is_unlikely=True)
    return proven | {each.op.number for each in early}, e.and_(e.get(known), holds)


def _prove_here(
    body: Body, ops: Sequence[Op], accesses: Sequence[GuardedAccess], bounds: Mapping[int, Bounds]
) -> tuple[frozenset[int], V]:
    """What can be proved before a loop over lanes, from scalars that are defined there."""
    e = body.e
    later = {value.id for op in ops for value in results_of(op)}
    later |= {id for op in ops for id in defined_inside(op)}
    body.scopes.append({})  # values of a branch do not dominate the code after it

    def number(value: Value) -> V | None:
        return None if value.id in later else body.scalar(value)

    def position(op: Compute) -> Span:
        positions = body.program.ids if op.op.name == "program_id" else body.program.extents
        v = e.cast("zext", positions[_axis(op)], "i64")
        return Span(v, v, 31)

    spans = Spans(e, body.facts, number, position)
    proven: set[int] = set()
    holds = const("i1", True)
    for access in accesses:
        found = inside(spans, access, bounds[access.op.pointer.id])
        if found is not None:
            proven.add(access.op.number)
            holds = e.and_(holds, found)
    body.scopes.pop()
    return frozenset(proven), holds


def _rematerialized_loads(
    ops: Sequence[Op], rematerialized: set[int], facts: Facts, bounds: Mapping[int, Bounds]
) -> list[GuardedAccess]:
    """The loads that are rematerialized in a loop."""
    members = {each.number for op in ops for each in with_inner(op)}
    found: dict[int, GuardedAccess] = {}
    seen: set[int] = set()
    waiting = [value for op in ops for each in with_inner(op) for value in operands_of(each)]
    while waiting:
        value = waiting.pop()
        op = facts.definitions.get(value.id)
        if value.id in seen or op is None:
            continue
        seen.add(value.id)
        if isinstance(op, Load) and value.id in rematerialized and op.pointer.id in bounds:
            found[op.number] = GuardedAccess(op, () if op.mask is None else (op.mask,))
        if isinstance(op, Compute) or value.id in rematerialized:
            waiting += operands_of(op)
    return [each for key, each in found.items() if key not in members]

"""Where lanes get values from, and the values that they need for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from eas.ir.aliasing.lane_domains import Domain
from eas.ir.aliasing.lane_indices import Indices, operand_indices
from eas.ir.nodes import Compute, Load, Value, operands_of
from eas.msl.analysis.costs import operands_of_pure
from eas.msl.analysis.facts import Control, Facts, is_pure
from eas.msl.layout.lane_control import needs_inside
from eas.msl.layout.layout import Layout, is_owned
from eas.support.records import field, frozen, record


class Source(Enum):
    """Where a lane gets an element of a value from."""

    UNIFORM = "it is a scalar: every thread has it"
    OWNED = "its own thread has computed the element before"
    STAGED = "it reads threadgroup memory"
    REMATERIALIZED = "it computes the element from the operands of the op"


def where_is(value: Value, indices: Indices, extent: int, layout: Layout) -> Source:
    """Where each lane of a domain of so many gets the element of a value at its indices from.

    The planner asks for the order of steps, lowering for the expression: there is one answer.
    """
    if not value.shape:
        return Source.UNIFORM
    op, facts = layout.facts.definition(value), layout.facts
    is_only_staged = layout.is_threadgroup_only(value)
    is_computed_once = not is_pure(op, facts) or value in layout.materialized
    if is_computed_once and not is_only_staged and is_owned(value, indices, extent):
        return Source.OWNED
    if is_only_staged or value in layout.staged:
        return Source.STAGED
    assert isinstance(op, Compute | Load), f"%{value.id} is not available at {indices}"
    return Source.REMATERIALIZED


_NOTHING: frozenset[Value] = frozenset()


@frozen
class Needs:
    """Values that the lane's own thread owns, and values that are shared by all threads."""

    owned: frozenset[Value] = _NOTHING
    shared: frozenset[Value] = _NOTHING

    def __or__(self, other: Needs) -> Needs:
        return Needs(self.owned | other.owned, self.shared | other.shared)


@record
class Finder:
    """Follows rematerialized values down to those that are owned or in threadgroup memory."""

    layout: Layout
    known: dict[tuple[Value, Indices, int], Needs] = field(
        default_factory=dict[tuple[Value, Indices, int], Needs]
    )
    inside: dict[int, Needs] = field(default_factory=dict[int, Needs])

    def of(self, value: Value, indices: Indices, extent: int) -> Needs:
        value = self.layout.facts.resolve(value)
        key = (value, indices, extent)
        if key not in self.known:
            self.known[key] = self._find(value, indices, extent)
        return self.known[key]

    def all(self, wanted: Iterable[tuple[Value, Indices]], extent: int) -> Needs:
        each = [self.of(value, indices, extent) for value, indices in wanted]
        if len(each) == 1:
            return each[0]
        owned, shared = [needs.owned for needs in each], [needs.shared for needs in each]
        return Needs(_NOTHING.union(*owned), _NOTHING.union(*shared))

    def _find(self, value: Value, indices: Indices, extent: int) -> Needs:
        match where_is(value, indices, extent, self.layout):
            case Source.OWNED:
                return Needs(owned=frozenset({value}))
            case Source.UNIFORM | Source.STAGED:
                return Needs(shared=frozenset({value}))
            case Source.REMATERIALIZED:
                op = self.layout.facts.definition(value)
                assert isinstance(op, Compute | Load)
                below = operand_indices(op, indices) if isinstance(op, Compute) else indices
                return self.all(((v, below) for v in operands_of_pure(op)), extent)

    def control(self, op: Control, domain: Domain) -> Needs:
        """What control flow of lanes needs."""
        if op.number not in self.inside:
            self.inside[op.number] = self._control(op, domain)
        return self.inside[op.number]

    def _control(self, op: Control, domain: Domain) -> Needs:
        facts = self.layout.facts
        needed = needs_inside(op, domain, self.layout)
        outside = [(value, at) for value, at in needed if not facts.is_inside(value, op)]
        return self.all(outside, domain.extent) | Needs(shared=frozenset(scalars_of(op, facts)))


def scalars_of(op: Control, facts: Facts) -> Iterator[Value]:
    """The scalars from outside that control flow uses."""
    start, end = facts.positions[op.number], facts.ends[op.number]
    for inner in facts.ops[start : end + 1]:
        for value in map(facts.resolve, operands_of(inner)):
            if not value.shape and not start < facts.born.get(value, -1) <= end:
                yield value

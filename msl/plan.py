"""The order of work: loops over elements, what all threads do alike, and what one does for all.

The ops of a region become *steps*. Runs of element-wise ops share one loop over elements
(`Elements`); a loop ends where a value is needed that takes all lanes to make, where another
size of domain begins, and where an access would overtake another thread's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from eas.ir.location import Loc
from eas.ir.nodes import (
    Alloc,
    Assert,
    Atomic,
    Barrier,
    Break,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    If,
    Load,
    Op,
    Print,
    Region,
    Store,
    Terminator,
    Value,
    While,
    Yield,
    operands_of,
    results_of,
)
from eas.ir.types import Shape, count
from eas.msl.accesses import ONCE, Access, access_of, conflict
from eas.msl.costs import operands_of_pure
from eas.msl.facts import Control, Facts, is_pure
from eas.msl.indices import Indices, operand_indices
from eas.msl.layout import (
    Domain,
    Layout,
    Strategy,
    accesses_inside,
    home_indices,
    is_home,
    is_reduction,
    needs_inside,
    serial_indices,
)

# --- steps ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """Carried values and results that lanes keep take their next values, all at once."""

    pairs: tuple[tuple[Value, Value], ...]
    loc: Loc


@dataclass(frozen=True, slots=True)
class Stage:
    """Each lane writes its element of a block to threadgroup memory."""

    value: Value


Item = Op | Assign | Stage


@dataclass(eq=False, slots=True)
class Elements:
    """A loop over the elements of a domain. `touched` are its accesses of arrays."""

    extent: int
    items: list[Item] = field(default_factory=list[Item])
    touched: list[Access] = field(default_factory=list[Access])


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every thread computes the same."""

    op: Op


@dataclass(frozen=True, slots=True)
class Once:
    """One thread acts for all."""

    op: Store | Atomic | Assert | Print


@dataclass(frozen=True, slots=True)
class Receive:
    """Every thread reads what the one that acted for all got."""

    op: Atomic


@dataclass(frozen=True, slots=True)
class Join:
    """The simdgroups put what they have of some reductions into threadgroup memory."""

    ops: tuple[Compute, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """Every thread puts the simdgroups' shares together."""

    ops: tuple[Compute, ...]


@dataclass(frozen=True, slots=True)
class RowTotals:
    """Threads put the shares of each row together."""

    op: Compute


@dataclass(frozen=True, slots=True)
class Chunks:
    """A reduction along an axis, in turns through threadgroup memory."""

    op: Compute


@dataclass(frozen=True, slots=True)
class Branch:
    """Control flow that all threads share, with a plan for each region."""

    op: Control
    plans: tuple[tuple[Step, ...], ...]


@dataclass(frozen=True, slots=True)
class End:
    """The end of a region; the values of blocks are assigned before."""

    op: Terminator


@dataclass(frozen=True, slots=True)
class Sync:
    """A barrier, for the memory that the threads are to see alike."""

    device: bool
    threadgroup: bool
    loc: Loc | None = None


Step = (
    Elements
    | Uniform
    | Once
    | Receive
    | Join
    | Total
    | RowTotals
    | Chunks
    | Branch
    | End
    | Sync
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a function, and the values that outlive the loop over elements they are made in."""

    steps: tuple[Step, ...]
    kept: frozenset[Value]
    allocations: tuple[Alloc, ...]


def staged_name(value: Value) -> str:
    return f"stage {value.id}"


def partial_name(value: Value) -> str:
    return f"partial {value.id}"


def rows_needed(op: Compute) -> int:
    """How many shares of simdgroups each row of a reduction along the last axis has."""
    return op.operands[0].shape[-1] // 32


# --- what an item needs -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Needs:
    """What lanes need: at home in their thread, or from shared memory and shared variables."""

    home: frozenset[Value] = frozenset()
    shared: frozenset[Value] = frozenset()

    def __or__(self, other: Needs) -> Needs:
        return Needs(self.home | other.home, self.shared | other.shared)


@dataclass
class Finder:
    """Follows values that are computed where they are needed down to those that are there."""

    layout: Layout
    known: dict[tuple[Value, Indices, int], Needs] = field(
        default_factory=dict[tuple[Value, Indices, int], Needs]
    )

    def of(self, value: Value, indices: Indices, extent: int) -> Needs:
        value = self.layout.facts.resolve(value)
        key = (value, indices, extent)
        if key not in self.known:
            self.known[key] = self.find(value, indices, extent)
        return self.known[key]

    def find(self, value: Value, indices: Indices, extent: int) -> Needs:
        layout, facts = self.layout, self.layout.facts
        if not value.shape:
            return Needs(shared=frozenset({value}))
        op = facts.definition(value)
        is_there = not is_pure(op, facts) or value in layout.anchored
        if is_there and is_home(value, indices, extent):
            return Needs(home=frozenset({value}))
        if value in layout.staged or layout.is_resident(value):
            return Needs(shared=frozenset({value}))
        assert isinstance(op, Compute | Load)
        below = operand_indices(op, indices) if isinstance(op, Compute) else indices
        return self.all((v, below) for v in operands_of_pure(op)).of(extent)

    def all(self, wanted: Iterable[tuple[Value, Indices]]) -> _Wanted:
        return _Wanted(self, tuple(wanted))

    def at_home(self, values: Iterable[Value], domain: Domain) -> Needs:
        return self.all((v, domain.indices_of(v.shape)) for v in values).of(domain.extent)

    def item(self, item: Item, domain: Domain) -> Needs:
        """Everything that an item of a loop over elements needs."""
        layout, facts = self.layout, self.layout.facts
        if isinstance(item, Assign):
            return self.at_home((source for _, source in item.pairs), domain)
        if isinstance(item, Stage):
            return Needs(home=frozenset({item.value}))
        if isinstance(item, Control):
            outside = [
                (v, at) for v, at in needs_inside(item, domain, facts) if not facts.is_inside(v, item)
            ]
            shared = Needs(shared=frozenset(_scalars_of(item, facts)))
            return self.all(outside).of(domain.extent) | shared
        if isinstance(item, Compute) and layout.is_serial(item):
            indices = serial_indices(item, home_indices(item.result.shape))
            return self.of(item.operands[0], indices, domain.extent)
        if isinstance(item, Compute) and not is_reduction(item):
            below = operand_indices(item, domain.indices_of(item.result.shape))
            return self.all((v, below) for v in item.operands).of(domain.extent)
        values = [v for v in operands_of(item) if not hasattr(v.ty, "space")]
        return self.at_home(values, domain)


@dataclass(frozen=True, slots=True)
class _Wanted:
    finder: Finder
    wanted: tuple[tuple[Value, Indices], ...]

    def of(self, extent: int) -> Needs:
        needs = Needs()
        for value, indices in self.wanted:
            needs |= self.finder.of(value, indices, extent)
        return needs


def _scalars_of(op: Control, facts: Facts) -> Iterator[Value]:
    """The scalars from outside that control flow uses."""
    from eas.ir.nodes import regions_of, walk

    for inner in (op, *(each for region in regions_of(op) for each in walk(region))):
        for value in operands_of(inner):
            value = facts.resolve(value)
            if not value.shape and not facts.is_inside(value, op):
                yield value

"""Which thread holds what, and what is shared: decided once, for the whole function, as data.

A program is a threadgroup of `threads` threads. A block of E elements lies cyclically: element `e`
is in thread `e % threads`, so neighbouring threads touch neighbouring memory. That is the *home* of
a block. A lane that works on a *domain* (the shape of the loop it is in) may need another
element than the one at home in its thread: then the value is

- computed again at that element, if it is index arithmetic or otherwise cheap,
- loaded again, if nothing in the function writes to that array,
- read from threadgroup memory, if it is dear or cannot be had twice: it is *staged* there.

A value that some op needs at home is *anchored*: computed once, where it stands in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from eas.ir.nodes import (
    Assert,
    Atomic,
    Compute,
    Condition,
    For,
    If,
    Load,
    Op,
    Print,
    Region,
    Store,
    Value,
    While,
    operands_of,
    regions_of,
    results_of,
    walk,
)
from eas.ir.types import Shape, count
from eas.msl.accesses import Access, access_of, after_trip, conflict
from eas.msl.costs import CHEAP, Costs, operands_of_pure
from eas.msl.facts import Control, Facts, is_collective, is_pure
from eas.msl.indices import (
    Indices,
    Symbol,
    coordinates,
    linear,
    of,
    operand_indices,
    project,
)

MAX_THREADS = 1024
SIMD = 32
STAGED_BYTES = 16384


class Strategy(Enum):
    """How a reduction is done."""

    WHOLE = "of the whole block: in each thread, in each simdgroup, across simdgroups"
    SERIAL = "of an axis: the thread of each result walks along the axis"
    ROWS = "of the last axis: each simdgroup reduces its 32 neighbours of a row, then the rest"
    CHUNKS = "of an axis: through threadgroup memory, as many elements at a time as threads"


@dataclass(frozen=True, slots=True)
class Domain:
    """The lanes of a loop over elements."""

    shape: Shape

    @property
    def extent(self) -> int:
        return count(self.shape)

    @property
    def indices(self) -> Indices:
        return home_indices(self.shape)

    def indices_of(self, shape: Shape) -> Indices:
        """Which element of a block of this shape belongs to a lane of the domain."""
        if not shape:
            return ()
        if count(shape) == self.extent:
            return home_indices(shape)
        return project(self.indices, shape)


def element(extent: int) -> Symbol:
    """The index of a lane in a domain of so many."""
    return Symbol("e", extent)


def home_indices(shape: Shape) -> Indices:
    """The coordinates of the element at home in a lane of a domain of the block's own size."""
    return coordinates(of(element(count(shape))), shape)


def is_home(value: Value, indices: Indices, extent: int) -> bool:
    """Whether a lane of a domain needs of a value just what is at home in its thread."""
    return extent == count(value.shape) and linear(indices, value.shape) == of(element(extent))


@dataclass(frozen=True, slots=True)
class Axis:
    """A reduced axis: how many results stand before it, how long it is, how many come after."""

    before: int
    extent: int
    after: int


def axis_of(op: Compute) -> Axis:
    shape, axis = op.operands[0].shape, op.attr("axis")
    if axis is None:
        return Axis(1, count(shape), 1)
    assert isinstance(axis, int)
    return Axis(count(shape[:axis]), shape[axis], count(shape[axis + 1 :]))


def serial_symbol(op: Compute) -> Symbol:
    """The variable of the loop along a reduced axis."""
    return Symbol(f"k{op.result.id}", axis_of(op).extent)


def serial_indices(op: Compute, indices: Indices) -> Indices:
    """The element of the operand that a step along the reduced axis needs."""
    axis = op.attr("axis")
    assert isinstance(axis, int)
    return (*indices[:axis], of(serial_symbol(op)), *indices[axis:])


def is_reduction(op: Op | None) -> bool:
    return isinstance(op, Compute) and op.op.name.startswith("reduce_")


@dataclass
class Layout:
    """The decisions.

    `domains` has the control ops that go whole into a loop over elements, by `id()`;
    `shared_control` those that all threads go through together. `anchored`
    blocks are computed at home; `staged` ones lie in threadgroup memory as well. The others are
    computed where they are needed.
    """

    facts: Facts
    threads: int = 0
    costs: Costs = field(default_factory=Costs)
    strategies: dict[Value, Strategy] = field(default_factory=dict[Value, Strategy])
    domains: dict[int, Domain] = field(default_factory=dict[int, Domain])
    shared_control: set[int] = field(default_factory=set[int])
    anchored: set[Value] = field(default_factory=set[Value])
    staged: set[Value] = field(default_factory=set[Value])

    def slots(self, extent: int) -> int:
        """How many elements of a domain a thread has at most."""
        return -(-extent // self.threads)

    def is_even(self, extent: int) -> bool:
        """Whether each thread has exactly one element."""
        return extent == self.threads

    def is_resident(self, value: Value) -> bool:
        """Whether a block lies in threadgroup memory only."""
        return self.strategies.get(value) is Strategy.CHUNKS

    def shares_memory(self, op: Compute) -> bool:
        """Whether the threads reduce a whole block through threadgroup memory.

        Values of 64 bits are shuffled, which takes all lanes of a simdgroup.
        """
        is_shuffled = is_wide(op) and self.threads % SIMD != 0
        return self.threads > SIMD or (is_shuffled and self.threads > 1)

    def is_serial(self, op: Op | None) -> bool:
        if not isinstance(op, Compute):
            return False
        return self.strategies.get(op.result) is Strategy.SERIAL


def decide(facts: Facts, threads: int | None = None, staged_bytes: int = STAGED_BYTES) -> Layout:
    """Lays out a function; `staged_bytes` bounds what a reduction may stage."""
    layout = Layout(facts)
    survey(layout, threads, staged_bytes)
    choose_domains(layout, facts.function.body)
    layout.threads = threads or facts.function.threads or default_threads(layout)
    Demands(layout).region(facts.function.body, 0)
    return layout


# --- reductions and prices --------------------------------------------------------------------


def survey(layout: Layout, threads: int | None, staged_bytes: int) -> None:
    """Chooses how each reduction is done, and what each block costs, in the order of the text."""
    facts = layout.facts
    whole_simdgroups = (threads or facts.function.threads or SIMD) % SIMD == 0
    for value, op in facts.definitions.items():
        if isinstance(op, Compute) and is_reduction(op):
            strategy = _strategy(op, layout, whole_simdgroups, staged_bytes)
            layout.strategies[value] = strategy
            if layout.is_resident(value):
                layout.costs.prices[value] = 1
        elif isinstance(op, Compute | Load) and value.shape:
            layout.costs.add(op, facts)


def _strategy(op: Compute, layout: Layout, whole_simdgroups: bool, staged_bytes: int) -> Strategy:
    axis = axis_of(op)
    if not op.result.shape:
        return Strategy.WHOLE
    if axis.after == 1 and axis.extent % SIMD == 0 and whole_simdgroups and not is_wide(op):
        return Strategy.ROWS
    fits = _staged_bytes(op.operands[0], layout) <= staged_bytes
    return Strategy.SERIAL if fits else Strategy.CHUNKS


def is_wide(op: Compute) -> bool:
    """Whether a reduction works on 64 bits, for which Metal has no simdgroup functions."""
    return op.operands[0].ty.dtype.bits == 64


def _staged_bytes(value: Value, layout: Layout) -> int:
    """How much threadgroup memory it takes to have a block at any element."""
    facts = layout.facts
    value = facts.resolve(value)
    if not value.shape or layout.costs.is_cheap(value):
        return 0
    op = facts.definition(value)
    if isinstance(op, Compute | Load) and is_pure(op, facts) and not is_reduction(op):
        if len(facts.uses_of(value)) == 1 or is_view(op):
            return sum(_staged_bytes(v, layout) for v in operands_of_pure(op))
    return count(value.shape) * max(value.ty.dtype.bits // 8, 1)


def is_view(op: Op | None) -> bool:
    """An op that only says where else the elements are."""
    views = ("splat", "broadcast", "expand_dims", "reshape", "permute", "slice")
    return isinstance(op, Compute) and op.op.name in views


def default_threads(layout: Layout) -> int:
    """One thread per element of the largest block, from 256 on several elements per thread."""
    extent = max(_extents(layout), default=1)
    wanted = min(max(min(extent, 256), -(-extent // 4)), MAX_THREADS)
    return -(-wanted // SIMD) * SIMD


def _extents(layout: Layout) -> Iterator[int]:
    """The sizes of the blocks that are computed at home, whatever else is decided."""
    for op in walk(layout.facts.function.body):
        match op:
            case Store() | Atomic():
                yield count(op.offset.shape)
            case Assert():
                yield count(op.condition.shape)
            case If() | For() | While():
                yield from (count(v.shape) for r in regions_of(op) for v in r.args)
                yield from (count(v.shape) for v in op.results)
            case Compute() if is_reduction(op):
                serial = layout.is_serial(op)
                yield count(op.result.shape if serial else op.operands[0].shape)
            case _:
                pass


# --- control flow -----------------------------------------------------------------------------


def choose_domains(layout: Layout, region: Region) -> None:
    """Finds the control ops that go into a loop over elements, the outermost ones."""
    for op in region.ops:
        if not isinstance(op, Control):
            continue
        domain = _domain_of(op, layout)
        if domain is not None:
            layout.domains[id(op)] = domain
        else:
            layout.shared_control.add(id(op))
            for inner in regions_of(op):
                choose_domains(layout, inner)


def _domain_of(op: Control, layout: Layout) -> Domain | None:
    shapes = list(dict.fromkeys(_native_shapes(op, layout.facts)))
    if layout.facts.is_split(op):
        return Domain(_covering(shapes))
    if not shapes or len({count(shape) for shape in shapes}) > 1:
        return None
    domain = Domain(max(shapes, key=len))
    return domain if _may_go_inside(op, domain, layout) else None


def _covering(shapes: list[Shape]) -> Shape:
    """The shape that all of these fit into: what splits lanes has one rank."""
    return tuple(max(extents) for extents in zip(*shapes, strict=True))


def _native_shapes(op: Control, facts: Facts) -> Iterator[Shape]:
    """The shapes of the blocks inside that are not computed at will."""
    for inner in (op, *(each for region in regions_of(op) for each in walk(region))):
        values: tuple[Value, ...] = ()
        match inner:
            case Store() | Atomic() | Assert() | Print():
                values = operands_of(inner)
            case Load() if not is_pure(inner, facts):
                values = operands_of(inner)
            case If() | Condition():
                values = (inner.condition, *results_of(inner))
            case For() | While():
                bounds = (inner.start,) if isinstance(inner, For) else ()
                args = [v for region in regions_of(inner) for v in region.args]
                values = (*bounds, *args, *inner.results)
            case _:
                pass
        yield from (value.shape for value in values if value.shape)


def _may_go_inside(op: Control, domain: Domain, layout: Layout) -> bool:
    """Whether control flow that all lanes share can be repeated by each lane for itself."""
    facts = layout.facts
    if any(not v.shape and facts.uses_of(v) for v in op.results):
        return False
    inside = [each for region in regions_of(op) for each in walk(region)]
    if any(is_collective(each) or _is_shared_effect(each) for each in inside):
        return False
    return _is_local(op, domain, layout) and not _has_conflict(op, domain, facts)


def _is_shared_effect(op: Op) -> bool:
    match op:
        case Store() | Atomic():
            return not op.offset.shape
        case Assert() | Print():
            return not any(value.shape for value in operands_of(op))
        case _:
            return False


def _is_local(op: Control, domain: Domain, layout: Layout) -> bool:
    """Whether each lane needs of the values inside only its own, or such as are cheap."""
    facts, costs = layout.facts, layout.costs
    for value, indices in needs_inside(op, domain, facts):
        if not facts.is_inside(value, op) or is_home(value, indices, domain.extent):
            continue
        inner = facts.definition(value)
        if not is_pure(inner, facts) or not (costs.is_cheap(value) or is_view(inner)):
            return False
    return True


def _has_conflict(op: Control, domain: Domain, facts: Facts) -> bool:
    accesses = list(accesses_inside(op, domain, facts))
    for place, (a, loop_a) in enumerate(accesses):
        for b, loop_b in accesses[place:]:
            loop = loop_a or loop_b
            first, second = a, b
            if loop is not None:
                first, second = after_trip(a, loop, facts), after_trip(b, loop, facts)
            if (loop is not None or a is not b) and conflict(first, second, facts):
                return True
    return False


Touch = tuple[Access, For | While | None]


def accesses_inside(op: Op, domain: Domain, facts: Facts) -> Iterator[Touch]:
    """The accesses of an op and of those in its regions, each with the innermost loop around."""

    def visit(op: Op, loop: For | While | None) -> Iterator[Touch]:
        if isinstance(op, Load | Store | Atomic):
            indices = domain.indices_of(op.offset.shape) if _fits(op, domain) else ()
            access = access_of(op, indices, domain.extent, facts) if _fits(op, domain) else None
            if access is not None:
                yield access, loop
        for region in regions_of(op):
            again = isinstance(op, For | While) and region is not op.orelse
            for inner in region.ops:
                yield from visit(inner, op if again and isinstance(op, For | While) else loop)

    yield from visit(op, None)


def _fits(op: Load | Store | Atomic, domain: Domain) -> bool:
    """Whether an access is one per lane; a load of another shape is from memory nobody writes."""
    shape = op.offset.shape
    return not shape or count(shape) == domain.extent or len(shape) == len(domain.shape)


def needs_inside(op: Control, domain: Domain, facts: Facts) -> Iterator[tuple[Value, Indices]]:
    """Every block that control flow inside a loop over elements needs, and at which element."""
    seen: set[tuple[Value, Indices]] = set()

    def visit(value: Value, indices: Indices) -> Iterator[tuple[Value, Indices]]:
        value = facts.resolve(value)
        if not value.shape or (value, indices) in seen:
            return
        seen.add((value, indices))
        yield value, indices
        inner = facts.definition(value)
        if (
            facts.is_inside(value, op)
            and isinstance(inner, Compute | Load)
            and is_pure(inner, facts)
        ):
            below = operand_indices(inner, indices) if isinstance(inner, Compute) else indices
            for operand in operands_of_pure(inner):
                yield from visit(operand, below)

    for inner in (op, *(each for region in regions_of(op) for each in walk(region))):
        if not is_pure(inner, facts):
            for value in operands_of(inner):
                yield from visit(value, domain.indices_of(value.shape))


# --- demands ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Demand:
    """An element of a block that each lane of a domain needs, `times` lanes and steps in all."""

    indices: Indices
    extent: int
    times: int
    loops: int


@dataclass
class Demands:
    """Goes through the text backwards, so that all demands for a value are known before it."""

    layout: Layout
    wanted: dict[Value, list[Demand]] = field(default_factory=dict[Value, list[Demand]])

    def want(self, value: Value, demand: Demand) -> None:
        value = self.layout.facts.resolve(value)
        if value.shape:
            known = self.wanted.setdefault(value, [])
            if demand not in known:
                known.append(demand)

    def want_home(self, value: Value, loops: int) -> None:
        extent = count(value.shape)
        self.want(value, Demand(home_indices(value.shape), extent, extent, loops))

    def region(self, region: Region, loops: int) -> None:
        for op in reversed(region.ops):
            self.op(op, loops)
        for value in region.args:
            self.settle(value)

    def op(self, op: Op, loops: int) -> None:
        if isinstance(op, Control):
            self.control(op, loops)
        elif isinstance(op, Compute | Load) and is_pure(op, self.layout.facts):
            self.pure(op, loops)
        else:
            for value in results_of(op):
                self.settle(value)
            for value in operands_of(op):
                self.want_home(value, loops)

    def control(self, op: Control, loops: int) -> None:
        for value in op.results:
            self.settle(value)
        domain = self.layout.domains.get(id(op))
        if domain is not None:
            self.inside(op, domain, loops)
            return
        for region in reversed(regions_of(op)):
            again = isinstance(op, For | While) and region is not op.orelse
            self.region(region, loops + again)
        for value in operands_of(op):
            self.want_home(value, loops)

    def inside(self, op: Control, domain: Domain, loops: int) -> None:
        facts, extent = self.layout.facts, domain.extent
        deeper = loops + isinstance(op, For | While)
        for value, indices in needs_inside(op, domain, facts):
            if not facts.is_inside(value, op):
                self.want(value, Demand(indices, extent, extent, deeper))
        for value in operands_of(op):
            if value.shape:
                self.want(value, Demand(domain.indices_of(value.shape), extent, extent, loops))
        for value in op.results:
            if value.shape and count(value.shape) != extent and facts.uses_of(value):
                self.layout.staged.add(value)

    def settle(self, value: Value) -> None:
        """A value that is there once: elsewhere than at home it is read from shared memory."""
        for demand in self.wanted.get(value, []):
            if not is_home(value, demand.indices, demand.extent):
                self.layout.staged.add(value)

    # --- pure ops -----------------------------------------------------------------------------

    def pure(self, op: Compute | Load, loops: int) -> None:
        demands = self.wanted.get(op.result, [])
        if is_reduction(op):
            assert isinstance(op, Compute)
            self.reduction(op, loops)
        elif not op.result.shape:
            self.pass_on(op, Demand((), 1, 1, loops))
        elif is_view(op) or self.layout.costs.is_index(op.result):
            for demand in demands:
                self.pass_on(op, demand)
        elif demands:
            self.dear(op, demands, loops)

    def dear(self, op: Compute | Load, demands: list[Demand], loops: int) -> None:
        """A value that is not worth computing again without need."""
        layout, value = self.layout, op.result
        foreign = [d for d in demands if not is_home(value, d.indices, d.extent)]
        is_anchored = len(foreign) < len(demands)
        if foreign and not self.may_repeat(value, foreign, is_anchored, loops):
            is_anchored = True
            layout.staged.add(value)
        elif foreign:
            for demand in foreign:
                self.pass_on(op, demand)
        if is_anchored:
            layout.anchored.add(value)
            extent = count(value.shape)
            self.pass_on(op, Demand(home_indices(value.shape), extent, extent, loops))

    def may_repeat(
        self, value: Value, foreign: list[Demand], is_anchored: bool, loops: int
    ) -> bool:
        """Whether a value is computed again at other elements rather than staged."""
        price = self.layout.costs.prices.get(value)
        if price is None or any(demand.loops > loops for demand in foreign):
            return False
        times = sum(demand.times for demand in foreign)
        return price <= CHEAP or (not is_anchored and times <= count(value.shape))

    def pass_on(self, op: Compute | Load, demand: Demand) -> None:
        indices = operand_indices(op, demand.indices) if isinstance(op, Compute) else demand.indices
        below = Demand(indices, demand.extent, demand.times, demand.loops)
        for value in operands_of_pure(op):
            self.want(value, below)

    def reduction(self, op: Compute, loops: int) -> None:
        value, operand = op.result, op.operands[0]
        if value.shape and not self.layout.is_resident(value):
            self.settle(value)
            self.layout.anchored.add(value)
        if not self.layout.is_serial(op):
            self.want_home(operand, loops)
            return
        extent = count(value.shape)
        indices = serial_indices(op, home_indices(value.shape))
        self.want(operand, Demand(indices, extent, count(operand.shape), loops))

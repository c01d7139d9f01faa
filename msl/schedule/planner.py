"""Schedules the ops of a function: as loops over elements, uniform steps, and single-thread steps.

Consecutive element-wise ops are fused into one loop over elements (`Elements`). The loop ends where
a value is needed that all lanes compute together, where a domain of another size begins, and where
an access to memory conflicts with one in the loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.aliasing.conflicts import Access, conflict
from eas.ir.aliasing.lane_domains import Domain
from eas.ir.nodes import (
    Alloc,
    Assert,
    Atomic,
    Barrier,
    Break,
    Combine,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    If,
    Leave,
    Load,
    Op,
    Print,
    Region,
    Scope,
    Store,
    TargetOp,
    Terminator,
    Value,
    While,
    Yield,
    is_reduction,
    operands_of,
    regions_of,
    walk,
)
from eas.ir.types import count, is_opaque
from eas.msl.analysis.facts import Control, carried_by, is_pure
from eas.msl.layout.layout import Layout, Strategy
from eas.msl.ops.mma import PARITY_START, PREFETCH, STORE, STORE_SLOT, ZERO
from eas.msl.schedule.items import (
    Accumulate,
    AccumulateByFunction,
    AllReduceRow,
    Assign,
    FinishScan,
    GatherPartials,
    Item,
    LaneOp,
    ScanLanes,
    SerialReduction,
    Stage,
    StageRows,
    StoreRowPartials,
    kernel_accesses,
    needs_partial_scan,
    shape_of_effect,
    stays_in_simdgroups,
)
from eas.msl.schedule.mma_steps import Mma, StoreTile
from eas.msl.schedule.steps import (
    BroadcastResult,
    CombineLanes,
    CombinePartials,
    Elements,
    Plan,
    ReduceChunks,
    ReducePartials,
    RegionEnd,
    ScanPartials,
    ScanRows,
    SingleThread,
    Step,
    StorePartials,
    Sync,
    Uniform,
    UniformControl,
)
from eas.msl.schedule.value_sources import Finder, Needs
from eas.support.location import Loc
from eas.support.records import field, frozen, record

Values = tuple[Value, ...]


def make_plan(layout: Layout, finder: Finder) -> Plan:
    planner = Planner(layout, finder)
    steps = planner.region(layout.facts.function.body, _Targets())
    return Plan(tuple(steps), frozenset(planner.live_out), tuple(planner.allocations))


@frozen
class _Targets:
    """The targets of the values of each kind of terminator."""

    yielded: Values = ()
    broken: Values = ()
    continued: Values = ()


@record
class Planner:
    """Makes the steps of one region at a time; items are added to the `open` loop while they may.

    `unready` values are only available after the `open` loop: results of its reductions, and the
    `deferred` ops that depend on those. `copied` are the values that it stages. `made_in` has the
    loop that computes a value. `live_out` values are used after that loop.
    """

    layout: Layout
    finder: Finder
    steps: list[Step] = field(default_factory=list[Step])
    open: Elements | None = None
    pending: list[Item] = field(default_factory=list[Item])
    deferred: list[Op] = field(default_factory=list[Op])
    unready: set[Value] = field(default_factory=set[Value])
    copied: set[Value] = field(default_factory=set[Value])
    made_in: dict[Value, Elements] = field(default_factory=dict[Value, Elements])
    live_out: set[Value] = field(default_factory=set[Value])
    allocations: list[Alloc] = field(default_factory=list[Alloc])

    def region(self, region: Region, targets: _Targets, staged: Sequence[Value] = ()) -> list[Step]:
        """The steps of a region, whose first ones stage some of its arguments."""
        around, self.steps = self.steps, []
        for value in map(self.layout.facts.resolve, staged):
            if value in self.layout.staged:
                self.add(Stage(value, Domain(value.shape)))
        for op in region.ops:
            self.op(op, targets)
        self.close()
        steps, self.steps = self.steps, around
        return steps

    def op(self, op: Op, targets: _Targets) -> None:
        match op:
            case Constant():
                pass
            case Alloc():
                if not is_opaque(op.result.ty):
                    self.allocations.append(op)
            case Barrier():
                self.close()
                self.steps.append(Sync(True, True, op.loc))
            case Compute() | Load():
                self.value(op)
            case Combine():
                self.combination(op)
            case TargetOp():
                self.target_op(op)
            case Store() | Atomic() | Assert() | Print():
                self.effect(op)
            case If() | For() | While():
                self.control(op, targets)
            case Yield() | Break() | Continue() | Condition():
                self.end(op, targets)
            case Scope() | Leave():
                raise TypeError("scopes are lowered before MSL is written")

    def value(self, op: Compute | Load) -> None:
        facts, value = self.layout.facts, op.result
        if isinstance(op, Compute) and is_reduction(op):
            self.reduction(op)
        elif not value.shape:
            self.uniform(op)
        elif value in self.layout.materialized or not is_pure(op, facts):
            self.add(LaneOp(op))

    def uniform(self, op: Compute | Load) -> None:
        """A scalar is computed before the open loop, or after it if it depends on the loop."""
        waits = any(v in self.unready for v in map(self.layout.facts.resolve, operands_of(op)))
        if waits and is_pure(op, self.layout.facts):
            self.deferred.append(op)
            self.unready.add(op.result)
            return
        touched = kernel_accesses(op, Domain(()), self.layout) if isinstance(op, Load) else []
        if waits or self._overtakes(touched) or self._passes_own_store(op):
            self.close()
        self.steps.append(Uniform(op))

    def _passes_own_store(self, op: Compute | Load) -> bool:
        """Whether a load would move before a store of its own thread to that array."""
        if self.open is None or not isinstance(op, Load) or not self.layout.has_user_barriers:
            return False
        items = [item for item in self.open.items if isinstance(item, LaneOp)]
        ops = [each for item in items for each in walk(Region((), (item.op,)))]
        return any(isinstance(o, Store | Atomic) and o.pointer == op.pointer for o in ops)

    def reduction(self, op: Compute) -> None:
        match self.layout.strategies[op.result]:
            case Strategy.SERIAL:
                if op.result in self.layout.materialized:
                    self.add(SerialReduction(op))
            case Strategy.CHUNKED:
                self.add(Accumulate(op), keeps_operands=True)
                self.close()
                self.steps.append(ReduceChunks(op))
            case Strategy.ALL_REDUCE:
                self.add(Accumulate(op))
            case _:
                self.add(AllReduceRow(op) if stays_in_simdgroups(op) else StoreRowPartials(op))

    def target_op(self, op: TargetOp) -> None:
        """An op on accumulators and tiles."""
        if op.op in (PREFETCH, STORE, STORE_SLOT):
            self.add(StoreTile(op), keeps_operands=op.op is PREFETCH)
            return
        if op.op not in (PARITY_START, ZERO):  # these do not depend on the open loop
            self.close()
        self.steps.append(Mma(op))
        if op.result is not None and self.layout.strategies[op.result] is Strategy.STRIPS:
            self.made_in[op.result] = Elements(count(op.result.shape))
            if op.result in self.layout.staged:
                self.add(Stage(op.result, Domain(op.result.shape)))

    def combination(self, op: Combine) -> None:
        match self.layout.strategies[op.results[0]]:
            case Strategy.SERIAL:
                self.add(SerialReduction(op))
            case Strategy.SIMD_SCAN:
                self.add(ScanLanes(op))
            case Strategy.SERIAL_SCAN:
                self.add(StageRows(op))
                self.close()
                self.steps.append(ScanRows(op))
            case _:
                self.add(AccumulateByFunction(op))

    def effect(self, op: Store | Atomic | Assert | Print) -> None:
        if shape_of_effect(op):
            self.add(LaneOp(op))
            return
        self.close()
        self.steps.append(SingleThread(op))
        if isinstance(op, Atomic) and self.layout.facts.uses_of(op.result):
            self.steps.append(BroadcastResult(op))

    def add(self, item: Item, keeps_operands: bool = False) -> None:
        """Adds an item to the open loop if that is legal, or else to a new one.

        An item that only `keeps_operands` is not added: its operands become live out of the loop.
        """
        domain, needs = item.domain(self.layout), item.needs(self.finder)
        touched = item.kernel_accesses(self.layout)
        while self.open is not None and self._must_wait(needs, domain, touched):
            self.finish()
        if self.open is None:
            self.open = Elements(domain.extent)
        self.live_out |= {v for v in needs.owned if self.made_in.get(v, self.open) is not self.open}
        if keeps_operands:
            self.live_out |= needs.owned
            return
        self.open.items.append(item)
        self.open.touched += touched
        self._note(item, domain)

    def _must_wait(self, needs: Needs, domain: Domain, touched: list[Access]) -> bool:
        assert self.open is not None
        waits = any(value in self.unready for value in needs.owned | needs.shared)
        waits = waits or any(value in self.copied for value in needs.shared)
        return waits or self.open.extent != domain.extent or self._overtakes(touched)

    def _note(self, item: Item, domain: Domain) -> None:
        """Records what an item of the open loop computes."""
        if isinstance(item, Stage):
            self.copied.add(item.value)
        if item.is_incomplete:
            self.pending.append(item)
            self.unready.update(item.results)
        else:
            self._made(item.results, domain)

    def _made(self, values: Values, domain: Domain) -> None:
        assert self.open is not None
        for value in values:
            self.made_in[value] = self.open
            if value in self.layout.staged:
                self.open.items.append(Stage(value, domain))
                self.copied.add(value)

    def close(self) -> None:
        """Ends the open loop and the loops that finish its reductions."""
        while self.open is not None:
            self.finish()

    def finish(self) -> None:
        """Ends the open loop; what finishes its reductions along axes opens a new one."""
        assert self.open is not None
        self.steps.append(self.open)
        pending, deferred = self.pending, self.deferred
        self.open = None
        self.pending, self.deferred = [], []
        self.unready.clear()
        self.copied.clear()
        whole = tuple(item.op for item in pending if isinstance(item, Accumulate))
        if whole:
            self.steps += [StorePartials(whole), ReducePartials(whole)]
        combined = [item.op for item in pending if isinstance(item, AccumulateByFunction)]
        self.steps += [CombineLanes(op) for op in combined]
        self.steps += [CombinePartials(op) for op in combined]
        self.steps += [Uniform(op) for op in deferred]
        for item in pending:
            if isinstance(item, StoreRowPartials):
                self.add(GatherPartials(item.op))
        for item in pending:
            if isinstance(item, ScanLanes):
                self._finish_scan(item.op)

    def _finish_scan(self, op: Combine) -> None:
        if needs_partial_scan(op):
            self.close()
            self.steps.append(ScanPartials(op))
        self.add(FinishScan(op))

    def _overtakes(self, touched: list[Access]) -> bool:
        """Whether an access conflicts with one of the open loop."""
        if self.open is None:
            return False
        facts = self.layout.facts
        return any(conflict(a, b, facts) for a in self.open.touched for b in touched)

    def control(self, op: Control, targets: _Targets) -> None:
        if op.number in self.layout.domains:
            self.add(LaneOp(op))
            return
        inits = () if isinstance(op, If) else op.inits
        self.assign(carried_by(op), inits, op.loc)
        self.close()
        plans = [tuple(self.region(*each)) for each in self._regions(op, targets)]
        self.steps.append(UniformControl(op, tuple(plans)))
        for value in op.results:
            if value in self.layout.staged:
                self.add(Stage(value, Domain(value.shape)))

    def _regions(
        self, op: Control, targets: _Targets
    ) -> list[tuple[Region, _Targets, Sequence[Value]]]:
        passing = _Targets(op.results, targets.broken, targets.continued)
        if isinstance(op, If):
            return [(region, passing, ()) for region in regions_of(op)]
        carried = carried_by(op)
        body = (op.body, _Targets(carried, op.results, carried), ())
        if isinstance(op, For):
            return [(op.body, body[1], carried), (op.orelse, passing, op.orelse.args)]
        return [(op.test, _Targets(), carried), body, (op.orelse, passing, op.orelse.args)]

    def end(self, op: Terminator, targets: _Targets) -> None:
        into: Values = ()
        match op:
            case Yield():
                into = targets.yielded
            case Break():
                into = targets.broken
            case Continue():
                into = targets.continued
            case _:
                pass
        self.assign(into, op.values if into else (), op.loc)
        self.close()
        self.steps.append(RegionEnd(op))

    def assign(self, into: Values, values: Values, loc: Loc) -> None:
        """Assigns the variables of lanes, in a loop over elements for each size of domain."""
        facts = self.layout.facts
        by_extent: dict[int, list[tuple[Value, Value]]] = {}
        for target, source in zip(into, values, strict=True):
            if target.shape and target not in facts.aliases and facts.is_needed(target):
                by_extent.setdefault(count(target.shape), []).append((target, source))
        for pairs in by_extent.values():
            self.add(Assign(tuple(pairs), loc))

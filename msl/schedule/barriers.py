"""Inserts barriers between the steps of a plan: as few as possible.

Walks through the steps with the accesses since the last barrier: they are pending. If an access of
a step conflicts with one of them, a barrier comes before the step. What is pending at the end of a
loop's body is pending at its start too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from eas.ir.aliasing.conflicts import (
    ONCE,
    Access,
    Parity,
    access_of,
    after_swap,
    after_trip,
    conflict,
)
from eas.ir.nodes import (
    Atomic,
    Break,
    Combine,
    Compute,
    Continue,
    For,
    If,
    Load,
    Store,
    TargetOp,
    Value,
    While,
    is_reduction,
)
from eas.ir.types import Pointer, count
from eas.msl.layout.layout import Layout, Strategy
from eas.msl.ops.mma import PARITY_FLIP, PARITY_START, PIPELINED, STORE_SLOT, numbers, tiles_of
from eas.msl.schedule.steps import (
    BroadcastResult,
    CombineLanes,
    CombinePartials,
    CombineStep,
    Elements,
    FinishScan,
    GatherPartials,
    Item,
    Mma,
    Plan,
    ReduceChunks,
    ReducePartials,
    RegionEnd,
    ScanPartials,
    ScanRows,
    SingleThread,
    Stage,
    Step,
    StorePartials,
    StoreTile,
    Sync,
    Uniform,
    UniformControl,
    chunk_name,
    crosses_simdgroups,
    fits_simdgroup,
    partial_name,
    partial_names,
    received_name,
    staged_name,
    stays_in_simdgroups,
    strip_name,
    tile_name,
)
from eas.msl.schedule.value_sources import Finder, domain_of
from eas.support.records import field, record, replace

Open = tuple[Access, ...]


def insert_barriers(plan: Plan, finder: Finder, backings: Mapping[str, str]) -> Plan:
    """The plan with barriers; `backings` maps overlaid arrays to those in whose memory they lie."""
    layout = finder.layout
    if layout.threads == 1:
        return replace(plan, steps=tuple(_without_barriers(plan.steps)))
    steps, _ = Walk(layout, finder, backings).steps(plan.steps, (), _Exits())
    return replace(plan, steps=tuple(steps))


def _without_barriers(steps: Iterable[Step]) -> Iterable[Step]:
    """The steps of a single thread, which needs no barriers."""
    for step in steps:
        if isinstance(step, UniformControl):
            yield UniformControl(step.op, tuple(tuple(_without_barriers(p)) for p in step.plans))
        elif not isinstance(step, Sync):
            yield step


@record
class _Exits:
    """What is pending at the breaks and at the continues of a loop."""

    left: list[Access] = field(default_factory=list[Access])
    again: list[Access] = field(default_factory=list[Access])


@record
class Walk:
    """A walk through steps; `backings` maps overlaid arrays to those in whose memory they lie."""

    layout: Layout
    finder: Finder
    backings: Mapping[str, str]
    known: dict[int, list[Access]] = field(default_factory=dict[int, list[Access]])

    def steps(self, steps: Sequence[Step], state: Open, exits: _Exits) -> tuple[list[Step], Open]:
        result: list[Step] = []
        for step in steps:
            if isinstance(step, UniformControl):
                branch, state = self.branch(step, state, exits)
                result.append(branch)
                continue
            state = () if isinstance(step, Sync) else self.step(step, state, result)
            if isinstance(step, RegionEnd) and isinstance(step.op, Break | Continue):
                (exits.left if isinstance(step.op, Break) else exits.again).extend(state)
                state = ()
            result.append(step)
        return result, state

    def step(self, step: Step, state: Open, result: list[Step]) -> Open:
        touched = self.accesses(step)
        facts = self.layout.facts
        waits = [b for a in state for b in touched if conflict(a, b, facts)]
        if waits:
            sync = Sync(any(map(_is_device, waits)), not all(map(_is_device, waits)))
            result.append(sync)
            state = tuple(
                a for a in state if not (sync.device if _is_device(a) else sync.threadgroup)
            )
        if isinstance(step, Mma) and step.op.op in (PARITY_START, PARITY_FLIP):
            names = self.double_buffered(step.op.operand("parity"))
            state = _swapped(names, state, begins=step.op.op is PARITY_START)
        if isinstance(step, ReducePartials) and step.stage:
            return _swapped(self.partials_of(step.ops), _union(state, touched), begins=False)
        if isinstance(step, ReduceChunks):  # its last round ends with a barrier of its own
            state, touched = tuple(filter(_is_device, state)), self.after_chunks(step.op)
        if isinstance(step, Mma) and self.is_stored_in_strips(step.op):
            state, touched = tuple(filter(_is_device, state)), []
        return _union(state, touched)

    def branch(
        self, step: UniformControl, state: Open, exits: _Exits
    ) -> tuple[UniformControl, Open]:
        op = step.op
        if isinstance(op, If):
            then, after_then = self.steps(step.plans[0], state, exits)
            orelse, after_else = self.steps(step.plans[1], state, exits)
            return UniformControl(op, (tuple(then), tuple(orelse))), _union(after_then, after_else)
        plans, after, own = self.loop(step, op, state)
        orelse, after = self.steps(step.plans[-1], after, exits)
        return UniformControl(op, (*plans, tuple(orelse))), _union(after, own.left)

    def loop(
        self, step: UniformControl, op: For | While, state: Open
    ) -> tuple[list[tuple[Step, ...]], Open, _Exits]:
        """The plans of a loop, with all that can be pending when a trip starts: a fixed point."""
        while True:
            own = _Exits()
            plans: list[tuple[Step, ...]] = []
            after_test = state
            if isinstance(op, While):
                test, after_test = self.steps(step.plans[0], state, own)
                plans.append(tuple(test))
            body, after_body = self.steps(step.plans[-2], after_test, own)
            plans.append(tuple(body))
            facts = self.layout.facts
            again = [after_trip(a, op, facts) for a in (*after_body, *own.again)]
            merged = _union(state, again)
            if len(merged) == len(state):
                return plans, after_test, own
            state = merged

    def after_chunks(self, op: Compute) -> list[Access]:
        """After the last chunk, the owners of the results read the partials and stage results."""
        read = [Access(name, "read") for name in partial_names(op)]
        return [self.in_backing(a) for a in (*read, Access(staged_name(op.result), "write"))]

    def accesses(self, step: Step) -> list[Access]:
        """The accesses of a step to memory, without those of nested steps."""
        if id(step) not in self.known:
            found = self.find_accesses(step)
            self.known[id(step)] = [self.in_backing(access) for access in found]
        return self.known[id(step)]

    def in_backing(self, access: Access) -> Access:
        array = access.array
        backing = self.backings.get(array) if isinstance(array, str) else None
        return access if backing is None else replace(access, array=backing)

    def find_accesses(self, step: Step) -> list[Access]:
        facts = self.layout.facts
        match step:
            case Uniform(op=Load() as op) if (
                op.pointer in facts.written and not self.has_user_barriers()
            ):
                return [access_of(op, (), 1, facts)]
            case SingleThread(op=Store() | Atomic() as op):
                return self.once(op)
            case BroadcastResult(op=op):
                return [Access(received_name(op.result), "read")]
            case StorePartials(ops=ops) | ReducePartials(ops=ops):
                kind = "write" if isinstance(step, StorePartials) else "read"
                names = self.partials_of(ops)
                is_double_buffered = step.stage > 0
                return [
                    Access(n, kind, parity=(n, "current") if is_double_buffered else None)
                    for n in names
                ]
            case ReduceChunks(op=op):
                names = [chunk_name(op.result), *partial_names(op), staged_name(op.result)]
                return [*self.taken(op), *(Access(name, "write") for name in names)]
            case (
                CombineLanes(op=op) | CombinePartials(op=op) | ScanPartials(op=op) | ScanRows(op=op)
            ):
                return self.combined(step, op)
            case Mma(op=op):
                return self.mma(op)
            case Elements():
                return [*step.touched, *self.shared_memory(step)]
            case _:
                return []

    def partials_of(self, ops: Sequence[Compute]) -> list[str]:
        """The arrays for the partials of reductions."""
        shared = [op for op in ops if self.layout.has_partials(op)]
        return [name for op in shared for name in partial_names(op)]

    def mma(self, op: TargetOp) -> list[Access]:
        """The tiles that an accumulator is filled or multiplied from, or where its block goes."""
        if op.result is not None:
            name = (strip_name if self.is_stored_in_strips(op) else staged_name)(op.result)
            return [Access(name, "write")]
        names = list(map(tile_name, tiles_of(op)))
        if op.op is not PIPELINED:
            return [Access(name, "read") for name in names]
        return [
            Access(name, "read", parity=(name, "previous") if buffers == 2 else None)
            for name, buffers in zip(names, numbers(op, "buffers"), strict=True)
        ]

    def double_buffered(self, parity: Value) -> list[str]:
        """The tiles whose buffers a parity chooses between."""
        ops = [use.op for use in self.layout.facts.uses_of(parity)]
        stores = [op for op in ops if isinstance(op, TargetOp) and op.op is STORE_SLOT]
        return [tile_name(op.operand("tile")) for op in stores]

    def is_stored_in_strips(self, op: TargetOp) -> bool:
        return op.result is not None and self.layout.strategies[op.result] is Strategy.STRIPS

    def combined(self, step: CombineStep, op: Combine) -> list[Access]:
        if isinstance(step, ScanRows):
            return [Access(staged_name(value), "write") for value in op.results]
        if not isinstance(step, ScanPartials) and not crosses_simdgroups(self.layout.threads):
            return []
        kind = "read" if isinstance(step, CombinePartials) else "write"
        return [Access(partial_name(value), kind) for value in op.results]

    def scan(self, item: Combine | FinishScan) -> list[Access]:
        """The accesses of a scan in a loop over elements."""
        op = item.op if isinstance(item, FinishScan) else item
        strategy = self.layout.strategies[op.results[0]]
        if strategy is Strategy.SERIAL_SCAN:
            extent = count(op.operands[0].shape)
            return [Access(staged_name(v), "write", (v, extent)) for v in op.results]
        if strategy is not Strategy.SIMD_SCAN or fits_simdgroup(op):
            return []
        kind = "read" if isinstance(item, FinishScan) else "write"
        return [Access(partial_name(value), kind) for value in op.results]

    def once(self, op: Store | Atomic) -> list[Access]:
        touched: list[Access] = []
        if not self.has_user_barriers():
            kind = "write" if isinstance(op, Store) else "atomic"
            touched.append(Access(op.pointer, kind, (ONCE,)))
        if isinstance(op, Atomic) and self.layout.facts.uses_of(op.result):
            touched.append(Access(received_name(op.result), "write", (ONCE,)))
        return touched

    def is_rows(self, op: Compute) -> bool:
        if not is_reduction(op) or not op.result.shape or stays_in_simdgroups(op):
            return False
        return not self.layout.is_serial(op)

    def has_user_barriers(self) -> bool:
        """Whether the user places the barriers: in a thread program."""
        return self.layout.facts.function.threads is not None

    def taken(self, item: Item) -> list[Access]:
        """The staged blocks that the lanes read for an item."""
        shared = self.finder.item(item, domain_of(item, self.layout)).shared
        values = sorted((value for value in shared if value.shape), key=lambda v: v.id)
        return [Access(staged_name(value), "read") for value in values]

    def shared_memory(self, step: Elements) -> list[Access]:
        """The accesses of a loop over elements to the compiler's own threadgroup memory."""
        touched: list[Access] = []
        for item in step.items:
            touched += self.taken(item)
            if isinstance(item, Stage):
                touched.append(Access(staged_name(item.value), "write", (item.value, step.extent)))
            elif isinstance(item, Compute) and self.is_rows(item):
                touched += [Access(name, "write") for name in partial_names(item)]
            elif isinstance(item, StoreTile):
                name = tile_name(item.op.operand("tile"))
                parity: Parity | None = (name, "current") if item.op.op is STORE_SLOT else None
                touched.append(Access(name, "write", (name, step.extent), parity=parity))
            elif isinstance(item, Combine | FinishScan):
                touched += self.scan(item)
            elif isinstance(item, GatherPartials):
                touched += [Access(name, "read") for name in partial_names(item.op)]
        return touched


def _swapped(names: Sequence[str], state: Open, *, begins: bool) -> Open:
    """What is pending after a swap of double buffers, or after their first use begins."""

    def swap(access: Access) -> Access:
        if access.parity is None or access.parity[0] not in names:
            return access
        return replace(access, parity=None) if begins else after_swap(access)

    return _union(map(swap, state), ())


def _union(state: Iterable[Access], more: Iterable[Access]) -> Open:
    return tuple({_key(access): access for access in (*state, *more)}.values())


def _key(access: Access) -> tuple[object, ...]:
    form, earlier = id(access.form), id(access.earlier)
    return access.array, access.kind, access.thread, form, earlier, access.parity


def _is_device(access: Access) -> bool:
    if isinstance(access.array, str):
        return False
    ty = access.array.ty
    return isinstance(ty, Pointer) and ty.space == "device"

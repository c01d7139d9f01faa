"""The body of a kernel: lowers the steps of a plan, and the ops of lanes inside of them."""

from __future__ import annotations

from collections.abc import Callable

from eas.ir.aliasing.lane_indices import linear
from eas.ir.nodes import (
    Assert,
    Atomic,
    Break,
    Combine,
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
    Value,
    While,
    Yield,
    regions_of,
)
from eas.ir.types import BOOL, I32, count
from eas.msl.analysis.facts import Control, is_pure
from eas.msl.cxx.tree import Node, Variable
from eas.msl.lower import (
    axis_reductions,
    dot,
    memory,
    mma,
    reductions,
    scans,
    simdgroups,
    user_reductions,
)
from eas.msl.lower.branches import lower_branch, lower_if
from eas.msl.lower.control import ExitTargets, end, is_left
from eas.msl.lower.loops import lower_for, lower_while
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.mma import MmaState
from eas.msl.lower.reductions import Accumulators
from eas.msl.lower.user_reductions import States
from eas.msl.ops.text import Level
from eas.msl.schedule.double_buffering import stages_of
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
)
from eas.msl.schedule.mma_steps import Mma, StoreTile
from eas.msl.schedule.steps import (
    BroadcastResult,
    CombineLanes,
    CombinePartials,
    Elements,
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
from eas.support.records import field, record

Steps = tuple[Step, ...]
LowerRegion = Callable[[Region, ExitTargets], None]


def lower_body(low: Lowering) -> None:
    """Lowers all steps of the plan into the tree."""
    for op in low.plan.allocations:
        low.allocate(op)
    stages = {number: Variable("stage", I32) for number in stages_of(low.plan.steps)}
    for stage in stages.values():
        low.declare(stage, low.literal(0, I32))
    _Body(low, stages).steps(low.plan.steps, ExitTargets())


@record
class _Body:
    low: Lowering
    stages: dict[int, Variable]
    accumulators: Accumulators = field(default_factory=Accumulators)
    states: States = field(default_factory=States)
    mma_state: MmaState = field(default_factory=MmaState)
    plans: dict[int, Steps] = field(default_factory=dict[int, Steps])

    def steps(self, steps: Steps, targets: ExitTargets) -> None:
        for step in steps:
            if is_left(self.low.block):
                return
            self.step(step, targets)

    def step(self, step: Step, targets: ExitTargets) -> None:
        low = self.low
        match step:
            case Elements():
                self.elements(step)
            case Uniform(op=op):
                self.value(op)
            case SingleThread(op=op):
                memory.single_thread(op, low)
            case BroadcastResult(op=op):
                memory.broadcast_result(op, low)
            case StorePartials():
                reductions.store_partials(step, low, self.accumulators, self.stages.get(step.stage))
            case ReducePartials():
                reductions.reduce_partials(step, low, self.accumulators)
            case ReduceChunks():
                axis_reductions.reduce_chunks(step, low)
            case CombineLanes(op=op):
                user_reductions.store_partials(op, low, self.states)
            case CombinePartials(op=op):
                user_reductions.reduce_partials(op, low, self.states)
            case ScanPartials(op=op):
                scans.scan_partials(op, low)
            case ScanRows(op=op):
                scans.scan_rows(op, low)
            case Mma(op=op):
                mma.lower_mma(op, low, self.mma_state)
            case UniformControl():
                self.branch(step, targets)
            case RegionEnd(op=op):
                end(op, targets, low)
            case Sync():
                low.barrier(step.device, step.threadgroup, step.loc)
            case _:
                raise TypeError(f"{step} is not a step of a plan")

    def branch(self, step: UniformControl, targets: ExitTargets) -> None:
        """Lowers control flow of all threads: its regions are steps."""
        self.plans.update(zip([r.number for r in regions_of(step.op)], step.plans, strict=True))
        for value in step.op.results:
            self.declare_lane_variable(value)
        if isinstance(step.op, If) and _has_barrier(step):
            lower_branch(step.op, targets, self.planned_region, self.low)
        else:
            self.control(step.op, targets, self.planned_region)

    def planned_region(self, region: Region, targets: ExitTargets) -> None:
        self.steps(self.plans[region.number], targets)

    def control(self, op: Control, targets: ExitTargets, region: LowerRegion) -> None:
        match op:
            case If():
                lower_if(op, targets, region, self.low)
            case For():
                lower_for(op, targets, region, self.low)
            case While():
                lower_while(op, targets, region, self.low)

    def declare_lane_variable(self, value: Value) -> None:
        """Declares the variable of a result that each lane has its own element of."""
        low = self.low
        if (
            not low.is_lane_variable(value)
            or value in low.facts.aliases
            or not low.facts.uses_of(value)
        ):
            return
        variable = low.variable_of(value)
        if variable is not None and variable not in low.declared:
            low.declare_once(variable, None, None)

    def elements(self, step: Elements) -> None:
        low = self.low
        if not step.items:
            return
        with low.elements(step.items[0].domain(low.layout)):
            for item in step.items:
                low.domain = item.domain(low.layout)
                self.item(item)

    def item(self, item: Item) -> None:
        low = self.low
        match item:
            case LaneOp(op=op):
                self.lane_op(op, ExitTargets())
            case Assign():
                self.assign(item)
            case Stage():
                self.stage(item)
            case SerialReduction(op=Compute() as op):
                low.define(op.result, axis_reductions.serial(op, low))
            case SerialReduction(op=Combine() as op):
                user_reductions.serial(op, low)
            case Accumulate(op=op):
                reductions.accumulate(op, low, self.accumulators)
            case AccumulateByFunction(op=op):
                user_reductions.accumulate(op, low, self.states)
            case StoreRowPartials(op=op):
                axis_reductions.store_row_partials(op, low)
            case AllReduceRow(op=op):
                low.define(op.result, axis_reductions.all_reduce_row(op, low))
            case GatherPartials(op=op):
                low.define(op.result, axis_reductions.gather_partials(op, low))
            case ScanLanes(op=op):
                scans.scan_lanes(op, low, self.states)
            case FinishScan(op=op):
                scans.finish(op, low, self.states)
                return  # it has declared the variables of its results
            case StageRows(op=op):
                scans.stage_rows(op, low)
            case StoreTile(op=op):
                mma.store_tile(op, low, self.mma_state)
            case _:
                raise TypeError(f"{item} is not an item of a loop over elements")
        if not item.is_incomplete:
            for value in item.results:
                self.save_if_live_out(value)

    def save_if_live_out(self, value: Value) -> None:
        """Saves a value in a variable, if a later loop over elements needs it."""
        low = self.low
        if low.loop is None or value not in low.plan.live_out:
            return
        slots = low.loop.slots if low.loop.slots > 1 else 0
        hint = value.hint or low.word_for(value)
        variable = low.live_out[value] = Variable(hint, value.ty.dtype, slots)
        with low.ahead():
            low.declare(variable)
        low.assign([(variable, low.at(value))], low.at(value).loc)
        low.define(value, low.read(variable))

    def assign(self, item: Assign) -> None:
        """Assigns the variables of blocks."""
        low = self.low
        pairs: list[tuple[Variable, Node]] = []
        for target, source in item.pairs:
            variable = low.variable_of(target)
            assert variable is not None
            node = low.at(source)
            if variable in low.declared:
                pairs.append((variable, node))
            elif low.loop is None:
                low.declare_once(variable, node, item.loc, is_ahead=True)
            else:
                with low.ahead():
                    low.declare_once(variable, None, item.loc)
                pairs.append((variable, node))
        low.assign(pairs, item.loc)

    def stage(self, item: Stage) -> None:
        """Writes a block to threadgroup memory, an element per lane."""
        low, value = self.low, item.value
        indices = item.lanes.indices_of(value.shape)
        place = low.index(linear(indices, value.shape))
        node = low.value(value, indices)
        shared = low.staged_array(value)
        with low.guard(self.is_first(item), node.loc):
            low.put(shared, place, node, node.loc)

    def is_first(self, item: Stage) -> Node | None:
        """Whether a lane is the first of those with the same element; None if each has its own."""
        low, shape = self.low, item.value.shape
        condition: Node | None = None
        if count(shape) == item.lanes.extent:
            return condition
        for index, extent in zip(item.lanes.indices, shape, strict=True):
            if extent > 1 or not index.terms:
                continue
            zero = low.literal(0, I32)
            first = low.infix("==", low.index(index), zero, Level.EQUALITY, BOOL)
            if condition is not None:
                first = low.infix("&&", condition, first, Level.LOGICAL_AND, BOOL)
            condition = first
        return condition

    def lane_region(self, region: Region, targets: ExitTargets) -> None:
        for op in region.ops:
            if is_left(self.low.block):
                return
            self.lane_op(op, targets)

    def lane_op(self, op: Op, targets: ExitTargets) -> None:
        low = self.low
        match op:
            case Compute() | Load() | Constant():
                self.value(op)
            case Store() | Atomic() | Assert() | Print():
                memory.effect(op, low)
            case Yield() | Break() | Continue() | Condition():
                end(op, targets, low)
            case _:
                assert isinstance(op, Control)
                self.control(op, targets, self.lane_region)

    def value(self, op: Op) -> None:
        """Lowers a value of the current lane, or a uniform one."""
        low = self.low
        if isinstance(op, Compute) and op.op.simdgroup:
            low.define(op.result, simdgroups.lower_simd_op(op, low))
        elif isinstance(op, Compute) and op.op.name == "dot":
            low.define(op.result, dot.dot_lane(op, low))
        elif isinstance(op, Load) and not is_pure(op, low.facts):
            low.define(op.result, low.load(op, low.domain.indices_of(op.result.shape)))
        elif isinstance(op, Compute | Load) and not op.result.shape:
            low.at(op.result)
        elif isinstance(op, Compute | Load) and op.result in low.layout.materialized:
            indices = low.domain.indices_of(op.result.shape)
            node = low.find((op.result, indices)) or low.evaluate(op, indices)
            low.define(op.result, node)


def _has_barrier(step: UniformControl) -> bool:
    """Whether a branch has a barrier, which an expression cannot have."""
    return any(isinstance(inner, Sync) for plan in step.plans for inner in plan)

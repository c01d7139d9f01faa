"""The body of a program, op by op: scalars directly, blocks in loops over lanes.

Uniform branches and loops are plain jumps, with loops over lanes inside. Blocks that one loop over
lanes defines and another one uses are stored in tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from eas.ir.nodes import (
    Alloc,
    Assert,
    Atomic,
    Barrier,
    Break,
    Combine,
    Compute,
    Constant,
    Continue,
    For,
    Function,
    If,
    Load,
    Op,
    Print,
    Region,
    Store,
    Value,
    While,
    Yield,
    is_reduction,
    operands_of,
    walk,
)
from eas.ir.ops.reduce import REDUCE
from eas.ir.ops.shape import SHAPE
from eas.ir.ops.simdgroup import SIMDGROUP
from eas.ir.types import Shape
from eas.llvm.analysis.facts import Facts, with_inner
from eas.llvm.emit.dtypes import register, stored
from eas.llvm.emit.emit import Emitter, Variable, const
from eas.llvm.emit.errors import refuse
from eas.llvm.emit.functions import SPELLED
from eas.llvm.lane_listing import Listing
from eas.llvm.lane_loop import LaneLoop, copy_block, new_lane_loop, write_lane_loop
from eas.llvm.lanes.lane_control import domain_of
from eas.llvm.lanes.lane_values import Uniform
from eas.llvm.lanes.loops import write_plain
from eas.llvm.lanes.program import Program
from eas.llvm.lanes.region_ops import emit_op
from eas.llvm.lanes.reports import printed_shape
from eas.llvm.lanes.slots import JoinSlots, LoopFrame, Masks
from eas.llvm.lanes.tiles import Tile, make_tile
from eas.llvm.matmul import write_dot
from eas.llvm.user_reductions import write_combine
from eas.support.records import field, record

LEGAL = {*SPELLED, *(op.name for op in (*SHAPE, *REDUCE, *SIMDGROUP)), "dot", "philox"}


class BlockSlots:
    """Variables and tiles for the values that several paths join in."""

    def __init__(self, program: Program, values: Sequence[Value]) -> None:
        self.program = program
        e = program.e
        self.slots: list[Variable | Tile] = [
            make_tile(e, value, program.width)
            if value.shape
            else e.variable(program.register(value))
            for value in values
        ]

    def put(self, values: Sequence[Value], masks: Masks | None = None) -> None:
        """Sets all slots at once. A block that is read from one of these slots is copied first."""
        assert masks is None
        program, e = self.program, self.program.e
        numbers = {v.id: program.single.scalar(v) for v in values if not v.shape}
        sources: list[Tile | None] = []
        for value in values:
            safe = None
            if value.shape and self._reads_slots(value):
                safe = make_tile(e, value, program.width)
                copy_block(program, value, safe)
            sources.append(safe)
        for value, slot, source in zip(values, self.slots, sources, strict=True):
            if isinstance(slot, Variable):
                e.set(slot, numbers[value.id])
            elif self.program.tiles.get(value.id) != slot:
                copy_block(program, value, slot, source)

    def _reads_slots(self, value: Value) -> bool:
        """Whether a value is the content of one of these slots, or a view of it."""
        op = self.program.facts.definitions.get(value.id)
        while isinstance(op, Compute) and op.op.view and op.operands[0].shape:
            value = op.operands[0]
            op = self.program.facts.definitions.get(value.id)
        tile = self.program.tiles.get(value.id)
        return tile is not None and any(
            isinstance(slot, Tile) and slot.pointer == tile.pointer for slot in self.slots
        )

    def take(self, values: Sequence[Value]) -> None:
        for value, slot in zip(values, self.slots, strict=True):
            if isinstance(slot, Tile):
                self.program.tiles[value.id] = Tile(slot.pointer, value.shape, slot.dtype)
            else:
                self.program.single.bind(value, (), Uniform(self.program.e.get(slot)))


@record
class Writer:
    """Writes a program's regions; `lane_loop` is the loop over lanes that ops are fused into.

    A `listing`, if there is one, gets a line for whatever is written.
    """

    program: Program
    listing: Listing | None = None
    lane_loop: LaneLoop | None = None
    frames: list[LoopFrame] = field(default_factory=list["LoopFrame"])

    @property
    def e(self) -> Emitter:
        return self.program.e

    @property
    def facts(self) -> Facts:
        return self.program.facts

    def run(self, region: Region) -> None:
        """Writes the ops of a region, without its terminator."""
        with nullcontext() if self.listing is None else self.listing.region():
            for op in region.ops[:-1]:
                self._emit(op)
            self.flush()

    def _emit(self, op: Op) -> None:
        match op:
            case Constant():
                v = const(register(op.result.ty.dtype), op.value)
                self.program.single.bind(op.result, (), Uniform(v))
            case Alloc():
                # not on the stack: processors that rename its memory mispredict atomics there
                dtype, size = op.result.ty.dtype, op.size + self.program.width
                self.program.pointers[op.result.id] = self.e.heap(stored(dtype), size)
            case Barrier():
                self.flush()
            case Compute():
                self._emit_compute(op)
            case Combine():
                self._flush_if_used(op)
                self._list(op)
                write_combine(self.program, op)
            case Load():
                if not self._is_read_later(op):
                    self._emit_effect(op, op.offset.shape)
            case Store() | Atomic():
                self._emit_effect(op, op.offset.shape)
            case Assert():
                self._emit_effect(op, op.condition.shape)
            case Print():
                self._emit_print(op)
            case If() | For() | While():
                self._emit_structured(op)
            case _:
                raise AssertionError(f"{type(op).__name__} in a program")

    def _emit_compute(self, op: Compute) -> None:
        name = op.op.name
        if is_reduction(op):
            self._fuse(op, op.operands[0].shape)
            return
        if name == "dot":
            self._flush_before_dot(op)
            self._list(op)
            write_dot(self.program, op)
        elif not op.result.shape:
            self._flush_if_used(op)
            self._list(op)
            self.program.single.bind(op.result, (), self.program.single.compute(op, ()))
        elif self.facts.is_cheap(op.result) or op.op.view or op.op.simdgroup:
            self._flush_if_used(op)
            tile = self.program.tiles.get(op.operands[0].id) if name == "reshape" else None
            if tile is not None:
                self.program.tiles[op.result.id] = Tile(tile.pointer, op.result.shape, tile.dtype)
        else:
            self._fuse(op, op.result.shape)

    def _emit_effect(self, op: Load | Store | Atomic | Assert, shape: Shape) -> None:
        if shape:
            self._fuse(op, shape)
            return
        self._flush_if_used(op)
        if self.lane_loop is not None:
            is_ordered = isinstance(op, Assert) or self.lane_loop.accesses.conflicts(op)
            if is_ordered:
                self.flush()
        self._list(op)
        emit_op(self.program.single, op, [None])

    def _emit_print(self, op: Print) -> None:
        self.flush()
        if printed_shape(op):
            self._fuse(op, printed_shape(op))
            self.flush()
        else:
            self._list(op)
            emit_op(self.program.single, op, [None])

    def _emit_structured(self, op: If | For | While) -> None:
        shape = domain_of(op, self.facts)
        if shape is not None:
            self._fuse(op, shape)
            return
        if self.facts.is_divergent(op):
            raise refuse("lanes of several shapes diverge here", op.loc)
        self.flush()
        self._list(op)
        if isinstance(op, If):
            self._run_if(op)
        else:
            self._run_loop(op)

    def _fuse(self, op: Op, shape: Shape) -> None:
        """Fuses an op into the current loop over lanes, or into a new one."""
        lane_loop = self.lane_loop
        if lane_loop is not None and (
            not lane_loop.can_fuse(op, shape) or self._uses_reduction_of(op, lane_loop)
        ):
            self.flush()
        if self.lane_loop is None:
            self.lane_loop = new_lane_loop(self.program, shape)
        self.lane_loop.add(op)

    def _uses_reduction_of(self, op: Op, lane_loop: LaneLoop) -> bool:
        """Whether an op uses a reduction of the loop, which has a result only after the loop."""
        late = {r.result.id for r in lane_loop.reductions}
        return any(value.id in late for value in _all_operands(op))

    def _flush_if_used(self, op: Op) -> None:
        """Ends the current loop over lanes if an op outside of it uses its results."""
        if self.lane_loop is not None and any(
            value.id in self.lane_loop.defined for value in _all_operands(op)
        ):
            self.flush()

    def _flush_before_dot(self, op: Compute) -> None:
        """Ends the current loop over lanes if a product may read what it stores."""
        if any(dot == op.result for dot, _ in self.program.places.found):
            self.flush()
        else:
            self._flush_if_used(op)

    def _is_read_later(self, op: Load) -> bool:
        """Whether those who use a block load it themselves."""
        is_read_in_place = op.result in self.program.places.unused
        return is_read_in_place or op.result.id in self.program.rematerialized

    def flush(self) -> None:
        lane_loop, self.lane_loop = self.lane_loop, None
        if lane_loop is not None:
            if self.listing is not None:
                self.listing.lanes(lane_loop)
            write_lane_loop(self.program, lane_loop)

    def _list(self, op: Op) -> None:
        if self.listing is not None:
            self.listing.once(op)

    def _run_if(self, op: If) -> None:
        program, e = self.program, self.e
        slots = BlockSlots(program, op.results)
        then, orelse, end = e.label("then"), e.label("else"), e.label("endif")
        e.branch(program.single.scalar(op.condition), then, orelse)
        for label, region in ((then, op.then), (orelse, op.orelse)):
            e.begin(label)
            self._run(region, slots)
            e.jump(end)
        e.begin(end)
        slots.take(op.results)

    def _run_loop(self, op: For | While) -> None:
        slots = (BlockSlots(self.program, op.results), BlockSlots(self.program, op.orelse.args))
        write_plain(self.program.single, op, slots, None, self.frames, self.run, self._run)

    def _run(self, region: Region, slots: JoinSlots) -> None:
        """Writes a region. What it yields goes to `slots`, what an exit passes to its loop's."""
        self.program.single.scopes.append({})
        self.run(region)
        last = region.terminator
        if isinstance(last, Yield):
            slots.put(last.values)
        else:
            assert isinstance(last, Break | Continue)
            frame = self.frames[-1]
            assert frame.labels is not None
            (frame.results if isinstance(last, Break) else frame.carried).put(last.values)
            self.e.jump(frame.labels[isinstance(last, Break)])
        self.program.single.scopes.pop()


def check_legal(function: Function) -> None:
    """Refuses the first op that is not legal here."""
    for op in walk(function.body):
        if isinstance(op, Compute) and op.op.name not in LEGAL:
            raise refuse(f"`{op.op.name}` is not implemented by the cpu backend yet", op.loc)


def _all_operands(op: Op) -> Sequence[Value]:
    return [value for each in with_inner(op) for value in operands_of(each)]

"""A loop over the lanes of a domain, and the ops that are fused into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.nodes import (
    Compute,
    For,
    Op,
    Value,
    While,
    is_reduction,
    results_of,
)
from eas.ir.types import Shape
from eas.llvm.analysis.conflicts import Accesses
from eas.llvm.analysis.facts import with_inner
from eas.llvm.analysis.rematerialization import is_rematerialized
from eas.llvm.emit.emit import V, const, vector
from eas.llvm.emit.functions import EXPANDED
from eas.llvm.lanes import reductions
from eas.llvm.lanes.coordinates import ZERO, Coords, is_varying
from eas.llvm.lanes.interior import (
    Assumption,
    hoistable_assumptions,
    holds_everywhere,
    interior_end,
    interior_start,
)
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector
from eas.llvm.lanes.program import Program
from eas.llvm.lanes.proofs import prove_loop
from eas.llvm.lanes.reductions import Reduction
from eas.llvm.lanes.region_ops import emit_op
from eas.llvm.lanes.tiles import Tile, make_tile, read_tile, write_tile
from eas.llvm.lanes.vector_body import Assumed, Body, Mask
from eas.support.records import field, frozen, record

_MOST_REGISTERS = 12
_FUNCTION = 9  # instructions, roughly, of a function that is expanded inline
_MOST_DIVERGENT = 32  # lanes that iterate a divergent loop together


@record
class LaneLoop:
    """The fused ops of one loop over lanes."""

    shape: Shape
    accesses: Accesses
    ops: list[Op] = field(default_factory=list[Op])
    defined: set[int] = field(default_factory=set[int])
    reductions: list[Compute] = field(default_factory=list[Compute])

    def add(self, op: Op) -> None:
        self.accesses.add(op)
        self.defined |= {value.id for value in results_of(op)}
        if is_reduction(op):
            assert isinstance(op, Compute)
            self.reductions.append(op)
        else:
            self.ops.append(op)

    def can_fuse(self, op: Op, shape: Shape) -> bool:
        if shape != self.shape or self.accesses.conflicts(op):
            return False
        if not isinstance(op, Compute) or not is_reduction(op):
            return True
        return all(other.attr("axis") == op.attr("axis") for other in self.reductions)

    @property
    def members(self) -> set[int]:
        return {each.number for op in (*self.ops, *self.reductions) for each in with_inner(op)}


def _op_count(op: Compute) -> int:
    return _FUNCTION if op.op.name in EXPANDED else 1


def new_lane_loop(program: Program, shape: Shape) -> LaneLoop:
    return LaneLoop(shape, Accesses(shape, program.facts))


def write_lane_loop(program: Program, lane_loop: LaneLoop) -> None:
    _Writer(program, lane_loop).run()


def tile_of(program: Program, value: Value) -> Tile:
    """The tile that holds a block. A block that has no tile yet is stored to a new one."""
    tile = program.tiles.get(value.id)
    if tile is None:
        tile = make_tile(program.e, value, program.width)
        copy_block(program, value, tile)
    return tile


def copy_block(program: Program, value: Value, target: Tile, source: Tile | None = None) -> None:
    """Fills a tile with a block, or with the copy of it in `source`."""
    writer = _Writer(program, new_lane_loop(program, value.shape))
    writer.copied = (value, target, source)
    writer.run()


@frozen
class _Known:
    """What is known in the main or in a peeled loop, see `Body`."""

    assumed: Assumed = field(default_factory=dict[int, "Value | None"])
    proven: frozenset[int] = frozenset()


class _Writer:
    def __init__(self, program: Program, lane_loop: LaneLoop) -> None:
        self.program, self.lane_loop = program, lane_loop
        self.e, self.shape, self.width = program.e, lane_loop.shape, program.width
        wide = [axis for axis, extent in enumerate(lane_loop.shape) if extent > 1]
        self.axis = wide[-1] if wide else len(lane_loop.shape) - 1
        self.reduced = self._reduced_axis()
        self.vectors, self.rows = self._unroll_factors()
        self.escaping = self._escaping()
        self.copied: tuple[Value, Tile, Tile | None] | None = None
        self.order = self._order()

    def _reduced_axis(self) -> int | None:
        """The reduced axis; None if there is no reduction, or one over several axes."""
        if not self.lane_loop.reductions:
            return None
        axis = self.lane_loop.reductions[0].attr("axis")
        assert axis is None or isinstance(axis, int)
        return 0 if axis is None and len(self.shape) == 1 else axis

    def _unroll_factors(self) -> tuple[int, int]:
        """How many vectors along their axis, and how many rows, an iteration computes."""
        ops = [each for op in self.lane_loop.ops for each in with_inner(op)]
        count = -(-self.shape[self.axis] // self.width)
        along, room = self._register_limits(ops)
        vectors, rows = min(along, count), 1
        above = [extent for a, extent in enumerate(self.shape) if a < self.axis]
        if above and self.reduced is None:
            while rows * 2 * vectors <= room and above[-1] % (rows * 2) == 0:
                rows *= 2
        return vectors, rows

    def _register_limits(self, ops: Sequence[Op]) -> tuple[int, int]:
        """How many vectors the registers hold: along the vectors' axis, and with all rows."""
        facts = self.program.facts
        loops = [op for op in ops if isinstance(op, For | While)]
        if not loops:
            computed = [op for op in ops if isinstance(op, Compute)]
            heavy = sum(_op_count(op) for op in computed if not facts.is_cheap(op.result))
            vectors = 4 if heavy <= 12 else 2 if heavy <= 40 else 1
            return vectors, vectors
        carried = max(sum(bool(arg.shape) for arg in loop.orelse.args) for loop in loops)
        room = max(_MOST_REGISTERS // max(carried, 1), 1)
        is_divergent = any(facts.is_divergent(loop) for loop in loops)
        along = min(2 if carried > 3 else 4, room)
        if is_divergent:
            along = min(along, max(_MOST_DIVERGENT // self.width, 1))
        return along, along if is_divergent else room

    def _escaping(self) -> dict[int, Value]:
        """The values that are used outside of the loop and not rematerialized there."""
        members, facts = self.lane_loop.members, self.program.facts
        used = [
            value
            for op in self.lane_loop.ops
            for value in results_of(op)
            if facts.users.get(value.id, set()) - members
        ]
        self.program.rematerialized |= {
            value.id for value in used if is_rematerialized(value, facts)
        }
        return {value.id: value for value in used if value.id not in self.program.rematerialized}

    def _order(self) -> list[int]:
        """The axes from the outermost loop to the innermost one, which is the reduced axis."""
        axes = [axis for axis in range(len(self.shape)) if axis != self.axis]
        if self.reduced is not None and self.reduced != self.axis:
            axes.remove(self.reduced)
            return [*axes, self.axis, self.reduced]
        return [*axes, self.axis]

    def run(self) -> None:
        self.tiles: dict[int, Tile] = {}
        for value in self.escaping.values():
            if value.shape:
                self.tiles[value.id] = make_tile(self.e, value, self.width)
        for op in self.lane_loop.reductions:
            if op.result.shape:
                self.tiles[op.result.id] = make_tile(self.e, op.result, self.width)
        program = self.program
        ops = [*self.lane_loop.ops, *self.lane_loop.reductions]
        assumed = hoistable_assumptions(
            ops, program.assumptions, program.rematerialized, program.facts
        )
        everywhere = [
            each for each in assumed if each.for_all_lanes and not self.lane_loop.reductions
        ]
        assumed = [each for each in assumed if not each.for_all_lanes]
        guards = [guard for each in assumed for guard in each.guards]
        self.assumed = {each.value.id: each.replacement for each in assumed}
        self.interior_start = self.interior_end = None
        if guards:
            self.interior_start = interior_start(program.single, guards, self.shape, self.axis)
            self.interior_end = interior_end(program.single, guards, self.shape, self.axis)
        self.proven, self.holds = frozenset[int](), const("i1", True)
        if program.bounds:
            self.proven, self.holds = prove_loop(
                program.single, ops, program.rematerialized, program.bounds
            )
        self.accumulators: list[Reduction] = []
        self.scalars = {
            value.id: self.e.variable(self.program.register(value))
            for value in self.escaping.values()
            if not value.shape
        }
        is_total = self.lane_loop.reductions and self.reduced is None
        if is_total:
            self._begin(self.vectors * self.rows, self.width)
        self._nest_versioned(everywhere)
        if is_total:
            self._finish_total()
        for id, tile in self.tiles.items():
            self.program.tiles[id] = tile
        for id, variable in self.scalars.items():
            self.program.single.bind(self.escaping[id], (), Uniform(self.e.get(variable)))

    def _nest_versioned(self, everywhere: Sequence[Assumption]) -> None:
        """The loop nest. If assumptions may hold in the whole domain, it is versioned on them."""
        e = self.e
        self.always: dict[int, Value | None] = {}
        if not everywhere:
            self._nest(0, {})
            return
        fast, slow, after = e.label("unit_stride"), e.label("usual"), e.label("after")
        e.branch(holds_everywhere(self.program.single, everywhere), fast, slow)
        e.begin(fast)
        self.always = {each.value.id: each.replacement for each in everywhere}
        self._nest(0, {})
        e.jump(after)
        e.begin(slow)
        self.always = {}
        self._nest(0, {})
        e.begin(after)

    def _nest(self, depth: int, at: dict[int, list[LaneValue]]) -> None:
        axis = self.order[depth]
        if axis == self.axis:
            if self.reduced == self.axis:
                self._begin(self.vectors, self.width)
                self._vectors(at, self._body)
                self._finish_rows(at)
            elif self.reduced is not None:
                self._vectors(at, self._columns)
            else:
                self._vectors(at, self._body)
            return
        self._rows(axis, depth, at)

    def _tail_mask(self, start: V, extent: int) -> Mask:
        """The lanes of a vector that are inside of the domain; None: all of them."""
        if extent % self.width == 0:
            return None
        if isinstance(start.known, int) and start.known + self.width <= extent:
            return None
        e, ty = self.e, vector("i32", self.width)
        row = e.binary("add", e.splat(start, self.width), e.constants("i32", range(self.width)))
        return Vector(e.icmp("slt", row, const(ty, extent)))

    def _rows(self, axis: int, depth: int, at: dict[int, list[LaneValue]]) -> None:
        extent = self.shape[axis]
        if extent == 1:
            self._nest(depth + 1, {**at, axis: [ZERO]})
            return
        is_last = depth + 1 < len(self.order) and self.order[depth + 1] == self.axis
        rows = self.rows if is_last and axis == self.axis - 1 else 1

        def body(now: V) -> None:
            columns: list[LaneValue] = [
                Uniform(self.e.add(now, const("i32", n))) for n in range(rows)
            ]
            self._nest(depth + 1, {**at, axis: columns})

        self.e.for_range(const("i32", 0), const("i32", extent), rows, body)

    def _vectors(
        self,
        at: dict[int, list[LaneValue]],
        inner: Callable[
            [dict[int, list[LaneValue]], Sequence[LaneValue], list[Mask], _Known], None
        ],
    ) -> None:
        """The loop along the vectors' axis: an unrolled main loop, peeled vectors before and after.

        If the accesses are not proved to be in bounds, a loop of single vectors checks them.
        """
        e, extent = self.e, self.shape[self.axis]
        interior_start, interior_end = self._bounds(extent)

        def main(now: V) -> None:
            columns: list[LaneValue] = [
                Strided(now, 1, start=n * self.width) for n in range(self.vectors)
            ]
            inner(at, columns, [None] * len(columns), _Known(self.assumed, self.proven))

        def peeled(now: V, proven: frozenset[int] = self.proven) -> None:
            inner(at, [Strided(now, 1)], [self._tail_mask(now, extent)], _Known(proven=proven))

        after = e.label("after")
        if self.holds.known is None:
            fast, slow = e.label("proven"), e.label("checked")
            e.branch(self.holds, fast, slow)
            e.begin(slow)
            e.for_range(
                const("i32", 0), const("i32", extent), self.width, lambda n: peeled(n, frozenset())
            )
            e.jump(after)
            e.begin(fast)
        if interior_start.known != 0:
            e.for_range(const("i32", 0), interior_start, self.width, peeled)
        if interior_end.known != 0:
            e.for_range(interior_start, interior_end, self.width * self.vectors, main)
        if interior_end.known != extent:
            e.for_range(interior_end, const("i32", extent), self.width, peeled)
        e.begin(after)

    def _bounds(self, extent: int) -> tuple[V, V]:
        """Where the main loop begins, and where it ends."""
        e, pack = self.e, self.width * self.vectors
        interior_start = const("i32", 0)
        if self.interior_end is None:
            return interior_start, const("i32", extent // pack * pack)
        room = self.interior_end
        if self.interior_start is not None:
            above = e.add(self.interior_start, const("i32", self.width - 1))
            interior_start = e.and_(above, const("i32", -self.width))
            room = e.intrinsic("smax", e.sub(room, interior_start), const("i32", 0))
        packs = e.binary("udiv", room, const("i32", pack))
        return interior_start, e.add(interior_start, e.mul(packs, const("i32", pack)))

    def _columns(
        self,
        at: dict[int, list[LaneValue]],
        columns: Sequence[LaneValue],
        tails: list[Mask],
        known: _Known,
    ) -> None:
        """One reduction per lane. The reduced axis is the innermost loop."""
        assert self.reduced is not None
        self._begin(len(columns), self.width)
        axis = self.reduced

        def body(now: V) -> None:
            self._body({**at, axis: [Uniform(now)]}, columns, tails, known)

        self.e.for_range(const("i32", 0), const("i32", self.shape[axis]), 1, body)
        for r in self.accumulators:
            for n, column in enumerate(columns):
                points = self._points({**at, axis: [ZERO]}, [column])
                coords = (*points[0][:axis], *points[0][axis + 1 :])
                found = reductions.finish_one(self.e, r, n)
                writer = Body(self.program, self.shape, points, [tails[n]])
                write_tile(writer, self.tiles[r.op.result.id], coords, Vector(found), tails[n])

    def _points(self, at: dict[int, list[LaneValue]], columns: Sequence[LaneValue]) -> list[Coords]:
        points: list[Coords] = [()]
        for axis in range(len(self.shape)):
            found = columns if axis == self.axis else at[axis]
            points = [(*point, column) for point in points for column in found]
        return points

    def _body(
        self,
        at: dict[int, list[LaneValue]],
        columns: Sequence[LaneValue],
        tails: list[Mask],
        known: _Known,
    ) -> None:
        points = self._points(at, columns)
        masks = [tails[columns.index(point[self.axis])] for point in points]
        assumed = {**self.always, **known.assumed}
        body = Body(self.program, self.shape, points, masks, assumed, proven=known.proven)
        now: Sequence[Mask] | None = masks
        for op in self.lane_loop.ops:
            assert now is not None
            now = emit_op(body, op, now)
        for r in self.accumulators:
            for n, point in enumerate(points):
                reductions.accumulate(body, r, n, point, masks[n])
        for value in self.escaping.values():
            self._store_escaping(body, value, masks)
        if self.copied is not None:
            value, target, source = self.copied
            for n, point in enumerate(points):
                found = body.at(value, point) if source is None else read_tile(body, source, point)
                write_tile(body, target, point, found, masks[n])

    def _store_escaping(self, body: Body, value: Value, masks: Sequence[Mask]) -> None:
        if not value.shape:
            self.e.set(self.scalars[value.id], body.scalar(value))
            return
        for coords, points in body.distinct_coords(value.shape):
            found = body.at(value, coords)
            mask = masks[points[0]] if is_varying(coords) else None
            write_tile(body, self.tiles[value.id], coords, found, mask)

    def _begin(self, count: int, lanes: int) -> None:
        self.accumulators = [
            reductions.make_accumulators(self.e, op, count, lanes)
            for op in self.lane_loop.reductions
        ]
        for r in self.accumulators:
            reductions.reset(self.e, r)

    def _finish_total(self) -> None:
        for r in self.accumulators:
            self.program.single.bind(r.op.result, (), Uniform(reductions.finish(self.e, r)))

    def _finish_rows(self, at: dict[int, list[LaneValue]]) -> None:
        """Stores the results of a reduction along the vectors' axis: one number per row, or one."""
        for r in self.accumulators:
            found = Uniform(reductions.finish(self.e, r))
            if not r.op.result.shape:
                self.program.single.bind(r.op.result, (), found)
                continue
            [point] = self._points(at, [ZERO])
            assert self.reduced is not None
            coords = (*point[: self.reduced], *point[self.reduced + 1 :])
            writer = Body(self.program, self.shape, [point], [None])
            write_tile(writer, self.tiles[r.op.result.id], coords, found, None)

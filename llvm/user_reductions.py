"""Reductions and scans with the user's combining function, along the last axis of tiles."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Combine, Yield
from eas.ir.types import count
from eas.llvm.emit.emit import V, Variable, const, vector
from eas.llvm.lane_loop import tile_of
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector
from eas.llvm.lanes.memory import read, write
from eas.llvm.lanes.program import Program
from eas.llvm.lanes.tiles import Tile, make_tile


def write_combine(program: Program, op: Combine) -> None:
    _Writer(program, op).run()


class _Writer:
    def __init__(self, program: Program, op: Combine) -> None:
        self.program, self.op, self.e = program, op, program.e
        self.body = program.single
        self.sources = [tile_of(program, value) for value in op.operands]
        self.length = op.operands[0].shape[-1]
        self.totals = [self.e.variable(program.register(value)) for value in op.operands]
        self.targets: list[Tile | None] = [
            make_tile(self.e, value, program.width) if value.shape else None for value in op.results
        ]

    def run(self) -> None:
        rows = count(self.op.operands[0].shape[:-1])

        def row(n: V) -> None:
            if self.op.kind == "scan":
                self._scan(n)
            else:
                self._reduce(n)

        if rows == 1:
            row(const("i64", 0))
        else:
            self.e.for_range(const("i64", 0), const("i64", rows), 1, row)
        for value, tile, total in zip(self.op.results, self.targets, self.totals, strict=True):
            if tile is None:
                self.body.bind(value, (), Uniform(self.e.get(total)))
            else:
                self.program.tiles[value.id] = tile

    def _scan(self, row: V) -> None:
        """Scans full vectors first, then the remaining elements one by one."""
        e, width = self.e, self.program.width
        start = e.mul(row, const("i64", self.length))
        whole = self.length // width * width
        if whole:
            self._scan_vectors(start, whole)
        else:
            self._set(self._read(Uniform(start)))
            self._store(start)

        def step(k: V) -> None:
            position = e.add(start, k)
            self._set(self._combined(self._now(), self._read(Uniform(position))))
            self._store(position)

        e.for_range(const("i64", whole or 1), const("i64", self.length), 1, step)

    def _scan_vectors(self, start: V, whole: int) -> None:
        """Scans each vector, then combines it with the last element before it."""
        e, width = self.e, self.program.width
        carried = [e.variable(vector(total.ty, width)) for total in self.totals]
        self._put(start, self._scan_lanes(self._read(Strided(start, 1))), carried)

        def step(k: V) -> None:
            position = e.add(start, k)
            found = self._scan_lanes(self._read(Strided(position, 1)))
            now: list[LaneValue] = [Vector(e.get(total)) for total in carried]
            self._put(position, self._combined(now, found), carried)

        e.for_range(const("i64", width), const("i64", whole), width, step)
        self._set([Uniform(e.extract(e.get(total), 0)) for total in carried])

    def _scan_lanes(self, found: list[LaneValue]) -> list[LaneValue]:
        """Scans the lanes of a vector in log2(width) steps (Hillis and Steele)."""
        e, width = self.e, self.program.width
        reach = 1
        while reach < width:
            rotated: list[LaneValue] = [self._rotated(lanes, width - reach) for lanes in found]
            both = self._combined(rotated, found)
            has_left = e.constants("i1", [lane >= reach for lane in range(width)])
            found = [
                Vector(e.select(has_left, self.body.to_vector(a), self.body.to_vector(b)))
                for a, b in zip(both, found, strict=True)
            ]
            reach *= 2
        return found

    def _put(self, position: V, found: Sequence[LaneValue], carried: Sequence[Variable]) -> None:
        """Stores a vector of results, and carries its last lane over to the next vector."""
        width = self.program.width
        for tile, total, lanes in zip(self.targets, carried, found, strict=True):
            assert tile is not None
            write(self.body, tile.pointer, tile.dtype, Strided(position, 1), lanes, None)
            v = self.body.to_vector(lanes)
            self.e.set(total, self.e.shuffle(v, V(v.ty, "poison"), [width - 1] * width))

    def _now(self) -> list[LaneValue]:
        return [Uniform(self.e.get(total)) for total in self.totals]

    def _reduce(self, row: V) -> None:
        """Reduces full vectors, then their lanes, then the remaining elements."""
        e, width = self.e, self.program.width
        start = e.mul(row, const("i64", self.length))
        whole = self.length // width * width
        if whole:
            self._set(self._reduce_vectors(start, whole))
        else:
            self._set(self._read(Uniform(start)))

        def step(k: V) -> None:
            self._set(self._combined(self._now(), self._read(Uniform(e.add(start, k)))))

        e.for_range(const("i64", whole or 1), const("i64", self.length), 1, step)
        if any(tile is not None for tile in self.targets):
            self._store(row)

    def _reduce_vectors(self, start: V, whole: int) -> list[LaneValue]:
        e, width = self.e, self.program.width
        sums = [e.variable(vector(total.ty, width)) for total in self.totals]
        for total, first in zip(sums, self._read(Strided(start, 1)), strict=True):
            e.set(total, self.body.to_vector(first))

        def step(k: V) -> None:
            now: list[LaneValue] = [Vector(e.get(total)) for total in sums]
            found = self._combined(now, self._read(Strided(e.add(start, k), 1)))
            for total, lanes in zip(sums, found, strict=True):
                e.set(total, self.body.to_vector(lanes))

        e.for_range(const("i64", width), const("i64", whole), width, step)
        found: list[LaneValue] = [Vector(e.get(total)) for total in sums]
        half = width // 2
        while half:
            rotated: list[LaneValue] = [self._rotated(lanes, half) for lanes in found]
            found = self._combined(found, rotated)
            half //= 2
        return [Uniform(e.extract(self.body.to_vector(lanes), 0)) for lanes in found]

    def _rotated(self, lanes: LaneValue, by: int) -> LaneValue:
        v, width = self.body.to_vector(lanes), self.program.width
        order = [(lane + by) % width for lane in range(width)]
        return Vector(self.e.shuffle(v, V(v.ty, "poison"), order))

    def _combined(self, a: Sequence[LaneValue], b: Sequence[LaneValue]) -> list[LaneValue]:
        """Inlines the user's function on two elements, or on two vectors of them."""
        region, body = self.op.body, self.body
        body.scopes.append({})
        for arg, lanes in zip(region.args, (*a, *b), strict=True):
            body.bind(arg, (), lanes)
        body.run(region, [None])
        last = region.terminator
        assert isinstance(last, Yield)
        found = [body.at(value, ()) for value in last.values]
        body.scopes.pop()
        return found

    def _read(self, position: LaneValue) -> list[LaneValue]:
        return [read(self.body, t.pointer, t.dtype, position, None) for t in self.sources]

    def _set(self, values: Sequence[LaneValue]) -> None:
        for total, lanes in zip(self.totals, values, strict=True):
            assert isinstance(lanes, Uniform)
            self.e.set(total, lanes.v)

    def _store(self, position: V) -> None:
        for tile, total in zip(self.targets, self.totals, strict=True):
            assert tile is not None
            value = Uniform(self.e.get(total))
            write(self.body, tile.pointer, tile.dtype, Uniform(position), value, None)

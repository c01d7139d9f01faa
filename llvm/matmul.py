"""Matrix products of tiles. A block of the sums, rows by vectors of columns, is in registers."""

from __future__ import annotations

from eas.ir.nodes import (
    Compute,
    Value,
    is_view,
)
from eas.ir.types import count
from eas.llvm.emit.emit import Emitter, V, Variable, const, mangled, vector
from eas.llvm.lane_loop import tile_of
from eas.llvm.lanes.program import Program
from eas.llvm.lanes.safepoints import safepoint
from eas.llvm.lanes.tiles import Tile, make_tile, transpose
from eas.support.records import record

_MOST_SUMS = 12  # vectors; with those of `b` and one of `a` they fill sixteen registers
_MOST_COLUMNS = 3
_POLL_PRODUCTS = 1 << 22  # multiplications between two safepoints: about a millisecond


def write_dot(program: Program, op: Compute) -> None:
    """`acc + a @ b`, for each pair of matrices of a batch."""
    a, b, acc = op.operands
    left, right = _operand(program, a), _operand(program, b)
    is_fresh = program.facts.constant(acc) == 0
    start, result = (None, _new_tile(program, op)) if is_fresh else _sums(program, acc, op)
    *_, rows, depth = a.shape
    columns = b.shape[-1]
    batch = count(a.shape[:-2])
    e = program.e

    def product(n: V) -> None:
        def matrix(tile: Tile, size: int) -> V:
            return e.gep("float", tile.pointer, e.mul(n, const("i64", size)))

        sums = rows * columns
        pointers = (
            matrix(left, rows * depth),
            matrix(right, depth * columns),
            matrix(result, sums),
        )
        first = None if start is None else matrix(start, sums)
        _Matmul(e, program.width, pointers, first, rows, depth, columns).run()

    if batch == 1:
        product(const("i64", 0))
    else:
        e.for_range(const("i64", 0), const("i64", batch), 1, product)
    program.tiles[op.result.id] = result


def _operand(program: Program, value: Value) -> Tile:
    """The tile of a factor. A transposed tile is transposed in registers, square by square."""
    op = program.facts.definitions.get(value.id)
    if value.id in program.tiles or not isinstance(op, Compute) or not _is_transposed(op):
        return tile_of(program, value)
    if any(extent % program.width for extent in value.shape[-2:]):
        return tile_of(program, value)
    made = make_tile(program.e, value, program.width)
    transpose(program.e, tile_of(program, op.operands[0]), made, program.width)
    return made


def _is_transposed(op: Compute) -> bool:
    """Whether a block is another one with its last two axes swapped."""
    axes = tuple(range(len(op.result.shape)))
    return op.op.name == "permute" and op.attr("axes") == (*axes[:-2], axes[-1], axes[-2])


def _sums(program: Program, acc: Value, op: Compute) -> tuple[Tile, Tile]:
    """The tiles of the initial sums and of the result: the same one if this is its last use."""
    if acc.id not in program.tiles:
        made = tile_of(program, acc)
        return made, made
    start = program.tiles[acc.id]
    return start, start if _is_overwritten(program, acc, op) else _new_tile(program, op)


def _is_overwritten(program: Program, acc: Value, op: Compute) -> bool:
    """Whether the result may overwrite the tile of `acc`. The tile of a view is its operand's."""
    made = program.facts.definitions.get(acc.id)
    return not is_view(made) and program.facts.is_last_use(acc, op)


def _new_tile(program: Program, op: Compute) -> Tile:
    return make_tile(program.e, op.result, program.width)


@record
class _Matmul:
    """One product; `pointers` are those of `a`, `b` and the sums, `start` that of the initial sums.

    Without `start` the sums start at zero. `start` may alias the sums, a factor may not.
    """

    e: Emitter
    width: int
    pointers: tuple[V, V, V]
    start: V | None
    rows: int
    depth: int
    columns: int

    def run(self) -> None:
        """Panels of columns, and in each of them blocks of rows."""
        vectors = -(-self.columns // self.width)
        at_once = min(_MOST_COLUMNS, vectors)
        if vectors % at_once and vectors % 2 == 0:
            at_once = 2
        whole = self.columns // self.width // at_once * at_once
        step = at_once * self.width

        def panel(now: V) -> None:
            self._panel(now, at_once, 0)
            if step * self.rows * self.depth > _POLL_PRODUCTS:
                safepoint(self.e)

        self.e.for_range(const("i64", 0), const("i64", whole * self.width), step, panel)
        for n in range(whole, vectors):
            rest = self.columns - n * self.width
            self._panel(const("i64", n * self.width), 1, rest if rest < self.width else 0)

    def _panel(self, column: V, vectors: int, lanes: int) -> None:
        """Some vectors of columns. If `lanes` is not 0, the last vector has only so many."""
        at_once = max(_MOST_SUMS // vectors, 1)
        at_once = next(
            (n for n in range(at_once, 2, -1) if self.rows % n == 0), min(at_once, self.rows)
        )
        whole = self.rows // at_once * at_once

        def block(row: V) -> None:
            self._block(row, column, at_once, vectors, lanes)

        self.e.for_range(const("i64", 0), const("i64", whole), at_once, block)
        if whole < self.rows:
            self._block(const("i64", whole), column, self.rows - whole, vectors, lanes)

    def _block(self, row: V, column: V, rows: int, vectors: int, lanes: int) -> None:
        """A block of the sums in registers, over the whole depth."""
        e, (a, b, c) = self.e, self.pointers
        ty = vector("float", self.width)
        starts = [self._row(a, row, n, self.depth) for n in range(rows)]
        targets = self._targets(c, row, column, rows, vectors)
        sums = [[e.variable(ty) for _ in range(vectors)] for _ in range(rows)]
        self._begin(sums, row, column)

        def step(k: V) -> None:
            line = e.gep("float", b, e.mul(k, const("i64", self.columns)))
            factors = [e.load(ty, self._shifted(line, column, v), 4) for v in range(vectors)]
            for start, row_sums in zip(starts, sums, strict=True):
                one = e.load("float", e.gep("float", start, k), 4)
                self._add(row_sums, e.splat(one, self.width), factors)

        e.for_range(const("i64", 0), const("i64", self.depth), 1, step)
        for pointers, row_sums in zip(targets, sums, strict=True):
            for pointer, total in zip(pointers, row_sums, strict=True):
                self._store(e.get(total), pointer, lanes)

    def _targets(self, c: V, row: V, column: V, rows: int, vectors: int) -> list[list[V]]:
        """The addresses of the vectors of some rows of the sums."""
        lines = [self._row(c, row, n, self.columns) for n in range(rows)]
        return [[self._shifted(line, column, v) for v in range(vectors)] for line in lines]

    def _begin(self, sums: list[list[Variable]], row: V, column: V) -> None:
        e = self.e
        if self.start is None:
            for total in (each for row_sums in sums for each in row_sums):
                e.set(total, const(total.ty, 0.0))
            return
        firsts = self._targets(self.start, row, column, len(sums), len(sums[0]))
        for pointers, row_sums in zip(firsts, sums, strict=True):
            for pointer, total in zip(pointers, row_sums, strict=True):
                e.set(total, e.load(total.ty, pointer, 4))

    def _add(self, sums: list[Variable], one: V, factors: list[V]) -> None:
        for total, factor in zip(sums, factors, strict=True):
            self.e.set(total, self.e.fma(one, factor, self.e.get(total)))

    def _row(self, start: V, row: V, n: int, length: int) -> V:
        offset = self.e.mul(self.e.add(row, const("i64", n)), const("i64", length))
        return self.e.gep("float", start, offset)

    def _shifted(self, line: V, column: V, n: int) -> V:
        return self.e.gep("float", line, self.e.add(column, const("i64", n * self.width)))

    def _store(self, v: V, pointer: V, lanes: int) -> None:
        e = self.e
        if not lanes:
            e.store(v, pointer, 4)
            return
        bits = e.icmp(
            "slt", e.constants("i32", range(self.width)), const(vector("i32", self.width), lanes)
        )
        target = V("ptr", f"align 4 {pointer.text}")
        e.call_void(f"llvm.masked.store.{mangled(v.ty)}.p0", v, target, bits)

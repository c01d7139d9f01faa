"""Matrix products of tiles. A block of the sums, rows by vectors of columns, is in registers."""

from __future__ import annotations

from eas.ir.aliasing.in_place import is_transpose
from eas.ir.nodes import Compute, Value, is_view
from eas.ir.types import count
from eas.llvm.emit.dtypes import register
from eas.llvm.emit.emit import Emitter, V, Variable, const, mangled, vector
from eas.llvm.lane_loop import tile_of
from eas.llvm.lanes.program import Program
from eas.llvm.lanes.safepoints import safepoint
from eas.llvm.lanes.tiles import Tile, make_tile, transpose
from eas.support.records import frozen, record

_MOST_SUMS = 12  # vectors; with those of `b` and one of `a` they fill sixteen registers
_MOST_COLUMNS = 3
_POLL_PRODUCTS = 1 << 22  # multiplications between two safepoints: about a millisecond


@frozen
class _Factor:
    """A factor in memory, and how far apart its rows are."""

    pointer: V
    length: int


def write_dot(program: Program, op: Compute) -> None:
    """`acc + a @ b`, for each pair of matrices of a batch."""
    a, b, acc = op.operands
    left, right = _operand(program, op, a), _operand(program, op, b)
    is_fresh = program.facts.constant(acc) == 0
    start, result = (None, _new_tile(program, op)) if is_fresh else _sums(program, acc, op)
    *_, rows, depth = a.shape
    columns = b.shape[-1]
    batch = count(a.shape[:-2])
    e, element = program.e, register(op.result.ty.dtype)
    width = program.width // (2 if element == "double" else 1)  # lanes of one register

    def product(n: V) -> None:
        def matrix(pointer: V, size: int) -> V:
            return e.gep(element, pointer, e.mul(n, const("i64", size)))

        sums = rows * columns
        factors = (
            _Factor(matrix(left.pointer, rows * left.length), left.length),
            _Factor(matrix(right.pointer, depth * right.length), right.length),
        )
        first = None if start is None else matrix(start.pointer, sums)
        target = matrix(result.pointer, sums)
        _Matmul(e, element, width, factors, target, first, rows, depth, columns).run()

    if batch == 1:
        product(const("i64", 0))
    else:
        e.for_range(const("i64", 0), const("i64", batch), 1, product)
    program.tiles[op.result.id] = result


def _operand(program: Program, dot: Compute, value: Value) -> _Factor:
    """A factor: where it lies in threadgroup memory already, or in a tile.

    A transposed factor is transposed in registers, square by square.
    """
    made = program.facts.definition(value)
    has_squares = all(extent % program.width == 0 for extent in value.shape[-2:])
    if value.id in program.tiles or not has_squares or not is_transpose(made):
        return _matrix(program, dot, value)
    assert isinstance(made, Compute)
    source, target = made.operands[0], make_tile(program.e, value, program.width)
    matrix = _matrix(program, dot, source)
    tile = Tile(matrix.pointer, source.shape, target.dtype)
    transpose(program.e, tile, matrix.length, target, program.width)
    return _Factor(target.pointer, value.shape[-1])


def _matrix(program: Program, dot: Compute, value: Value) -> _Factor:
    """A matrix that is not transposed any more: read in place, or in a tile."""
    place = program.places.found.get((dot.result, value))
    if place is None:
        return _Factor(tile_of(program, value).pointer, value.shape[-1])
    e = program.e
    offset = const("i64", place.first.constant)
    for number, times in place.first.shared.items():
        wide = e.cast("sext", program.single.scalar(number), "i64")
        offset = e.add(offset, e.mul(wide, const("i64", times)))
    if place.first.shared:
        offset = e.cast("sext", e.cast("trunc", offset, "i32"), "i64")  # exact modulo 2**32
    element = register(value.ty.dtype)
    return _Factor(e.gep(element, program.pointers[place.pointer.id], offset), place.length)


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
    """One product; `sums` is where its sums go, `start` where the initial sums are.

    Without `start` the sums start at zero. `start` may alias the sums, a factor may not.
    """

    e: Emitter
    element: str
    width: int
    factors: tuple[_Factor, _Factor]
    sums: V
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
        e, (a, b) = self.e, self.factors
        ty = vector(self.element, self.width)
        starts = [self._row(a.pointer, row, n, a.length) for n in range(rows)]
        targets = self._targets(self.sums, row, column, rows, vectors)
        sums = [[e.variable(ty) for _ in range(vectors)] for _ in range(rows)]
        self._begin(sums, row, column)

        def step(k: V) -> None:
            line = e.gep(self.element, b.pointer, e.mul(k, const("i64", b.length)))
            factors = [e.load(ty, self._shifted(line, column, v), 4) for v in range(vectors)]
            for start, row_sums in zip(starts, sums, strict=True):
                one = e.load(self.element, e.gep(self.element, start, k), 4)
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
        return self.e.gep(self.element, start, offset)

    def _shifted(self, line: V, column: V, n: int) -> V:
        return self.e.gep(self.element, line, self.e.add(column, const("i64", n * self.width)))

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

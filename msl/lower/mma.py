"""Products of matrices: by 8x8 fragments of simdgroups, or an element per lane.

The fragments of a sum are shared out over the simdgroups in boxes: some matrices of a batch, some
rows, some columns. Both factors lie in threadgroup memory, with rows that are a little longer than
they need to be, so that the lanes that read a column do not meet in one bank. A factor that is a
matrix transposed lies there as that matrix does: it is turned when it is loaded into fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from eas.ir.aliasing.lane_indices import add, linear, scale
from eas.ir.nodes import Compute, Load
from eas.ir.types import BOOL, F32, I32, DType, count
from eas.msl.cxx.spelling import converted
from eas.msl.cxx.tile_multiply import Factor, Product, Shares
from eas.msl.cxx.tree import Block, Loop, Node, Shared, Variable
from eas.msl.layout.layout import SIMD, Strategy, dot_indices, dot_symbol
from eas.msl.lower.lowering import Lowering
from eas.msl.ops.mma import BEGIN, EDGE, KEEP, START, STEP, TURN, number, numbers, strip_rows
from eas.msl.ops.text import Level, Text, call
from eas.msl.schedule.steps import Tile, strip_name, tile_names
from eas.support.records import field, frozen, record

_PADDING_BYTES = 16
_WORDS = ("left", "right", "factor", "start")

# A lane has two neighbours of a row of each fragment. In which row is the same on all of Apple's
# GPUs: MLX and tinygrad count on it.
_ROW_OF_LANE = "int({lane}) / 16 * 4 + int({lane}) / 2 % 4"

Index = Variable | None
"""The counter of a loop over fragments; None if there is only one."""


@frozen
class Fragments:
    """The sum of one simdgroup: its fragments, and the place of the first; None is at zero."""

    shares: Shares
    sum: Variable
    batch: Node | None
    row: Node | None
    column: Node | None

    @property
    def places(self) -> list[Node]:
        return [each for each in (self.batch, self.row, self.column) if each is not None]


@frozen
class Start:
    """The texts of a simdgroup's first matrix, row and column, and of other operands."""

    batch: str
    row: str
    column: str
    others: Sequence[Text]


@record
class Products:
    """The sums by their slots, the turns that tiles have taken, and who first keeps each tile.

    `conditions` are those under which simdgroups multiply, until tiles turn.
    """

    sums: dict[int, Fragments] = field(default_factory=dict[int, Fragments])
    turns: dict[int, Variable] = field(default_factory=dict[int, Variable])
    keepers: dict[int, Compute] = field(default_factory=dict[int, Compute])
    conditions: dict[tuple[int, int, Variable], Node] = field(
        default_factory=dict[tuple[int, int, Variable], Node]
    )

    def tile(self, tile: int, low: Lowering) -> Shared:
        """A tile, which is what the first op that writes it keeps."""
        if not self.keepers:
            kept = (op for op in low.facts.ops if isinstance(op, Compute) and op.op is KEEP)
            for op in kept:
                self.keepers.setdefault(numbers(op, "tiles")[0], op)
        return _share_tile(self.keepers[tile], low)


def share_out(batch: int, m: int, n: int, simdgroups: int) -> Shares:
    """As many simdgroups as divide the fragments evenly, with rectangles close to squares."""
    tall, wide = m // EDGE, n // EDGE
    choices = [
        Shares(batches, rows, columns, batch // batches, tall // rows, wide // columns)
        for batches in range(1, min(batch, simdgroups) + 1)
        for rows in range(1, min(tall, simdgroups // batches) + 1)
        for columns in range(1, min(wide, simdgroups // batches // rows) + 1)
        if batch % batches == 0 and tall % rows == 0 and wide % columns == 0
    ]
    return min(choices, key=lambda each: (-each.simdgroups, each.depth * (each.m + each.n)))


def _share_tile(op: Compute, low: Lowering) -> Shared:
    value, dtype = op.operands[0], op.operands[0].ty.dtype
    hint = f"{value.hint or _word_for(op, low)}_tile"
    size = count(value.shape[:-1]) * _row_length(value.shape[-1], dtype, low)
    buffers = 2 if number(op, "turn") else 1
    return low.threadgroup_array(tile_names(op)[0], hint, dtype, size, buffers=buffers, loc=op.loc)


def _word_for(op: Compute, low: Lowering) -> str:
    """A word for a matrix without a name: the array that it is read from, or what it is."""
    maker = low.facts.definition(op.operands[0])
    return maker.pointer.hint if isinstance(maker, Load) else _WORDS[number(op, "place")]


def copy_tile(item: Tile, low: Lowering, products: Products) -> None:
    """An item of a loop over elements: writes a matrix to threadgroup memory."""
    op, value = item.op, item.op.operands[0]
    indices = low.domain.indices_of(value.shape)
    row = linear(indices[:-1], value.shape[:-1])
    length = _row_length(value.shape[-1], value.ty.dtype, low)
    place = low.index(add(scale(row, length), indices[-1]))
    place.fallback = place.fallback or "place"
    turn = products.turns.get(number(op, "turn"))
    low.put(_share_tile(op, low), place, low.value(value, indices), op.loc, turn)


def _row_length(columns: int, dtype: DType, low: Lowering) -> int:
    return columns + (_PADDING_BYTES * 8 // dtype.bits if low.layout.budget.pads else 0)


def lower_matrix(op: Compute, low: Lowering, products: Products) -> None:
    if op.op is START:
        turn = products.turns[number(op, "turn")] = Variable("stage", I32)
        low.declare(turn, low.literal(0, I32), op.loc)
    elif op.op is TURN:
        turn = products.turns[number(op, "turn")]
        after = low.infix("+", low.read(turn), low.literal(1, I32), Level.SUM, I32)
        low.assign([(turn, after)], op.loc)
        products.conditions.clear()
    elif op.op is BEGIN:
        products.sums[number(op, "slot")] = _begin(op, low, products)
    elif op.op is STEP:
        _add_product(op, low, products)
    else:
        _end(op, low, products.sums[number(op, "slot")])


def _begin(op: Compute, low: Lowering, products: Products) -> Fragments:
    batch, m, n = (number(op, name) for name in ("batch", "m", "n"))
    shares = share_out(batch, m, n, low.threads // SIMD)
    size = shares.depth * shares.m * shares.n
    fragments = Variable(op.result.hint or "sum", F32, size, kind="simdgroup_float8x8")
    low.declare(fragments, None, op.loc)
    found = Fragments(shares, fragments, *_find_places(shares, low))
    if numbers(op, "tiles"):
        _load_start(op, found, low, products)
        return found
    with _counting("n", size, 1, low, op) as each:
        zero = "make_filled_simdgroup_matrix<float, 8, 8>(0.0f)"
        low.act(lambda _: Text(f"{fragments.name}[{_name(each)}] = {zero}"), loc=op.loc)
    return found


def _find_places(shares: Shares, low: Lowering) -> tuple[Node | None, Node | None, Node | None]:
    """The first matrix, row and column of a simdgroup's box."""
    inner = shares.rows * shares.columns
    return (
        _find_place("batch", 1, inner, shares.batches, shares.depth, low),
        _find_place("row", inner, shares.columns, shares.rows, shares.m * EDGE, low),
        _find_place("column", shares.columns, 1, shares.columns, shares.n * EDGE, low),
    )


def _find_place(
    hint: str, period: int, divisor: int, count: int, extent: int, low: Lowering
) -> Node | None:
    if count == 1:
        return None
    text = "{simdgroup}"
    if period not in (1, low.threads // SIMD):
        text += f" % {period}"
    if divisor > 1:
        text += f" / {divisor}"
    key = ("place", hint, text, extent)
    if key not in low.root.nodes:
        part = low.builtin("simdgroup", f"int({text})", I32)
        if extent > 1:
            part = low.infix("*", part, low.literal(extent, I32), Level.PRODUCT, I32)
        part.fallback = hint
        low.root.nodes[key] = part
    return low.root.nodes[key]


def _load_start(op: Compute, found: Fragments, low: Lowering, products: Products) -> None:
    """Fills fragments with a block that lies in threadgroup memory."""
    shared, length = (
        products.tile(numbers(op, "tiles")[0], low),
        _row_length(number(op, "n"), F32, low),
    )
    with _at_work(found, low, op), _each_fragment(found, low, op) as (z, i, j):

        def load(start: Start) -> str:
            place = _in_result(start, number(op, "m"), length, z, i, j)
            return f"simdgroup_load({_own(found, z, i, j)}, &{shared.name}[{place}], {length})"

        _act(op, low, found, load)


def _add_product(op: Compute, low: Lowering, products: Products) -> None:
    """Adds the product of two tiles; of those that turn, it is the trip before that wrote them."""
    found = products.sums[number(op, "slot")]
    tiles = [products.tile(tile, low) for tile in numbers(op, "tiles")]
    turn = products.turns.get(number(op, "turn"))
    with low.guard(_has_product(found, low, products, turn), op.loc):
        if op.operands:
            with _each_fragment(found, low, op) as at:
                _scale_fragment(op, low, found, low.value(op.operands[0], ()), at)
        elif len(tiles) > 2:
            _scale_rows(op, low, found, tiles[2])
        _multiply_tiles(op, low, found, tiles[:2], turn)


def _multiply_tiles(
    op: Compute, low: Lowering, found: Fragments, tiles: Sequence[Shared], turn: Variable | None
) -> None:
    left, right = (_factor(op, place, tiles[place].dtype, low) for place in (0, 1))
    product = Product(found.shares, tiles[0].dtype, left, right)
    name = low.helpers.define(product.name, tiles[0].dtype, product.define())
    turning = numbers(op, "turning")

    def multiply(texts: Sequence[Text]) -> Text:
        before = f"[({turn.name} - 1) % 2]" if turn is not None else ""
        both = [f"{tile.name}{before if t else ''}" for tile, t in zip(tiles, turning, strict=True)]
        return call(name, found.sum.name, *both, *texts)

    low.act(multiply, found.places, frozenset({found.sum}), op.loc)


def _factor(op: Compute, place: int, dtype: DType, low: Lowering) -> Factor:
    """A factor as it lies in its tile."""
    rows, columns = (number(op, name) for name in (("m", "k"), ("k", "n"))[place])
    is_flipped = bool(numbers(op, "flips")[place])
    length = _row_length(rows if is_flipped else columns, dtype, low)
    return Factor(rows, columns, length, is_flipped)


def _scale_rows(op: Compute, low: Lowering, found: Fragments, tile: Shared) -> None:
    """Multiplies each row of a sum by its own factor."""
    own_row, m = low.builtin("lane", _ROW_OF_LANE, I32), number(op, "m")
    with (
        _counting("z", found.shares.depth, 1, low, op) as z,
        _counting("i", found.shares.m, 1, low, op) as i,
    ):

        def place(texts: Sequence[Text]) -> Text:
            start = _start(found, texts)
            row = _sum(_times(_sum(start.batch, _name(z)), m), _moved(start.row, i))
            return Text(f"{tile.name}[{_sum(row, start.others[0].text)}]")

        operands, reads = [*found.places, own_row], frozenset[object]({tile})
        factor = low.node(F32, place, operands, scope=low.block, reads=reads)
        factor.fallback = "factor"
        with _counting("j", found.shares.n, 1, low, op) as j:
            _scale_fragment(op, low, found, factor, (z, i, j))


def _scale_fragment(
    op: Compute, low: Lowering, found: Fragments, factor: Node, at: tuple[Index, Index, Index]
) -> None:
    low.act(
        lambda texts: Text(f"{_own(found, *at)}.thread_elements() *= {texts[0].text}"),
        [factor],
        frozenset({found.sum}),
        op.loc,
    )


def _end(op: Compute, low: Lowering, found: Fragments) -> None:
    if low.layout.strategies[op.result] is Strategy.STRIPS:
        _end_in_strips(op, low, found)
        return
    shared, length = low.staged_array(op.result), number(op, "n")
    with _at_work(found, low, op), _each_fragment(found, low, op) as (z, i, j):

        def store(start: Start) -> str:
            place = _in_result(start, number(op, "m"), length, z, i, j)
            return f"simdgroup_store({_own(found, z, i, j)}, &{shared.name}[{place}], {length})"

        _act(op, low, found, store, frozenset({shared}))


def _end_in_strips(op: Compute, low: Lowering, found: Fragments) -> None:
    """Hands a product over to lanes, some rows at a time."""
    value, n, rows = op.result, number(op, "n"), strip_rows(op, low.threads)
    each = rows * n // low.threads
    strips = count(value.shape) // (rows * n)
    hint = value.hint or "block"
    shared = low.threadgroup_array(strip_name(value), f"{hint}_strip", F32, rows * n, loc=op.loc)
    kept = low.live_out[value] = Variable(hint, F32, strips * each)
    low.declare(kept, None, op.loc)
    with _counting("strip", strips, 1, low, op) as strip:
        with _at_work(found, low, op), _each_fragment(found, low, op) as at:
            _store_if_in_strip(op, low, found, shared, strip, at)
        low.barrier(device=False, threadgroup=True)
        thread = low.thread()
        with _counting("slot", each, 1, low, op) as slot:
            low.act(
                lambda texts: Text(
                    f"{kept.name}[{_sum(_times(_name(strip), each), _name(slot))}] = "
                    f"{shared.name}[{_sum(texts[0].text, _times(_name(slot), low.threads))}]"
                ),
                [thread],
                frozenset({kept}),
                op.loc,
            )
        low.barrier(device=False, threadgroup=True)


def _store_if_in_strip(
    op: Compute,
    low: Lowering,
    found: Fragments,
    shared: Shared,
    strip: Index,
    at: tuple[Index, Index, Index],
) -> None:
    """Writes a fragment to threadgroup memory if its rows are those of a strip."""
    z, i, j = at
    n, rows = number(op, "n"), strip_rows(op, low.threads)

    def row(start: Start) -> str:
        return _sum(_times(_sum(start.batch, _name(z)), number(op, "m")), _moved(start.row, i))

    def is_in_strip(texts: Sequence[Text]) -> Text:
        own = _divided(row(_start(found, texts)), "/", rows)
        return Text(f"{own} == {_name(strip)}", Level.EQUALITY)

    def store(start: Start) -> str:
        place = _sum(f"{_divided(row(start), '%', rows)} * {n}", _moved(start.column, j))
        return f"simdgroup_store({_own(found, *at)}, &{shared.name}[{place}], {n})"

    with low.branch(low.node(BOOL, is_in_strip, found.places, scope=low.block, plain=True), op.loc):
        _act(op, low, found, store, frozenset({shared}))


def _act(
    op: Compute,
    low: Lowering,
    found: Fragments,
    spell: Callable[[Start], str],
    changes: frozenset[object] = frozenset(),
) -> None:
    """A line about the fragments of a simdgroup."""
    low.act(lambda texts: Text(spell(_start(found, texts))), found.places, changes, op.loc)


def _start(found: Fragments, texts: Sequence[Text]) -> Start:
    given = iter(texts)
    batch, row, column = (
        "0" if place is None else next(given).text
        for place in (found.batch, found.row, found.column)
    )
    return Start(batch, row, column, tuple(given))


def _name(index: Index) -> str:
    return "0" if index is None else index.name


def _sum(*terms: str) -> str:
    return " + ".join(term for term in terms if term != "0") or "0"


def _times(text: str, factor: int) -> str:
    if factor == 1 or text == "0":
        return text
    return f"({text}) * {factor}" if " + " in text else f"{text} * {factor}"


def _divided(text: str, operator: str, by: int) -> str:
    return f"({text}) {operator} {by}" if " " in text else f"{text} {operator} {by}"


def _moved(start: str, index: Index) -> str:
    """A row or a column: that of the fragment with this index in its box."""
    return _sum(start, f"{EDGE} * {index.name}" if index is not None else "0")


def _own(found: Fragments, z: Index, i: Index, j: Index) -> str:
    shares = found.shares
    row = _sum(_times(_name(z), shares.m), _name(i))
    return f"{found.sum.name}[{_sum(_times(row, shares.n), _name(j))}]"


def _in_result(start: Start, m: int, length: int, z: Index, i: Index, j: Index) -> str:
    """The place in memory of a fragment of one of some matrices with `m` rows each."""
    matrix = _times(_sum(start.batch, _name(z)), m)
    row = _sum(matrix, start.row)
    if row == "0":  # the rows of fragments are so far apart
        return _sum(_times(_name(i), EDGE * length), _moved(start.column, j))
    return _sum(_times(_sum(row, _moved("0", i)), length), _moved(start.column, j))


@contextmanager
def _counting(hint: str, stop: int, step: int, low: Lowering, op: Compute) -> Generator[Index]:
    """Statements for each number below `stop`; without a loop if there is only zero."""
    if stop <= step:
        yield None
        return
    body, counter = Block(low.block, is_loop=True), Variable(hint, I32)

    def head(_: object) -> str:
        name = counter.name
        advance = f"++{name}" if step == 1 else f"{name} += {step}"
        return f"for (int {name} = 0; {name} < {stop}; {advance})"

    with low.inside(body):
        yield counter
    low.emit(Loop([], loc=op.loc, spell=head, body=body, counters=[counter]))


@contextmanager
def _each_fragment(
    found: Fragments, low: Lowering, op: Compute
) -> Generator[tuple[Index, Index, Index]]:
    with (
        _counting("z", found.shares.depth, 1, low, op) as z,
        _counting("i", found.shares.m, 1, low, op) as i,
        _counting("j", found.shares.n, 1, low, op) as j,
    ):
        yield z, i, j


@contextmanager
def _at_work(found: Fragments, low: Lowering, op: Compute) -> Generator[None]:
    """Statements of the simdgroups that have fragments."""
    with low.guard(_has_work(found, low), op.loc):
        yield


def _has_work(found: Fragments, low: Lowering) -> Node | None:
    working = found.shares.simdgroups
    if working == low.threads // SIMD:
        return None
    return low.builtin("simdgroup", f"{{simdgroup}} < {working}", BOOL)


def _has_product(
    found: Fragments, low: Lowering, products: Products, turn: Variable | None
) -> Node | None:
    """Whether a simdgroup has fragments, and tiles that turn have been written."""
    has_work = _has_work(found, low)
    if turn is None:
        return has_work
    key = (id(low.block), found.shares.simdgroups, turn)
    if key not in products.conditions:
        test = low.infix(">", low.read(turn), low.literal(0, I32), Level.RELATIONAL, BOOL)
        if has_work is not None:
            test = low.infix("&&", test, has_work, Level.LOGICAL_AND, BOOL)
        products.conditions[key] = test
    return products.conditions[key]


def multiply_lanes(op: Compute, low: Lowering) -> Node:
    """Each lane adds up the products of its row and its column."""
    left, right, own = dot_indices(op, low.domain.indices_of(op.result.shape))
    total = Variable(op.result.hint or "sum", F32)
    low.declare(total, low.value(op.operands[2], own), op.loc)
    with low.counting(dot_symbol(op), loc=op.loc):
        factors = [
            _as_float(low.value(value, indices), low)
            for value, indices in zip(op.operands[:2], (left, right), strict=True)
        ]
        operands = [*factors, low.read(total)]
        low.assign([(total, low.node(F32, _fma, operands, scope=low.block))], op.loc)
    return low.read(total)


def _fma(texts: Sequence[Text]) -> Text:
    return call("fma", *texts)


def _as_float(node: Node, low: Lowering) -> Node:
    if node.dtype == F32:
        return node
    return low.node(F32, lambda texts: converted(texts[0], node.dtype, F32), [node])

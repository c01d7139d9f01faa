"""Products of matrices: by 8x8 fragments of simdgroups, or an element per lane.

The fragments of a sum are shared out over the simdgroups in boxes: some matrices of a batch, some
rows, some columns. Both factors lie in threadgroup memory, with rows that are a little longer than
they need to be, so that the lanes that read a column do not meet in one bank. A factor that is a
matrix transposed lies there as that matrix does: it is turned when it is loaded into fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from eas.ir.nodes import Compute
from eas.ir.records import field, frozen, record
from eas.ir.types import BOOL, F32, I32, DType, count
from eas.msl.dtypes import type_name
from eas.msl.fragments import BEGIN, EDGE, LAST, PUT, strip_rows
from eas.msl.indices import add, linear, scale
from eas.msl.lanes import SIMD, Strategy, dot_indices, dot_symbol
from eas.msl.lowering import Lowering
from eas.msl.products import Factor, Product, Shares
from eas.msl.spelling import converted
from eas.msl.steps import Tile, strip_name, tile_name
from eas.msl.text import Level, Text, call
from eas.msl.tree import Block, Loop, Node, Shared, Variable

_PADDING_BYTES = 16

# A lane has two neighbours of a row of each fragment. In which row is the same on all of Apple's
# GPUs: MLX and tinygrad count on it.
_ROW_OF_LANE = "int({lane}) / 16 * 4 + int({lane}) / 2 % 4"


@frozen
class Fragments:
    """The sum of one simdgroup: its fragments, and the place of the first; None is at zero."""

    shares: Shares
    sum: Variable
    batch: Variable | None
    row: Variable | None
    column: Variable | None


@record
class Products:
    """The sums by their slots; by their number, tiles and the turns that those have taken."""

    sums: dict[int, Fragments] = field(default_factory=dict[int, Fragments])
    tiles: dict[tuple[int, int], Shared] = field(default_factory=dict[tuple[int, int], Shared])
    turns: dict[int, Variable] = field(default_factory=dict[int, Variable])


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


def _int(op: Compute, name: str) -> int:
    found = op.attr(name)
    assert isinstance(found, int)
    return found


# --- steps ------------------------------------------------------------------------------------


def copy_tile(item: Tile, low: Lowering, products: Products) -> None:
    """An item of a loop over elements: writes a factor to threadgroup memory."""
    op, value = item.op, item.op.operands[item.place]
    indices = low.domain.indices_of(value.shape)
    row = linear(indices[:-1], value.shape[:-1])
    length = _row_length(value.shape[-1], value.ty.dtype, low)
    place = low.index(add(scale(row, length), indices[-1]))
    tile = _tile(op, item.place, low, products)
    if op.op is not PUT:
        low.put(tile, place, low.value(value, indices), op.loc)
        return
    turn = products.turns[_int(op, "tiles")]

    def line(texts: Sequence[Text]) -> Text:
        return Text(f"{tile.name}[{turn.name} % 2][{texts[0].text}] = {texts[1].text}")

    low.act(line, [place, low.value(value, indices)], frozenset({tile}), op.loc)


def lower_matrix(op: Compute, low: Lowering, products: Products) -> None:
    slot = _int(op, "slot")
    if op.op is BEGIN:
        products.sums[slot] = _begin(op, low, products)
    elif op.result.shape:
        _end(op, low, products.sums[slot])
    else:
        _multiply(op, low, products)


def turn_tiles(op: Compute, low: Lowering, products: Products) -> None:
    """What has been written is what the next step multiplies."""
    turn = products.turns[_int(op, "tiles")]
    after = low.infix("+", low.read(turn), low.literal(1, I32), Level.SUM, I32)
    low.assign([(turn, after)], op.loc)


def _begin(op: Compute, low: Lowering, products: Products) -> Fragments:
    batch, m, n = (_int(op, name) for name in ("batch", "m", "n"))
    shares = share_out(batch, m, n, low.threads // SIMD)
    size = shares.depth * shares.m * shares.n
    fragments = Variable(op.result.hint or "sum", F32, size, kind=_fragment(F32))
    low.declare(fragments, None, op.loc)
    found = Fragments(shares, fragments, *_declare_places(shares, low))
    if op.operands:
        _load_start(op, found, low, products)
    else:
        with _counting("n", size, 1, low, op) as each:
            zero = "make_filled_simdgroup_matrix<float, 8, 8>(0.0f)"
            _line(low, op, lambda: f"{fragments.name}[{_name(each)}] = {zero}")
    turns = op.attr("turns")
    assert isinstance(turns, tuple)
    for number in turns:
        turn = products.turns[number] = Variable("turn", I32)
        low.declare(turn, low.literal(0, I32), op.loc)
    return found


def _load_start(op: Compute, found: Fragments, low: Lowering, products: Products) -> None:
    """Fills fragments with a block that lies in threadgroup memory."""
    shared, length = _tile(op, 0, low, products), _row_length(_int(op, "n"), F32, low)

    with _at_work(found, low, op), _each_fragment(found, low, op) as (z, i, j):

        def load() -> str:
            place = _in_result(found, op, length, z, i, j)
            own = _own(found, z, i, j)
            return f"simdgroup_load({own}, &{shared.name}[{place}], {length})"

        _line(low, op, load)


def _declare_places(
    shares: Shares, low: Lowering
) -> tuple[Variable | None, Variable | None, Variable | None]:
    """The first matrix, row and column of a simdgroup's box."""
    inner = shares.rows * shares.columns
    return (
        _declare_place("batch", 1, inner, shares.batches, shares.depth, low),
        _declare_place("row", inner, shares.columns, shares.rows, shares.m * EDGE, low),
        _declare_place("column", shares.columns, 1, shares.columns, shares.n * EDGE, low),
    )


def _declare_place(
    hint: str, period: int, divisor: int, count: int, extent: int, low: Lowering
) -> Variable | None:
    if count == 1:
        return None
    text = "{simdgroup}"
    if period not in (1, low.threads // SIMD):
        text += f" % {period}"
    if divisor > 1:
        text += f" / {divisor}"
    variable = Variable(hint, I32)
    part = low.builtin("simdgroup", f"int({text})", I32)
    if extent > 1:
        part = low.infix("*", part, low.literal(extent, I32), Level.PRODUCT, I32)
    low.declare(variable, part)
    return variable


def _multiply(op: Compute, low: Lowering, products: Products) -> None:
    """Adds the product of two tiles; of those that turn, it is the step before that wrote them."""
    found = products.sums[_int(op, "slot")]
    if op.op not in (PUT, LAST):
        with _at_work(found, low, op):
            if len(op.operands) > 2:
                _scale(op, found, low, products)
            _multiply_tiles(op, found, low, [_tile(op, place, low, products) for place in (0, 1)])
        return
    turn = products.turns[_int(op, "tiles")]
    if op.op is PUT:
        tiles = [_tile(op, place, low, products) for place in (0, 1)]
    else:
        tiles = [products.tiles[_int(op, "tiles"), place] for place in (0, 1)]
    has_before = low.infix(">", low.read(turn), low.literal(0, I32), Level.RELATIONAL, BOOL)
    with _at_work(found, low, op, has_before):
        _multiply_tiles(op, found, low, tiles, turn)


def _multiply_tiles(
    op: Compute,
    found: Fragments,
    low: Lowering,
    tiles: Sequence[Shared],
    turn: Variable | None = None,
) -> None:
    left, right = (_factor(op, place, tiles[place].dtype, low) for place in (0, 1))
    product = Product(found.shares, tiles[0].dtype, left, right)
    name = low.helpers.define(product.name, tiles[0].dtype, product.define())
    places = [each for each in (found.batch, found.row, found.column) if each is not None]

    def multiply() -> str:
        half = f"[({turn.name} - 1) % 2]" if turn is not None else ""
        arguments = [found.sum.name, *(f"{tile.name}{half}" for tile in tiles)]
        return f"{name}({', '.join([*arguments, *(place.name for place in places)])})"

    _line(low, op, multiply)


def _factor(op: Compute, place: int, dtype: DType, low: Lowering) -> Factor:
    """A factor as it lies in its tile."""
    rows, columns = (_int(op, name) for name in (("m", "k"), ("k", "n"))[place])
    is_flipped = _is_flipped(op, place)
    length = _row_length(rows if is_flipped else columns, dtype, low)
    return Factor(rows, columns, length, is_flipped)


def _scale(op: Compute, found: Fragments, low: Lowering, products: Products) -> None:
    """Multiplies the fragments of a sum by a number, or each of their rows by its own."""
    factor = op.operands[2]
    if not factor.shape:
        with _each_fragment(found, low, op) as at:
            _scale_fragment(op, low, found, low.value(factor, ()), at)
        return
    tile, m = _tile(op, 2, low, products), _int(op, "m")
    own_row = low.builtin("lane", _ROW_OF_LANE, I32)
    with (
        _counting("z", found.shares.depth, 1, low, op) as z,
        _counting("i", found.shares.m, 1, low, op) as i,
    ):

        def place(texts: Sequence[Text]) -> Text:
            row = _sum(_times(_batch(found, z), m), _moved(found.row, i), texts[0].text)
            return Text(f"{tile.name}[{row}]", Level.PRIMARY)

        of_row = low.node(F32, place, [own_row], home=low.block, reads=frozenset({tile}))
        of_row.fallback = "factor"
        with _counting("j", found.shares.n, 1, low, op) as j:
            _scale_fragment(op, low, found, of_row, (z, i, j))


def _scale_fragment(
    op: Compute,
    low: Lowering,
    found: Fragments,
    factor: Node,
    at: tuple[Variable | None, Variable | None, Variable | None],
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
    shared, length = low.staged_array(op.result), _int(op, "n")
    with _at_work(found, low, op), _each_fragment(found, low, op) as (z, i, j):

        def store(_: object) -> Text:
            place = _in_result(found, op, length, z, i, j)
            own = _own(found, z, i, j)
            return Text(f"simdgroup_store({own}, &{shared.name}[{place}], {length})")

        low.act(store, changes=frozenset({shared}), loc=op.loc)


def _end_in_strips(op: Compute, low: Lowering, found: Fragments) -> None:
    """Hands a product over to lanes, some rows at a time."""
    value, n, rows = op.result, _int(op, "n"), strip_rows(op, low.threads)
    each = rows * n // low.threads
    strips = count(value.shape) // (rows * n)
    hint = value.hint or "block"
    shared = low.share(strip_name(value), f"{hint}_strip", F32, rows * n, loc=op.loc)
    kept = low.kept[value] = Variable(hint, F32, strips * each)
    low.declare(kept, None, op.loc)
    with _counting("strip", strips, 1, low, op) as strip:
        with _at_work(found, low, op), _each_fragment(found, low, op) as (z, i, j):
            _store_if_in_strip(op, low, found, shared, (strip, z, i, j))
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
    at: tuple[Variable | None, Variable | None, Variable | None, Variable | None],
) -> None:
    """Writes a fragment to threadgroup memory if its rows are those of a strip."""
    strip, z, i, j = at
    n, rows = _int(op, "n"), strip_rows(op, low.threads)

    def row() -> str:
        return _sum(_times(_batch(found, z), _int(op, "m")), _moved(found.row, i))

    def is_in_strip(_: object) -> Text:
        return Text(f"{_divided(row(), '/', rows)} == {_name(strip)}", Level.EQUALITY)

    def store(_: object) -> Text:
        place = _sum(f"{_divided(row(), '%', rows)} * {n}", _moved(found.column, j))
        return Text(f"simdgroup_store({_own(found, z, i, j)}, &{shared.name}[{place}], {n})")

    with low.branch(low.node(BOOL, is_in_strip, home=low.block, plain=True), op.loc):
        low.act(store, changes=frozenset({shared}), loc=op.loc)


# --- pieces of text ---------------------------------------------------------------------------


def _fragment(dtype: DType) -> str:
    return f"simdgroup_{type_name(dtype)}8x8"


def _name(index: Variable | None) -> str:
    return "0" if index is None else index.name


def _sum(*terms: str) -> str:
    return " + ".join(term for term in terms if term != "0") or "0"


def _times(text: str, factor: int) -> str:
    if factor == 1 or text == "0":
        return text
    return f"({text}) * {factor}" if " + " in text else f"{text} * {factor}"


def _divided(text: str, operator: str, by: int) -> str:
    return f"({text}) {operator} {by}" if " " in text else f"{text} {operator} {by}"


def _moved(start: Variable | None, index: Variable | None) -> str:
    """A row or a column: that of the fragment with this index in its box."""
    return _sum(_name(start), f"{EDGE} * {index.name}" if index is not None else "0")


def _batch(found: Fragments, z: Variable | None) -> str:
    return _sum(_name(found.batch), _name(z))


def _own(found: Fragments, z: Variable | None, i: Variable | None, j: Variable | None) -> str:
    shares = found.shares
    row = _sum(_times(_name(z), shares.m), _name(i))
    return f"{found.sum.name}[{_sum(_times(row, shares.n), _name(j))}]"


def _offset(batch: str, rows: int, row: str, length: int, column: str) -> str:
    """The place in memory of an element of one of some matrices with so many rows each."""
    return _sum(_times(_sum(_times(batch, rows), row), length), column)


def _in_result(
    found: Fragments,
    op: Compute,
    length: int,
    z: Variable | None,
    i: Variable | None,
    j: Variable | None,
) -> str:
    row, column = _moved(found.row, i), _moved(found.column, j)
    return _offset(_batch(found, z), _int(op, "m"), row, length, column)


def _line(low: Lowering, op: Compute, spell: Callable[[], str]) -> None:
    low.act(lambda _: Text(spell()), loc=op.loc)


@contextmanager
def _counting(
    hint: str, stop: int, step: int, low: Lowering, op: Compute
) -> Generator[Variable | None]:
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
) -> Generator[tuple[Variable | None, Variable | None, Variable | None]]:
    with (
        _counting("z", found.shares.depth, 1, low, op) as z,
        _counting("i", found.shares.m, 1, low, op) as i,
        _counting("j", found.shares.n, 1, low, op) as j,
    ):
        yield z, i, j


@contextmanager
def _at_work(
    found: Fragments, low: Lowering, op: Compute, condition: Node | None = None
) -> Generator[None]:
    """Statements of the simdgroups that have fragments, under a condition."""
    working = found.shares.simdgroups
    if working < low.threads // SIMD:
        has_work = low.builtin("simdgroup", f"{{simdgroup}} < {working}", BOOL)
        if condition is not None:
            has_work = low.infix("&&", condition, has_work, Level.LOGICAL_AND, BOOL)
        condition = has_work
    if condition is None:
        yield
        return
    with low.branch(condition, op.loc):
        yield


def _row_length(columns: int, dtype: DType, low: Lowering) -> int:
    return columns + (_PADDING_BYTES * 8 // dtype.bits if low.layout.budget.pads else 0)


def _is_flipped(op: Compute, place: int) -> bool:
    flips = op.attr("flips")
    assert isinstance(flips, tuple)
    return bool(flips[place])


def _tile(op: Compute, place: int, low: Lowering, products: Products) -> Shared:
    value = op.operands[place]
    word = "start" if op.op is BEGIN else ("left", "right", "factor")[place]
    hint = f"{value.hint or word}_tile"
    size = count(value.shape[:-1]) * _row_length(value.shape[-1], value.ty.dtype, low)
    halves = 2 if op.op is PUT else 1
    name, dtype = tile_name(op, place), value.ty.dtype
    tile = low.share(name, hint, dtype, size, halves=halves, loc=op.loc)
    products.tiles[_int(op, "tiles"), place] = tile
    return tile


# --- an element per lane ----------------------------------------------------------------------


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
        low.assign([(total, low.node(F32, _fma, operands, home=low.block))], op.loc)
    return low.read(total)


def _fma(texts: Sequence[Text]) -> Text:
    return call("fma", *texts)


def _as_float(node: Node, low: Lowering) -> Node:
    if node.dtype == F32:
        return node
    return low.node(F32, lambda texts: converted(texts[0], node.dtype, F32), [node])

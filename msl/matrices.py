"""Products of matrices: by 8x8 fragments of simdgroups, or an element per lane.

The fragments of a sum are shared out over the simdgroups in rectangles. Both factors lie in
threadgroup memory, with rows that are a little longer than they need to be, so that the lanes that
read a column do not meet in one bank.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from eas.ir.nodes import Compute
from eas.ir.records import frozen
from eas.ir.types import BOOL, F32, I32, DType
from eas.msl.dtypes import type_name
from eas.msl.fragments import EDGE
from eas.msl.indices import add, scale
from eas.msl.lanes import SIMD, dot_indices, dot_symbol
from eas.msl.lowering import Lowering
from eas.msl.spelling import converted
from eas.msl.steps import Tile, tile_name
from eas.msl.text import Level, Text, call
from eas.msl.tree import Block, Loop, Node, Shared, Variable

_PADDING_BYTES = 16


@frozen
class Shares:
    """`rows` by `columns` simdgroups, each with `m` by `n` fragments."""

    rows: int
    columns: int
    m: int
    n: int


@frozen
class Fragments:
    """The sum of one simdgroup: its fragments, and the place of the first."""

    shares: Shares
    sum: Variable
    row: Variable
    column: Variable


Sums = dict[int, Fragments]


def share_out(m: int, n: int, simdgroups: int) -> Shares:
    """As many simdgroups as divide the fragments evenly, with rectangles close to squares."""
    tall, wide = m // EDGE, n // EDGE
    choices = [
        Shares(rows, columns, tall // rows, wide // columns)
        for rows in range(1, min(tall, simdgroups) + 1)
        for columns in range(1, min(wide, simdgroups // rows) + 1)
        if tall % rows == 0 and wide % columns == 0
    ]
    return min(choices, key=lambda each: (-each.rows * each.columns, each.m + each.n))


def _int(op: Compute, name: str) -> int:
    found = op.attr(name)
    assert isinstance(found, int)
    return found


# --- steps ------------------------------------------------------------------------------------


def copy_tile(item: Tile, low: Lowering) -> None:
    """An item of a loop over elements: writes a factor to threadgroup memory."""
    value = item.op.operands[item.place]
    indices = low.domain.indices_of(value.shape)
    place = add(scale(indices[0], _row_length(value.shape[1], value.ty.dtype)), indices[1])
    low.put(
        _tile(item.op, item.place, low), low.index(place), low.value(value, indices), item.op.loc
    )


def lower_matrix(op: Compute, low: Lowering, sums: Sums) -> None:
    match op.op.name:
        case "mma_begin":
            _begin(op, low, sums)
        case "mma_step":
            _step(op, low, sums[_int(op, "slot")])
        case _:
            _end(op, low, sums[_int(op, "slot")])


def _begin(op: Compute, low: Lowering, sums: Sums) -> None:
    shares = share_out(_int(op, "m"), _int(op, "n"), low.threads // SIMD)
    hint = op.result.hint or "sum"
    fragments = Variable(hint, F32, shares.m * shares.n, kind=_fragment(F32))
    low.declare(fragments, None, op.loc)
    row = _declare_place("row", f"{{simdgroup}} / {shares.columns}", shares.rows, shares.m, low)
    column = _declare_place(
        "column", f"{{simdgroup}} % {shares.columns}", shares.columns, shares.n, low
    )
    found = sums[_int(op, "slot")] = Fragments(shares, fragments, row, column)
    if not op.operands:
        with _counting("n", shares.m * shares.n, 1, low, op) as n:
            zero = "make_filled_simdgroup_matrix<float, 8, 8>(0.0f)"
            _line(low, op, lambda: f"{fragments.name}[{n.name}] = {zero}")
        return
    shared, length = _tile(op, 0, low), _row_length(_int(op, "n"), F32)
    with _at_work(found, low, op), _each_fragment(found, low, op) as (i, j):
        _line(
            low,
            op,
            lambda: f"simdgroup_load({_own(found, i, j)}, {_place(found, shared, length, i, j)})",
        )


def _declare_place(hint: str, text: str, count: int, extent: int, low: Lowering) -> Variable:
    """The first row or column of a simdgroup's rectangle."""
    variable = Variable(hint, I32)
    if count == 1:
        low.declare(variable, low.literal(0, I32))
        return variable
    text = text.removesuffix(" / 1")
    part = low.builtin("simdgroup", f"int({text})", I32)
    low.declare(variable, low.infix("*", part, low.literal(extent * EDGE, I32), Level.PRODUCT, I32))
    return variable


def _step(op: Compute, low: Lowering, found: Fragments) -> None:
    shares, dtype = found.shares, op.operands[0].ty.dtype
    tiles = [_tile(op, place, low) for place in (0, 1)]
    lengths = [_row_length(_int(op, name), dtype) for name in ("k", "n")]
    left = Variable("left", dtype, shares.m, kind=_fragment(dtype))
    right = Variable("right", dtype, kind=_fragment(dtype))
    with _at_work(found, low, op), _counting("k", _int(op, "k"), EDGE, low, op) as k:
        low.declare(left, None, op.loc)
        with _counting("i", shares.m, 1, low, op) as i:

            def load_left() -> str:
                place = f"({_moved(found.row, i)}) * {lengths[0]} + {k.name}"
                own = f"{left.name}[{i.name}]"
                return f"simdgroup_load({own}, &{tiles[0].name}[{place}], {lengths[0]})"

            _line(low, op, load_left)
        with _counting("j", shares.n, 1, low, op) as j:
            low.declare(right, None, op.loc)

            def load_right() -> str:
                place = f"{k.name} * {lengths[1]} + {_moved(found.column, j)}"
                return f"simdgroup_load({right.name}, &{tiles[1].name}[{place}], {lengths[1]})"

            _line(low, op, load_right)
            with _counting("i", shares.m, 1, low, op) as inner:

                def multiply() -> str:
                    own = _own(found, inner, j)
                    factors = f"{left.name}[{inner.name}], {right.name}"
                    return f"simdgroup_multiply_accumulate({own}, {factors}, {own})"

                _line(low, op, multiply)


def _end(op: Compute, low: Lowering, found: Fragments) -> None:
    shared, length = low.staged_array(op.result), _int(op, "n")
    with _at_work(found, low, op), _each_fragment(found, low, op) as (i, j):
        low.act(
            lambda _: Text(
                f"simdgroup_store({_own(found, i, j)}, {_place(found, shared, length, i, j)})"
            ),
            changes=frozenset({shared}),
            loc=op.loc,
        )


# --- pieces of text ---------------------------------------------------------------------------


def _fragment(dtype: DType) -> str:
    return f"simdgroup_{type_name(dtype)}8x8"


def _moved(start: Variable, index: Variable) -> str:
    return f"{start.name} + {EDGE} * {index.name}"


def _own(found: Fragments, i: Variable, j: Variable) -> str:
    return f"{found.sum.name}[{i.name} * {found.shares.n} + {j.name}]"


def _place(found: Fragments, shared: Shared, length: int, i: Variable, j: Variable) -> str:
    """The place of a fragment of the sum in memory, and the length of its rows."""
    index = f"({_moved(found.row, i)}) * {length} + {_moved(found.column, j)}"
    return f"&{shared.name}[{index}], {length}"


def _line(low: Lowering, op: Compute, spell: Callable[[], str]) -> None:
    low.act(lambda _: Text(spell()), loc=op.loc)


@contextmanager
def _counting(hint: str, stop: int, step: int, low: Lowering, op: Compute) -> Generator[Variable]:
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
) -> Generator[tuple[Variable, Variable]]:
    with (
        _counting("i", found.shares.m, 1, low, op) as i,
        _counting("j", found.shares.n, 1, low, op) as j,
    ):
        yield i, j


@contextmanager
def _at_work(found: Fragments, low: Lowering, op: Compute) -> Generator[None]:
    """Statements of the simdgroups that have fragments."""
    working = found.shares.rows * found.shares.columns
    if working == low.threads // SIMD:
        yield
        return
    with low.branch(low.builtin("simdgroup", f"{{simdgroup}} < {working}", BOOL), op.loc):
        yield


def _row_length(columns: int, dtype: DType) -> int:
    return columns + _PADDING_BYTES * 8 // dtype.bits


def _tile(op: Compute, place: int, low: Lowering) -> Shared:
    value = op.operands[place]
    rows, columns = value.shape
    word = "start" if op.op.name == "mma_begin" else ("left", "right")[place]
    hint = f"{value.hint or word}_tile"
    size = rows * _row_length(columns, value.ty.dtype)
    return low.share(tile_name(op, place), hint, value.ty.dtype, size)


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

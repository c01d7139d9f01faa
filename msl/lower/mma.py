"""Lowers the ops of `eas.msl.ops.mma`: products of matrices by the 8x8 fragments of simdgroups.

Both factors of a product lie in threadgroup memory. The rows of a tile are a little longer than the
matrix needs, so that lanes that read a column have no bank conflicts. A factor that is a transposed
matrix lies there as that matrix does: `simdgroup_load` transposes it. A factor in an array of the
kernel is read there, with the rows that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eas.ir.aliasing.lane_indices import add, linear, scale
from eas.ir.nodes import Constant, Load, TargetOp, Value
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import BOOL, F32, I32, DType, Pointer, count
from eas.msl.cxx.tile_multiply import Factor, Product
from eas.msl.cxx.tree import Block, Node, Shared, Variable
from eas.msl.layout.layout import Strategy
from eas.msl.lower.fragments import (
    At,
    Fragments,
    Index,
    Start,
    act_on,
    block_index,
    block_row,
    counting,
    divided,
    each_fragment,
    find_origin,
    fragment,
    has_work,
    moved,
    name_of,
    partition,
    start_of,
    sum_of,
    times,
    working,
)
from eas.msl.lower.lowering import Lowering
from eas.msl.ops.mma import (
    EPILOGUE,
    LOAD,
    PARITY_FLIP,
    PARITY_START,
    PIPELINED,
    ROLES,
    SCALED,
    SCALED_IN_PLACE,
    STORE,
    STORE_SLOT,
    ZERO,
    extents_of,
    in_place_factors,
    number,
    numbers,
    strip_rows,
)
from eas.msl.ops.text import Level, Text, call, subscript
from eas.msl.schedule.mma_steps import strip_of, tile_of
from eas.support.records import field, frozen, record

_PADDING_BYTES = 16

# The row of a fragment in which a lane has its two elements. Apple documents no layout, but it is
# the same on all of its GPUs so far: MLX (`BaseMMAFrag::get_coord` in steel/gemm/mma.h) and
# tinygrad (`metal` in codegen/opt/tc.py) rely on it, and so does `eas.ir.ops.simdgroup`.
_ROW_OF_LANE = "int({lane}) / 16 * 4 + int({lane}) / 2 % 4"


@record
class MmaState:
    """What the ops of a kernel work on, by pointer: fragments, and counters of trips.

    `stores` has the first op that writes each tile. `conditions` are those under which simdgroups
    multiply, until a parity changes.
    """

    fragments: dict[Value, Fragments] = field(default_factory=dict[Value, Fragments])
    parities: dict[Value, Variable] = field(default_factory=dict[Value, Variable])
    stores: dict[Value, TargetOp] = field(default_factory=dict[Value, TargetOp])
    conditions: dict[tuple[Block, int, Variable], Node] = field(
        default_factory=dict[tuple[Block, int, Variable], Node]
    )

    def of(self, op: TargetOp) -> Fragments:
        """The fragments of the accumulator that an op works on."""
        return self.fragments[op.operand("acc")]

    def parity_of(self, op: TargetOp) -> Variable | None:
        if op.op not in (PIPELINED, STORE_SLOT):
            return None
        return self.parities[op.operand("parity")]

    def tile(self, pointer: Value, low: Lowering) -> Shared:
        """The array of a tile, which the first op that writes it describes."""
        if not self.stores:
            ops = [op for op in low.facts.ops if isinstance(op, TargetOp)]
            for op in (op for op in ops if op.op in (STORE, STORE_SLOT)):
                self.stores.setdefault(op.operand("tile"), op)
        return _tile_array(self.stores[pointer], low)


def _tile_array(op: TargetOp, low: Lowering) -> Shared:
    value = op.operand("a")
    dtype = value.ty.dtype
    hint = f"{value.hint or _word_for(op, low)}_tile"
    size = count(value.shape[:-1]) * _row_length(value.shape[-1], dtype, low)
    buffers = 2 if op.op is STORE_SLOT else 1
    array = tile_of(op.operand("tile"))
    return low.threadgroup_array(array, hint, dtype, size, buffers=buffers, loc=op.loc)


def _word_for(op: TargetOp, low: Lowering) -> str:
    """A word for a matrix without a name: the array that it is read from, or its role."""
    maker = low.facts.definition(op.operand("a"))
    return maker.pointer.hint if isinstance(maker, Load) else str(op.attr("role"))


def store_tile(op: TargetOp, low: Lowering, state: MmaState) -> None:
    """An item of a loop over elements: writes a matrix to threadgroup memory."""
    value = op.operand("a")
    indices = low.domain.indices_of(value.shape)
    row = linear(indices[:-1], value.shape[:-1])
    length = _row_length(value.shape[-1], value.ty.dtype, low)
    place = low.index(add(scale(row, length), indices[-1]))
    place.fallback = place.fallback or "place"
    parity = state.parity_of(op)
    low.put(_tile_array(op, low), place, low.value(value, indices), op.loc, parity)


def _row_length(columns: int, dtype: DType, low: Lowering) -> int:
    return columns + (_PADDING_BYTES * 8 // dtype.bits if low.layout.budget.pads else 0)


def lower_mma(op: TargetOp, low: Lowering, state: MmaState) -> None:
    """A step of all simdgroups."""
    if op.op is PARITY_START:
        _start_parity(op, low, state)
    elif op.op is PARITY_FLIP:
        _flip_parity(op, low, state)
    elif op.op in (ZERO, LOAD):
        _initialize(op, low, state)
    elif op.op is EPILOGUE:
        _store_block(op, low, state.of(op))
    else:
        _add_product(op, low, state)


def _start_parity(op: TargetOp, low: Lowering, state: MmaState) -> None:
    parity = state.parities[op.operand("parity")] = Variable("stage", I32)
    low.declare(parity, low.literal(0, I32), op.loc)


def _flip_parity(op: TargetOp, low: Lowering, state: MmaState) -> None:
    parity = state.parities[op.operand("parity")]
    after = low.infix("+", low.read(parity), low.literal(1, I32), Level.SUM, I32)
    low.assign([(parity, after)], op.loc)
    state.conditions.clear()


def _initialize(op: TargetOp, low: Lowering, state: MmaState) -> None:
    parts = partition(*extents_of(op), low.threads // SIMD)
    size = parts.depth * parts.m * parts.n
    acc = op.operand("acc")
    array = Variable(acc.hint or "sum", F32, size, kind="simdgroup_float8x8")
    low.declare(array, None, op.loc)
    found = state.fragments[acc] = Fragments(parts, array, *find_origin(parts, low))
    if op.op is LOAD:
        _load_tile(op, low, found, state.tile(op.operand("tile"), low))
        return
    with counting("n", size, low, op) as each:
        zero = "make_filled_simdgroup_matrix<float, 8, 8>(0.0f)"
        low.act(lambda _: Text(f"{array.name}[{name_of(each)}] = {zero}"), loc=op.loc)


def _load_tile(op: TargetOp, low: Lowering, found: Fragments, tile: Shared) -> None:
    """Fills fragments with a block that lies in threadgroup memory."""
    _, m, n = extents_of(op)
    length = _row_length(n, F32, low)
    with working(found, low, op), each_fragment(found, low, op) as at:

        def load(start: Start) -> str:
            index = block_index(start, m, length, at)
            return f"simdgroup_load({fragment(found, at)}, &{tile.name}[{index}], {length})"

        act_on(op, low, found, load)


def _add_product(op: TargetOp, low: Lowering, state: MmaState) -> None:
    """Adds the product of two tiles; the trip before has filled those that are double buffered."""
    found, parity = state.of(op), state.parity_of(op)
    sources = [_source(op, place, low, state) for place in (0, 1)]
    with low.guard(_has_product(found, low, state, parity), op.loc):
        if op.op in (SCALED, SCALED_IN_PLACE):
            _scale(op, low, found, state)
        _multiply_tiles(op, low, found, sources, parity)


def _has_product(
    found: Fragments, low: Lowering, state: MmaState, parity: Variable | None
) -> Node | None:
    """Whether a simdgroup has fragments, and double-buffered tiles have been filled."""
    is_working = has_work(found, low)
    if parity is None:
        return is_working
    key = (low.block, found.partition.simdgroups, parity)
    if key not in state.conditions:
        test = low.infix(">", low.read(parity), low.literal(0, I32), Level.RELATIONAL, BOOL)
        if is_working is not None:
            test = low.infix("&&", test, is_working, Level.LOGICAL_AND, BOOL)
        state.conditions[key] = test
    return state.conditions[key]


@frozen
class _Source:
    """Where a factor is: in a tile, or in an array of the kernel, perhaps at an offset."""

    array: Shared | Value
    dtype: DType
    factor: Factor
    offset: Node | None = None

    def spell(self, slot: str, offsets: Iterator[Text], low: Lowering) -> str:
        if isinstance(self.array, Shared):
            return f"{self.array.name}{slot}"
        name = low.array_name(self.array)
        return name if self.offset is None else f"&{subscript(name, next(offsets)).text}"


def _source(op: TargetOp, place: int, low: Lowering, state: MmaState) -> _Source:
    pointer, factor = op.operand(ROLES[place]), in_place_factors(op)[place]
    assert isinstance(pointer.ty, Pointer)
    dtype = pointer.ty.dtype
    if factor is None:
        return _Source(state.tile(pointer, low), dtype, _factor(op, place, dtype, low))
    rows, columns = _extents(op, place)
    is_transposed = bool(numbers(op, "transposed")[place])
    found = Factor(rows, columns, factor.length, is_transposed, is_in_place=True)
    start = low.facts.definition(factor.offset)
    is_first = isinstance(start, Constant) and start.value == 0
    offset = None if is_first else low.value(factor.offset)
    return _Source(low.facts.resolve(pointer), dtype, found, offset)


def _multiply_tiles(
    op: TargetOp,
    low: Lowering,
    found: Fragments,
    sources: Sequence[_Source],
    parity: Variable | None,
) -> None:
    left, right = (source.factor for source in sources)
    dtype = sources[0].dtype
    product = Product(found.partition, dtype, left, right)
    name = low.helpers.define(product.name, dtype, product.define())
    buffers = numbers(op, "buffers") if parity is not None else (1, 1)
    offsets = [source.offset for source in sources if source.offset is not None]

    def multiply(texts: Sequence[Text]) -> Text:
        before = f"[({parity.name} - 1) % 2]" if parity is not None else ""
        starts = iter(texts[len(found.origin) :])
        both = [
            source.spell(before if each == 2 else "", starts, low)
            for source, each in zip(sources, buffers, strict=True)
        ]
        return call(name, found.array.name, *both, *texts[: len(found.origin)])

    low.act(multiply, [*found.origin, *offsets], frozenset({found.array}), op.loc)


def _extents(op: TargetOp, place: int) -> tuple[int, int]:
    """The rows and the columns of a factor."""
    _, m, n = extents_of(op)
    k = number(op, "k")
    return ((m, k), (k, n))[place]


def _factor(op: TargetOp, place: int, dtype: DType, low: Lowering) -> Factor:
    """A factor as it lies in its tile."""
    rows, columns = _extents(op, place)
    is_transposed = bool(numbers(op, "transposed")[place])
    length = _row_length(rows if is_transposed else columns, dtype, low)
    return Factor(rows, columns, length, is_transposed)


def _scale(op: TargetOp, low: Lowering, found: Fragments, state: MmaState) -> None:
    """Multiplies an accumulator by a number, or each row by its own."""
    factor = op.operand("factor")
    if isinstance(factor.ty, Pointer):
        _scale_rows(op, low, found, state.tile(factor, low))
        return
    with each_fragment(found, low, op) as at:
        _scale_fragment(op, low, found, low.value(factor, ()), at)


def _scale_rows(op: TargetOp, low: Lowering, found: Fragments, tile: Shared) -> None:
    own_row, (_, m, _) = low.builtin("lane", _ROW_OF_LANE, I32), extents_of(op)
    with (
        counting("z", found.partition.depth, low, op) as z,
        counting("i", found.partition.m, low, op) as i,
    ):

        def place(texts: Sequence[Text]) -> Text:
            start = start_of(found, texts)
            row = block_row(start, m, (z, i, None))
            return Text(f"{tile.name}[{sum_of(row, start.others[0].text)}]")

        operands, reads = [*found.origin, own_row], frozenset[object]({tile})
        factor = low.node(F32, place, operands, scope=low.block, reads=reads)
        factor.fallback = "factor"
        with counting("j", found.partition.n, low, op) as j:
            _scale_fragment(op, low, found, factor, (z, i, j))


def _scale_fragment(op: TargetOp, low: Lowering, found: Fragments, factor: Node, at: At) -> None:
    low.act(
        lambda texts: Text(f"{fragment(found, at)}.thread_elements() *= {texts[0].text}"),
        [factor],
        frozenset({found.array}),
        op.loc,
    )


def _store_block(op: TargetOp, low: Lowering, found: Fragments) -> None:
    """The epilogue: lanes find the block in threadgroup memory, or get it strip by strip."""
    assert op.result is not None
    if low.layout.strategies[op.result] is Strategy.STRIPS:
        _store_strips(op, op.result, low, found)
        return
    _, m, n = extents_of(op)
    shared = low.staged_array(op.result)
    with working(found, low, op), each_fragment(found, low, op) as at:

        def store(start: Start) -> str:
            index = block_index(start, m, n, at)
            return f"simdgroup_store({fragment(found, at)}, &{shared.name}[{index}], {n})"

        act_on(op, low, found, store, frozenset({shared}))


def _store_strips(op: TargetOp, value: Value, low: Lowering, found: Fragments) -> None:
    """Hands a block over to lanes, some rows at a time."""
    n, rows = value.shape[-1], strip_rows(op, low.threads)
    each = rows * n // low.threads
    strips = count(value.shape) // (rows * n)
    hint = value.hint or "block"
    shared = low.threadgroup_array(strip_of(value), f"{hint}_strip", F32, rows * n, loc=op.loc)
    own = low.live_out[value] = Variable(hint, F32, strips * each)
    low.declare(own, None, op.loc)
    with counting("strip", strips, low, op) as strip:
        with working(found, low, op), each_fragment(found, low, op) as at:
            _store_if_in_strip(op, low, found, shared, strip, at)
        low.barrier(device=False, threadgroup=True)
        thread = low.thread()
        with counting("slot", each, low, op) as slot:
            low.act(
                lambda texts: Text(
                    f"{own.name}[{sum_of(times(name_of(strip), each), name_of(slot))}] = "
                    f"{shared.name}[{sum_of(texts[0].text, times(name_of(slot), low.threads))}]"
                ),
                [thread],
                frozenset({own}),
                op.loc,
            )
        low.barrier(device=False, threadgroup=True)


def _store_if_in_strip(
    op: TargetOp, low: Lowering, found: Fragments, shared: Shared, strip: Index, at: At
) -> None:
    """Writes a fragment to threadgroup memory if its rows are those of a strip."""
    _, m, n = extents_of(op)
    rows = strip_rows(op, low.threads)

    def is_in_strip(texts: Sequence[Text]) -> Text:
        own = divided(block_row(start_of(found, texts), m, at), "/", rows)
        return Text(f"{own} == {name_of(strip)}", Level.EQUALITY)

    def store(start: Start) -> str:
        row = divided(block_row(start, m, at), "%", rows)
        index = sum_of(f"{row} * {n}", moved(start.column, at[2]))
        return f"simdgroup_store({fragment(found, at)}, &{shared.name}[{index}], {n})"

    condition = low.node(BOOL, is_in_strip, found.origin, scope=low.block, plain=True)
    with low.branch(condition, op.loc):
        act_on(op, low, found, store, frozenset({shared}))

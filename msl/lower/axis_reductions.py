"""Reductions along an axis. The owners of the results get them, or all threads do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.aliasing.lane_domains import Domain, element
from eas.ir.aliasing.lane_indices import add, coordinates, digit, make_symbol, of, scale
from eas.ir.nodes import Compute
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import BOOL, I32, count
from eas.msl.cxx.tree import Node, Shared
from eas.msl.layout.layout import axis_of, serial_indices, serial_symbol
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.reductions import (
    Accumulator,
    first_of,
    identity,
    in_own_dtype,
    make_accumulator,
    merge_partial,
    operand,
    partial_arrays,
    partials_of_lane,
    reduce_simdgroup,
    result,
    update,
)
from eas.msl.lower.user_reductions import distances, shuffled
from eas.msl.ops.all_reduce import is_all_reduce
from eas.msl.ops.text import Level, Text, infix
from eas.msl.schedule.items import partials_per_row
from eas.msl.schedule.steps import ReduceChunks, chunk_of

_FEW_PARTIALS = 4


def serial(op: Compute, low: Lowering) -> Node:
    """An item of a loop over the results: the owner of each loops along the axis."""
    accumulator = make_accumulator(op, low)
    low.declare(accumulator.value, identity(accumulator, low), op.loc)
    if accumulator.index is not None:
        low.declare(accumulator.index, low.literal(0, I32), op.loc)
    indices = serial_indices(op, low.domain.indices_of(op.result.shape))
    with low.counting(serial_symbol(op), loc=op.loc) as step:
        node = operand(op, accumulator.reduction, indices, low)
        update(accumulator, node, step, low)
    return result(accumulator, low)


def store_row_partials(op: Compute, low: Lowering) -> None:
    """An item of a loop over the elements: each simdgroup stores a partial."""
    accumulator = make_accumulator(op, low)
    node = operand(op, accumulator.reduction, low.domain.indices_of(op.operands[0].shape), low)
    place = of(element(low.domain.extent))
    along = low.index(digit(place, 1, axis_of(op).extent))
    accumulator.first = first_of(accumulator, node, along, low)
    reduce_simdgroup(accumulator, low)
    partial = low.index(digit(place, SIMD, low.domain.extent // SIMD))
    arrays = partial_arrays(accumulator, low.domain.extent // SIMD, low)
    with low.branch(low.builtin("lane", "{lane} == 0", BOOL), op.loc):
        for shared, variable in zip(arrays, accumulator.variables, strict=True):
            low.put(shared, partial, low.read(variable), op.loc)


def all_reduce_row(op: Compute, low: Lowering) -> Node:
    """An item of a loop over the elements: the lanes of a row, all in a simdgroup, reduce it."""
    accumulator, extent = make_accumulator(op, low), axis_of(op).extent
    node = operand(op, accumulator.reduction, low.domain.indices_of(op.operands[0].shape), low)
    along = low.index(digit(of(element(low.domain.extent)), 1, extent))
    accumulator.first = first_of(accumulator, node, along, low)
    if extent == SIMD:
        reduce_simdgroup(accumulator, low)
        return result(accumulator, low)
    low.declare(accumulator.value, accumulator.first[0], op.loc)
    with distances(1, f"< {extent}", "*= 2", low, op.loc) as delta:
        other = shuffled("simd_shuffle_xor", low.read(accumulator.value), delta, low)
        update(accumulator, other, other, low)
    return result(accumulator, low)


def gather_partials(op: Compute, low: Lowering) -> Node:
    """An item of a loop over the results: the owner of each reduces the partials of its row."""
    accumulator = make_accumulator(op, low)
    partials = partials_per_row(op)
    arrays = partial_arrays(accumulator, count(op.operands[0].shape) // SIMD, low)
    row = of(element(low.domain.extent))
    if is_all_reduce(op):
        row = digit(row, axis_of(op).extent, axis_of(op).before)
    first = low.index(scale(row, partials))
    if partials == 1:
        return in_own_dtype(accumulator, low.element(arrays[-1], first), low)
    if is_all_reduce(op) and partials > _FEW_PARTIALS:  # a simdgroup has lanes of one row only
        accumulator.first = partials_of_lane(accumulator, arrays, partials, low, first)
        reduce_simdgroup(accumulator, low)
        return result(accumulator, low)
    for shared, variable in zip(arrays, accumulator.variables, strict=True):
        low.declare(variable, low.element(shared, first), op.loc)
    with low.counting(make_symbol("partial", partials), start=1, loc=op.loc) as partial:
        place = low.infix("+", first, partial, Level.SUM, I32)
        nodes = [low.element(shared, place) for shared in arrays]
        merge_partial(accumulator, nodes[0], nodes[1] if len(nodes) > 1 else None, low)
    return result(accumulator, low)


def reduce_chunks(step: ReduceChunks, low: Lowering) -> None:
    """A round for each slot: all threads write their element, then the owners of results read."""
    op = step.op
    accumulator = make_accumulator(op, low)
    hint = f"{accumulator.value.hint}_chunk"
    chunk = low.threadgroup_array(chunk_of(op), hint, accumulator.reduction.dtype, low.threads)
    so_far = partial_arrays(accumulator, count(op.result.shape), low)
    results = Domain((count(op.result.shape),))
    place = of(element(results.extent))
    with low.elements(results):
        firsts = [identity(accumulator, low), low.literal(0, I32)]
        for shared, first in zip(so_far, firsts, strict=False):
            low.put(shared, low.index(place), first, op.loc)
    with low.rounds(Domain(op.operands[0].shape), op.loc) as round_:
        with round_.elements():
            node = operand(
                op, accumulator.reduction, low.domain.indices_of(op.operands[0].shape), low
            )
            low.put(chunk, low.thread(), node, op.loc)
        low.barrier(device=False, threadgroup=True)
        with low.elements(results):
            _reduce_chunk(accumulator, chunk, so_far, round_.start, low)
        low.barrier(device=False, threadgroup=True)
    with low.elements(results):
        for shared, variable in zip(so_far, accumulator.variables, strict=True):
            low.declare(variable, low.element(shared, low.index(place)), op.loc)
        low.put(low.staged_array(op.result), low.index(place), result(accumulator, low), op.loc)


def _reduce_chunk(
    accumulator: Accumulator, chunk: Shared, so_far: list[Shared], start: Node, low: Lowering
) -> None:
    """Accumulates the elements of a chunk that belong to the result of this thread."""
    op, axis = accumulator.op, axis_of(accumulator.op)
    own = of(element(low.domain.extent))
    before, after = coordinates(own, (axis.before, axis.after))
    for shared, variable in zip(so_far, accumulator.variables, strict=True):
        low.declare(variable, low.element(shared, low.index(own)), op.loc)
    symbol = make_symbol("along", axis.extent)
    with low.counting(symbol, loc=op.loc) as along:
        first = add(scale(before, axis.extent * axis.after), after)
        wanted = low.index(add(first, scale(of(symbol), axis.after)))
        place = low.infix("-", wanted, start, Level.SUM, I32)
        with low.branch(low.node(BOOL, _is_in_chunk(low.threads), [place]), op.loc):
            update(accumulator, low.element(chunk, place), along, low)
    for shared, variable in zip(so_far, accumulator.variables, strict=True):
        low.put(shared, low.index(own), low.read(variable), op.loc)


def _is_in_chunk(size: int) -> Callable[[Sequence[Text]], Text]:
    def spell(texts: Sequence[Text]) -> Text:
        low = infix(">=", texts[0], Text("0"), Level.RELATIONAL)
        high = infix("<", texts[0], Text(str(size)), Level.RELATIONAL)
        return infix("&&", low, high, Level.LOGICAL_AND)

    return spell

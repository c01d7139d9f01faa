"""Reductions along an axis. Their results lie in the threads of the results, or are shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.aliasing.lane_domains import Domain, element
from eas.ir.aliasing.lane_indices import add, coordinates, digit, make_symbol, of, scale
from eas.ir.nodes import Compute
from eas.ir.types import BOOL, I32, count
from eas.msl.cxx.tree import Node, Shared
from eas.msl.layout.layout import SIMD, axis_of, is_for_rows, serial_indices, serial_symbol
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.reductions import (
    Running,
    across_simdgroup,
    begin,
    first_of,
    identity,
    in_own_dtype,
    operand,
    partial_arrays,
    result,
    shares_of_lane,
    take,
    take_share,
)
from eas.msl.lower.user_reductions import distances, shuffled
from eas.msl.ops.text import Level, Text, infix
from eas.msl.schedule.steps import Chunks, chunk_name, shares_of

_FEW_SHARES = 4


def serial(op: Compute, low: Lowering) -> Node:
    """An item of a loop over the results."""
    running = begin(op, low)
    low.declare(running.value, identity(running, low), op.loc)
    if running.index is not None:
        low.declare(running.index, low.literal(0, I32), op.loc)
    indices = serial_indices(op, low.domain.indices_of(op.result.shape))
    with low.counting(serial_symbol(op), loc=op.loc) as step:
        node = operand(op, running.kind, indices, low)
        take(running, node, step, low)
    return result(running, low)


def rows(op: Compute, low: Lowering) -> None:
    """An item of a loop over the elements: the share of a simdgroup goes to shared memory."""
    running = begin(op, low)
    node = operand(op, running.kind, low.domain.indices_of(op.operands[0].shape), low)
    place = of(element(low.domain.extent))
    along = low.index(digit(place, 1, axis_of(op).extent))
    running.first = first_of(running, node, along, low)
    across_simdgroup(running, low)
    share = low.index(digit(place, SIMD, low.domain.extent // SIMD))
    arrays = partial_arrays(running, low.domain.extent // SIMD, low)
    with low.branch(low.builtin("lane", "{lane} == 0", BOOL), op.loc):
        for shared, variable in zip(arrays, running.variables, strict=True):
            low.put(shared, share, low.read(variable), op.loc)


def lanes(op: Compute, low: Lowering) -> Node:
    """An item of a loop over the elements: the lanes of a row, all in a simdgroup, reduce it."""
    running, extent = begin(op, low), axis_of(op).extent
    node = operand(op, running.kind, low.domain.indices_of(op.operands[0].shape), low)
    along = low.index(digit(of(element(low.domain.extent)), 1, extent))
    running.first = first_of(running, node, along, low)
    if extent == SIMD:
        across_simdgroup(running, low)
        return result(running, low)
    low.declare(running.value, running.first[0], op.loc)
    with distances(1, f"< {extent}", "*= 2", low, op.loc) as apart:
        other = shuffled("simd_shuffle_xor", low.read(running.value), apart, low)
        take(running, other, other, low)
    return result(running, low)


def gather_row(op: Compute, low: Lowering) -> Node:
    """An item of a loop over the results: its thread puts the shares of a row together."""
    running = begin(op, low)
    shares = shares_of(op)
    arrays = partial_arrays(running, count(op.operands[0].shape) // SIMD, low)
    row = of(element(low.domain.extent))
    if is_for_rows(op):
        row = digit(row, axis_of(op).extent, axis_of(op).before)
    first = low.index(scale(row, shares))
    if shares == 1:
        return in_own_dtype(running, low.element(arrays[-1], first), low)
    if is_for_rows(op) and shares > _FEW_SHARES:  # a simdgroup has lanes of one row only
        running.first = shares_of_lane(running, arrays, shares, low, first)
        across_simdgroup(running, low)
        return result(running, low)
    for shared, variable in zip(arrays, running.variables, strict=True):
        low.declare(variable, low.element(shared, first), op.loc)
    with low.counting(make_symbol("share", shares), start=1, loc=op.loc) as share:
        place = low.infix("+", first, share, Level.SUM, I32)
        nodes = [low.element(shared, place) for shared in arrays]
        take_share(running, nodes[0], nodes[1] if len(nodes) > 1 else None, low)
    return result(running, low)


def chunks(step: Chunks, low: Lowering) -> None:
    """A turn for each slot: all threads write their element, then those of the results read."""
    op = step.op
    running = begin(op, low)
    hint = f"{running.value.hint}_chunk"
    chunk = low.share(chunk_name(op.result), hint, running.kind.dtype, low.threads)
    so_far = partial_arrays(running, count(op.result.shape), low)
    results = Domain((count(op.result.shape),))
    place = of(element(results.extent))
    with low.elements(results):
        firsts = [identity(running, low), low.literal(0, I32)]
        for shared, first in zip(so_far, firsts, strict=False):
            low.put(shared, low.index(place), first, op.loc)
    with low.turns(Domain(op.operands[0].shape), op.loc) as turn:
        with turn.elements():
            node = operand(op, running.kind, low.domain.indices_of(op.operands[0].shape), low)
            low.put(chunk, low.thread(), node, op.loc)
        low.barrier(device=False, threadgroup=True)
        with low.elements(results):
            _take_chunk(running, chunk, so_far, turn.start, low)
        low.barrier(device=False, threadgroup=True)
    with low.elements(results):
        for shared, variable in zip(so_far, running.variables, strict=True):
            low.declare(variable, low.element(shared, low.index(place)), op.loc)
        low.put(low.staged_array(op.result), low.index(place), result(running, low), op.loc)


def _take_chunk(
    running: Running, chunk: Shared, so_far: list[Shared], start: Node, low: Lowering
) -> None:
    """Takes in what a turn has brought for the result of this thread."""
    op, axis = running.op, axis_of(running.op)
    own = of(element(low.domain.extent))
    before, after = coordinates(own, (axis.before, axis.after))
    for shared, variable in zip(so_far, running.variables, strict=True):
        low.declare(variable, low.element(shared, low.index(own)), op.loc)
    symbol = make_symbol("along", axis.extent)
    with low.counting(symbol, loc=op.loc) as along:
        first = add(scale(before, axis.extent * axis.after), after)
        wanted = low.index(add(first, scale(of(symbol), axis.after)))
        place = low.infix("-", wanted, start, Level.SUM, I32)
        with low.branch(low.node(BOOL, _is_in_chunk(low.threads), [place]), op.loc):
            take(running, low.element(chunk, place), along, low)
    for shared, variable in zip(so_far, running.variables, strict=True):
        low.put(shared, low.index(own), low.read(variable), op.loc)


def _is_in_chunk(size: int) -> Callable[[Sequence[Text]], Text]:
    def spell(texts: Sequence[Text]) -> Text:
        low = infix(">=", texts[0], Text("0"), Level.RELATIONAL)
        high = infix("<", texts[0], Text(str(size)), Level.RELATIONAL)
        return infix("&&", low, high, Level.LOGICAL_AND)

    return spell

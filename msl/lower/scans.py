"""Scans along the last axis of a block, whose rows are distributed over the threads in order.

Each simdgroup scans its 32 elements; the last lane stores the partial. After a barrier each
simdgroup scans the partials, and its lanes add the carry of the simdgroups before. A row may begin
anywhere: `k` is the index of an element in its row, and no value crosses the begin of a row. Where
the threads do not fill their simdgroups, the owner of each row scans it serially.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from eas.ir.aliasing.lane_domains import Domain, element
from eas.ir.aliasing.lane_indices import add, digit, make_symbol, of, scale
from eas.ir.nodes import Combine, Compute
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import BOOL, F32, I32, U32, count
from eas.msl.cxx.tree import Node, Shared, Variable
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.reductions import as_unsigned
from eas.msl.lower.user_reductions import (
    State,
    States,
    and_,
    as_int,
    choose,
    declare,
    distances,
    fetch,
    make_state,
    partial_arrays,
    partial_of_lane,
    shuffled,
    update,
)
from eas.msl.ops.text import Level, Text, call
from eas.msl.schedule.items import fits_simdgroup, needs_partial_scan, partials_of_scan
from eas.msl.schedule.threadgroup_arrays import staged


def row_of(op: Combine) -> int:
    return op.operands[0].shape[-1]


def _count_partials(op: Combine) -> int:
    """The number of stored partials: a last simdgroup that is not full stores none."""
    return count(op.operands[0].shape) // SIMD


def _partials(op: Combine, low: Lowering) -> list[Shared]:
    return partial_arrays(op, low, partials_of_scan(op))


def scan_lanes(op: Combine, low: Lowering, states: States) -> None:
    """An item of a loop over elements: each simdgroup scans its 32 elements."""
    state = states[op.results[0]] = make_state(op, "running")
    slots = low.loop.slots if low.loop is not None and low.loop.slots > 1 else 0
    saved, state.variables = (
        state.variables,
        [Variable(variable.hint, variable.dtype) for variable in state.variables],
    )
    declare(state, [low.at(value) for value in op.operands], low)
    prefix = _prefix_function(op)
    if prefix:
        variable = state.variables[0]
        low.assign([(variable, _prefix(prefix, low.read(variable), low))], op.loc)
    else:
        _scan_neighbours(state, low)
    if not fits_simdgroup(op):
        with low.branch(low.builtin("lane", "{lane} == 31", BOOL), op.loc):
            place = low.index(digit(of(element(low.domain.extent)), SIMD, partials_of_scan(op)))
            for shared, node in zip(_partials(op, low), state.read(low), strict=True):
                low.put(shared, place, node, op.loc)
    if low.loop is None:
        return
    for variable in saved:
        variable.slots = slots
    with low.ahead():
        for variable in saved:
            low.declare(variable, None, op.loc)
    low.assign(list(zip(saved, state.read(low), strict=True)), op.loc)
    state.variables = saved


def _scan_neighbours(state: State, low: Lowering) -> None:
    op = state.op
    k = _place_in_row(op, low)
    with distances(1, f"< {min(SIMD, row_of(op))}", "*= 2", low, op.loc) as distance:
        others = fetch(state, "simd_shuffle_up", distance, low)
        with low.branch(_has_lane(op, k, distance, low), op.loc):
            update(state, others, state.read(low), low)


_PREFIXES = {"add": "simd_prefix_inclusive_sum", "mul": "simd_prefix_inclusive_product"}


def _prefix_function(op: Combine) -> str:
    """Metal's own function for a plain prefix sum or product, if no row begins in between."""
    first = op.body.ops[0]
    if not isinstance(first, Compute) or len(op.body.ops) > 2:
        return ""
    if len(op.body.args) > 2 or set(first.operands) != set(op.body.args):
        return ""
    is_whole = row_of(op) % SIMD == 0 or _is_one_row(op)
    has_function = op.operands[0].ty.dtype in (F32, I32, U32) and is_whole
    return _PREFIXES.get(first.op.name, "") if has_function else ""


def _prefix(function: str, node: Node, low: Lowering) -> Node:
    """Signed integers are computed as unsigned ones, which wrap."""

    def spell(texts: Sequence[Text]) -> Text:
        return (as_unsigned if node.dtype == I32 else call)(function, texts[0])

    return low.node(node.dtype, spell, [node], scope=low.block)


def _place_in_row(op: Combine, low: Lowering) -> Node:
    return low.index(digit(of(element(low.domain.extent)), 1, row_of(op)))


def _lane(low: Lowering) -> Node:
    return low.builtin("lane", "int({lane})")


def _has_lane(op: Combine, k: Node, distance: Node, low: Lowering) -> Node:
    """Whether the lane at a distance exists, and has an element of the same row."""
    far = as_int(distance, low)
    in_row = low.infix(">=", k, far, Level.RELATIONAL, BOOL)
    if SIMD % row_of(op) == 0:
        return in_row
    exists = low.infix(">=", _lane(low), far, Level.RELATIONAL, BOOL)
    return exists if row_of(op) % SIMD == 0 or _is_one_row(op) else and_(exists, in_row, low)


def _is_one_row(op: Combine) -> bool:
    return row_of(op) == count(op.operands[0].shape)


def finish(op: Combine, low: Lowering, states: States) -> None:
    """An item of a second loop over elements: adds the carry of the simdgroups before."""
    state = states[op.results[0]]
    if not fits_simdgroup(op):
        chunk = low.index(digit(of(element(low.domain.extent)), SIMD, partials_of_scan(op)))
        before = _before(state, chunk, low)
        with low.branch(_continues_row(op, low), op.loc):
            update(state, before, state.read(low), low)
    for value, variable in zip(op.results, state.variables, strict=True):
        low.live_out[value] = variable
        low.define(value, low.read(variable))


def _continues_row(op: Combine, low: Lowering) -> Node:
    """Whether an element's row begins before the 32 elements of its simdgroup."""
    k = low.index(of(element(low.domain.extent))) if _is_one_row(op) else _place_in_row(op, low)
    return low.infix(">", k, _lane(low), Level.RELATIONAL, BOOL)


def _before(state: State, chunk: Node, low: Lowering) -> list[Node]:
    """The carry: the scan of all elements of the row before the 32 of the simdgroup."""
    op = state.op
    if needs_partial_scan(op):
        one = low.literal(1, I32)
        place = low.infix("-", chunk, one, Level.SUM, I32)
        return [low.element(shared, place) for shared in _partials(op, low)]
    scanned = make_state(op, "prefix")
    for variable in scanned.variables:
        variable.hint = "prefix"
    nodes = [partial_of_lane(shared, _count_partials(op), low) for shared in _partials(op, low)]
    declare(scanned, nodes, low)
    _scan_across(scanned, _lane(low), low)
    found: list[Node] = []
    for variable in scanned.variables:
        last = Variable("carry_in", variable.dtype)
        place = low.infix("-", chunk, low.literal(1, I32), Level.SUM, I32)
        low.declare(last, shuffled("simd_shuffle", low.read(variable), _lane_of(place, low), low))
        found.append(low.read(last))
    return found


def _lane_of(place: Node, low: Lowering) -> Node:
    """The number of a lane to read; the first simdgroup does not use what it reads."""

    def spell(texts: Sequence[Text]) -> Text:
        return call("ushort", call("max", texts[0], Text("0")))

    return low.node(I32, spell, [place], scope=low.block)


def _scan_across(state: State, chunk: Node, low: Lowering) -> None:
    """Scans the partials, a lane each; `chunk` is the number of the partial."""
    op = state.op
    with distances(1, f"< {min(SIMD, partials_of_scan(op))}", "*= 2", low, op.loc) as distance:
        others = fetch(state, "simd_shuffle_up", distance, low)
        far = as_int(distance, low)
        condition = low.infix(">=", _lane(low), far, Level.RELATIONAL, BOOL)
        if not _is_one_row(op):
            condition = and_(condition, _reaches_back(op, chunk, far, low), low)
        with low.branch(condition, op.loc):
            update(state, others, state.read(low), low)


def _reaches_back(op: Combine, chunk: Node, far: Node, low: Lowering) -> Node:
    """Whether the row of a partial's last element begins so many partials before."""
    row = row_of(op)
    last = low.infix(
        "+",
        low.infix("*", chunk, low.literal(SIMD, I32), Level.PRODUCT, I32),
        low.literal(SIMD - 1, I32),
        Level.SUM,
        I32,
    )
    k = low.infix("%", last, low.literal(row, I32), Level.PRODUCT, I32)
    distance = low.infix("*", far, low.literal(SIMD, I32), Level.PRODUCT, I32)
    return low.infix(">=", k, distance, Level.RELATIONAL, BOOL)


def scan_partials(op: Combine, low: Lowering) -> None:
    """A step: one simdgroup scans all partials, where not every simdgroup can."""
    with low.branch(low.builtin("simdgroup", "{simdgroup} == 0", BOOL), op.loc):
        carried = make_state(op, "carry")
        declare(carried, [low.literal(0, v.dtype) for v in carried.variables], low)
        with low.counting(
            make_symbol("group", -(-_count_partials(op) // SIMD)), loc=op.loc
        ) as group:
            first = low.infix("*", group, low.literal(SIMD, I32), Level.PRODUCT, I32)
            own = low.infix("+", first, _lane(low), Level.SUM, I32)
            has_partial = _has_partial(op, own, low)
            state = make_state(op, "scanned")
            arrays = _partials(op, low)
            declare(state, [_partial_or_zero(s, own, has_partial, low) for s in arrays], low)
            _scan_across(state, own, low)
            _add_carry(state, carried, group, own, low)
            with nullcontext() if has_partial is None else low.branch(has_partial, op.loc):
                for shared, node in zip(arrays, state.read(low), strict=True):
                    low.put(shared, own, node, op.loc)
            pairs = [
                (variable, shuffled("simd_shuffle", node, low.literal(SIMD - 1, I32), low))
                for variable, node in zip(carried.variables, state.read(low), strict=True)
            ]
            low.assign(pairs, op.loc)


def _has_partial(op: Combine, own: Node, low: Lowering) -> Node | None:
    """Whether a lane has a partial; None if all have one."""
    if _count_partials(op) % SIMD == 0:
        return None
    found = low.infix("<", own, low.literal(_count_partials(op), I32), Level.RELATIONAL, BOOL)
    found.hint = "has_partial"
    return found


def _partial_or_zero(shared: Shared, own: Node, has_partial: Node | None, low: Lowering) -> Node:
    """A lane's partial, or zero: the partial of another lane may be written at the same time."""
    partial = low.element(shared, own)
    return (
        partial
        if has_partial is None
        else choose(has_partial, partial, low.literal(0, shared.dtype), low)
    )


def _add_carry(state: State, carried: State, group: Node, own: Node, low: Lowering) -> None:
    op = state.op
    condition = low.infix(">", group, low.literal(0, I32), Level.RELATIONAL, BOOL)
    if not _is_one_row(op):
        one = low.literal(1, I32)
        far = low.infix("+", _lane(low), one, Level.SUM, I32)
        condition = and_(condition, _reaches_back(op, own, far, low), low)
    with low.branch(condition, op.loc):
        update(state, carried.read(low), state.read(low), low)


def stage_rows(op: Combine, low: Lowering) -> None:
    """An item of a loop over elements: stages the operands."""
    place = low.index(of(element(low.domain.extent)))
    for shared, value in zip(_staged_rows(op, low), op.operands, strict=True):
        low.put(shared, place, low.at(value), op.loc)


def scan_rows(op: Combine, low: Lowering) -> None:
    """A step: the owner of each row scans it in place."""
    row, arrays = row_of(op), _staged_rows(op, low)
    rows = Domain((count(op.operands[0].shape) // row,))
    state = make_state(op, "running")
    symbol = make_symbol("along", row)
    with low.elements(rows):
        first = scale(of(element(rows.extent)), row)
        declare(state, [low.element(shared, low.index(first)) for shared in arrays], low)
        with low.counting(symbol, start=1, loc=op.loc):
            place = low.index(add(first, of(symbol)))
            update(state, state.read(low), [low.element(s, place) for s in arrays], low)
            for shared, node in zip(arrays, state.read(low), strict=True):
                low.put(shared, place, node, op.loc)


def _staged_rows(op: Combine, low: Lowering) -> list[Shared]:
    return [
        low.threadgroup_array(
            staged(v), f"{v.hint or 'running'}_shared", v.ty.dtype, count(v.shape)
        )
        for v in op.results
    ]

"""Atomics: serialized, in the order of the lanes."""

from __future__ import annotations

from eas.ir.nodes import Atomic
from eas.ir.types import DType, Pointer
from eas.llvm.emit.arithmetic import ARITHMETIC
from eas.llvm.emit.dtypes import (
    is_narrow,
    register,
    rounded,
    size_of,
    stored,
    to_register,
    to_stored,
)
from eas.llvm.emit.emit import V, const
from eas.llvm.lanes import privatization
from eas.llvm.lanes.addresses import offsets
from eas.llvm.lanes.bounds_checks import check_access
from eas.llvm.lanes.coordinates import Coords, is_varying
from eas.llvm.lanes.lane_values import LaneValue, Uniform, Vector, number
from eas.llvm.lanes.masks import condition, narrow, when
from eas.llvm.lanes.serialization import LaneResults, serialize
from eas.llvm.lanes.vector_body import Body, Mask

_FLOAT_KINDS = {"add": "fadd", "max": "fmax", "min": "fmin", "xchg": "xchg"}


def atomic(body: Body, op: Atomic, coords: Coords, mask: Mask) -> LaneValue:
    """What each lane found in memory before its update; zero in lanes that are masked off."""
    if op.mask is not None:
        mask = narrow(body, mask, body.at(op.mask, coords))
    parts = [offsets(body, op.offset, coords), body.at(op.value, coords)]
    check_access(body, op, coords, parts[0], mask)
    if op.expected is not None:
        parts.append(body.at(op.expected, coords))
    if not is_varying(coords):
        return Uniform(_single(body, op, [number(part) for part in parts], mask))
    return Vector(_lane_by_lane(body, op, parts, mask))


def _single(body: Body, op: Atomic, parts: list[V], mask: Mask) -> V:
    result = body.e.variable(register(op.value.ty.dtype))
    body.e.set(result, const(result.ty, 0))
    when(body, condition(body, mask), lambda: body.e.set(result, _update(body, op, parts)))
    return body.e.get(result)


def _lane_by_lane(body: Body, op: Atomic, parts: list[LaneValue], mask: Mask) -> V:
    results = LaneResults(body, register(op.value.ty.dtype))
    is_used = bool(body.facts.users.get(op.result.id))

    def act(lane: V, numbers: list[V]) -> None:
        old = _update(body, op, numbers)
        if is_used:
            results.put(lane, old)

    serialize(body, parts, mask, act)
    return results.take()


def _update(body: Body, op: Atomic, parts: list[V]) -> V:
    """One update of memory; gives the old content."""
    e, dtype = body.e, op.value.ty.dtype
    pointer = e.gep(stored(dtype), body.program.pointer(op.pointer), parts[0])
    numbers = [to_stored(e, part, dtype) for part in parts[1:]]
    table = body.program.private_tables.get(op.pointer.id)
    if table is not None:
        privatization.accumulate(e, table, body.program.pointer(op.pointer), parts[0], numbers[0])
        return parts[1]  # the result of a privatized atomic is not used
    if op.kind == "cas":
        return to_register(e, _compare_and_swap(body, pointer, numbers, dtype), dtype)
    if is_narrow(dtype):
        return _compare_and_swap_loop(body, op, pointer, numbers[0])
    how = _FLOAT_KINDS[op.kind] if dtype.is_float else op.kind
    if op.kind in ("max", "min") and not dtype.is_float and not dtype.is_signed:
        how = f"u{op.kind}"
    if op.pointer.ty == Pointer(dtype, "threadgroup"):
        return _plain_update(body, op, pointer, numbers[0])
    step = f"atomicrmw {how} {pointer}, {numbers[0]} monotonic"
    return to_register(e, e.value(numbers[0].ty, step), dtype)


def _plain_update(body: Body, op: Atomic, pointer: V, new: V) -> V:
    """An update of memory that only this thread accesses: a load and a store."""
    e, dtype = body.e, op.value.ty.dtype
    old = e.load(stored(dtype), pointer, size_of(dtype))
    e.store(_updated(body, op, old, new), pointer, size_of(dtype))
    return to_register(e, old, dtype)


def _compare_and_swap_loop(body: Body, op: Atomic, pointer: V, new: V) -> V:
    """An update of 16 bits: compare-and-swap until no other thread interferes."""
    e, dtype = body.e, op.value.ty.dtype
    seen = e.variable(new.ty)
    e.set(seen, e.load(new.ty, pointer, 2))
    again, after = e.label("again"), e.label("after")
    e.begin(again)
    before = e.get(seen)
    wanted = _updated(body, op, before, new)
    bits, target = e.bitcast(before, "i16"), e.bitcast(wanted, "i16")
    step = f"cmpxchg {pointer}, {bits}, {target} monotonic monotonic"
    pair = e.value("{ i16, i1 }", step)
    e.set(seen, e.bitcast(e.value("i16", f"extractvalue {pair}, 0"), new.ty))
    e.branch(e.value("i1", f"extractvalue {pair}, 1"), after, again)
    e.begin(after)
    return to_register(e, before, dtype)


def _updated(body: Body, op: Atomic, old: V, new: V) -> V:
    """The content of memory after an update, as it is stored."""
    e, dtype = body.e, op.value.ty.dtype
    if op.kind == "xchg":
        return new
    numbers = [to_register(e, old, dtype), to_register(e, new, dtype)]
    name = {"max": "maximum", "min": "minimum"}.get(op.kind, op.kind)
    value = ARITHMETIC[name](e, numbers, dtype)
    return to_stored(e, rounded(e, value, dtype), dtype)


def _compare_and_swap(body: Body, pointer: V, numbers: list[V], dtype: DType) -> V:
    new, expected = numbers
    e, bits = body.e, f"i{size_of(dtype) * 8}"
    before, after = e.bitcast(expected, bits), e.bitcast(new, bits)
    step = f"cmpxchg {pointer}, {before}, {after} monotonic monotonic"
    pair = e.value(f"{{ {bits}, i1 }}", step)
    return e.bitcast(e.value(bits, f"extractvalue {pair}, 0"), new.ty)

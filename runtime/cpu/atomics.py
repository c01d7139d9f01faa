"""Atomic steps: each lane's by itself, in the order of the lanes."""

from __future__ import annotations

from eas.ir.nodes import Atomic
from eas.ir.types import DType, Pointer
from eas.runtime.cpu.arithmetic import ARITHMETIC
from eas.runtime.cpu.body import Body, Coords, Mask
from eas.runtime.cpu.dtypes import register, rounded, size_of, stored, to_register, to_stored
from eas.runtime.cpu.emit import V, Variable, const, vector
from eas.runtime.cpu.lanes import Lanes, Uniform, Vector, number
from eas.runtime.cpu.masks import narrow, written
from eas.runtime.cpu.memory import condition, offsets, when

_FLOAT_KINDS = {"add": "fadd", "max": "fmax", "min": "fmin", "xchg": "xchg"}


def atomic(body: Body, op: Atomic, coords: Coords, mask: Mask) -> Lanes:
    """What each lane found before its step."""
    if op.mask is not None:
        mask = narrow(body, mask, body.at(op.mask, coords))
    parts = [offsets(body, op.offset, coords), body.at(op.value, coords)]
    if op.expected is not None:
        parts.append(body.at(op.expected, coords))
    if all(isinstance(at, Uniform) for at in coords):
        return Uniform(_single(body, op, [number(part) for part in parts], mask))
    return Vector(_lane_by_lane(body, op, [body.to_vector(part) for part in parts], mask))


def _single(body: Body, op: Atomic, parts: list[V], mask: Mask) -> V:
    result = body.e.variable(register(op.value.ty.dtype))
    when(body, condition(body, mask), lambda: body.e.set(result, _act(body, op, parts)))
    return body.e.get(result)


def _lane_by_lane(body: Body, op: Atomic, parts: list[V], mask: Mask) -> V:
    """All lanes in a row, where all take part; else each if it does."""
    e = body.e
    result = e.variable(vector(register(op.value.ty.dtype), body.width))
    if mask is None:
        _each(body, op, parts, result, None)
        return e.get(result)
    bits = written(body, mask)
    packed = e.bitcast(bits, f"i{body.width}")
    is_all = e.icmp("eq", packed, const(packed.ty, -1))
    some = e.label("some")
    every, after = e.label("every"), e.label("after")
    e.branch(is_all, every, some)
    e.begin(every)
    _each(body, op, parts, result, None)
    e.jump(after)
    e.begin(some)
    _each(body, op, parts, result, bits)
    e.begin(after)
    return e.get(result)


def _each(body: Body, op: Atomic, parts: list[V], result: Variable, bits: V | None) -> None:
    e, is_used = body.e, bool(body.facts.users.get(op.result.id))
    for lane in range(body.width):

        def act(lane: int = lane) -> None:
            old = _act(body, op, [e.extract(part, lane) for part in parts])
            if is_used:
                e.set(result, e.insert(e.get(result), old, lane))

        when(body, None if bits is None else e.extract(bits, lane), act)


def _act(body: Body, op: Atomic, parts: list[V]) -> V:
    """One step on memory; gives what was there before."""
    e, dtype = body.e, op.value.ty.dtype
    place = e.gep(stored(dtype), body.program.pointer(op.pointer), parts[0])
    numbers = [to_stored(e, part, dtype) for part in parts[1:]]
    if op.kind == "cas":
        return to_register(e, _compare_and_swap(body, place, numbers, dtype), dtype)
    ty = "bfloat" if dtype.name == "bf16" else numbers[0].ty
    how = _FLOAT_KINDS[op.kind] if dtype.is_float else op.kind
    if op.kind in ("max", "min") and not dtype.is_float and not dtype.is_signed:
        how = f"u{op.kind}"
    if isinstance(op.pointer.ty, Pointer) and op.pointer.ty.space == "threadgroup":
        return _plain_step(body, op, place, numbers[0])
    step = f"atomicrmw {how} {place}, {e.bitcast(numbers[0], ty)} monotonic"
    return to_register(e, e.bitcast(e.value(ty, step), numbers[0].ty), dtype)


def _plain_step(body: Body, op: Atomic, place: V, new: V) -> V:
    """A step on memory that only the thread of this program sees."""
    e, dtype = body.e, op.value.ty.dtype
    old = to_register(e, e.load(stored(dtype), place, size_of(dtype)), dtype)
    value = to_register(e, new, dtype)
    if op.kind != "xchg":
        names = {"max": "maximum", "min": "minimum"}
        value = ARITHMETIC[names.get(op.kind, op.kind)](e, [old, value], dtype)
    e.store(to_stored(e, rounded(e, value, dtype), dtype), place, size_of(dtype))
    return old


def _compare_and_swap(body: Body, place: V, numbers: list[V], dtype: DType) -> V:
    new, expected = numbers
    e, bits = body.e, f"i{size_of(dtype) * 8}"
    before, after = e.bitcast(expected, bits), e.bitcast(new, bits)
    step = f"cmpxchg {place}, {before}, {after} monotonic monotonic"
    pair = e.value(f"{{ {bits}, i1 }}", step)
    return e.bitcast(e.value(bits, f"extractvalue {pair}, 0"), new.ty)

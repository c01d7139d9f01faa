"""Sums of a thread for places in arrays that a kernel only adds to.

What an atomic step adds is first added up in a small table of the thread's own, one slot for many
places; a place that gives up its slot gets its sum by an atomic step, and so do all in the end.
Other threads then wait for each other far less often.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Atomic, Load, Store
from eas.ir.types import DType, Pointer
from eas.llvm.analysis.facts import Facts
from eas.llvm.emit.arithmetic import ARITHMETIC
from eas.llvm.emit.dtypes import register, size_of
from eas.llvm.emit.emit import Emitter, V, const
from eas.support.records import frozen

_SLOTS = 512
_NONE = -(1 << 63)  # no offset: those below zero are the places of a view that runs backwards


@frozen
class Buffer:
    """`number` is that of the array among the arguments, `start` where in the scratch it lies."""

    number: int
    dtype: DType
    start: int
    places: V
    sums: V


def buffered(facts: Facts) -> set[int]:
    """The arrays of arguments to which nothing is done but that numbers are added."""
    arrays = {param.value.id for param in facts.function.params}
    found = {op.pointer.id for op in facts.ops.values() if isinstance(op, Atomic)} & arrays
    for op in facts.ops.values():
        if isinstance(op, Load | Store) or (isinstance(op, Atomic) and not _only_adds(op, facts)):
            found.discard(op.pointer.id)
    return found


def _only_adds(op: Atomic, facts: Facts) -> bool:
    is_used = bool(facts.users.get(op.result.id))
    is_wide = op.value.ty.dtype.bits >= 32
    return op.kind == "add" and is_wide and not is_used and isinstance(op.pointer.ty, Pointer)


def make_buffer(e: Emitter, number: int, dtype: DType) -> Buffer:
    start = e.scratch
    places = e.heap("i64", _SLOTS)
    return Buffer(number, dtype, start, places, e.heap(register(dtype), _SLOTS))


def add(e: Emitter, buffer: Buffer, array: V, offset: V, number: V) -> None:
    """Adds a number to the sum of a place; another place's sum that is in the way goes first."""
    slot = e.both(offset, const("i64", _SLOTS - 1))
    place, total = e.gep("i64", buffer.places, slot), e.gep(number.ty, buffer.sums, slot)
    held, size = e.load("i64", place, 8), size_of(buffer.dtype)
    hit, miss, after = e.label("hit"), e.label("miss"), e.label("after")
    e.branch(e.icmp("eq", held, offset), hit, miss)
    e.begin(miss)
    is_taken = e.icmp("ne", held, const("i64", _NONE))
    e.when(is_taken, lambda: _give(e, buffer.dtype, array, held, e.load(number.ty, total, size)))
    e.store(offset, place, 8)
    e.store(number, total, size)
    e.jump(after)
    e.begin(hit)
    old = e.load(number.ty, total, size)
    e.store(ARITHMETIC["add"](e, [old, number], buffer.dtype), total, size)
    e.begin(after)


def _give(e: Emitter, dtype: DType, array: V, offset: V, total: V) -> None:
    how = "fadd" if dtype.is_float else "add"
    place = e.gep(total.ty, array, offset)
    e.value(total.ty, f"atomicrmw {how} {place}, {total} monotonic")


def write_clear(buffers: Sequence[Buffer]) -> str:
    """The text of a function that makes the slots of all buffers free."""
    e = Emitter()
    for buffer in buffers:
        _clear(e, _places(e, buffer))
    e.leave()
    return f"define internal void @clear(ptr noalias %scratch) {{\n{e.body}\n}}\n"


def _clear(e: Emitter, places: V) -> None:
    free = const("<8 x i64>", _NONE)

    def clear(slot: V) -> None:
        e.store(free, e.gep("i64", places, slot), 8)

    e.count(const("i64", 0), const("i64", _SLOTS), free.lanes, clear)


def write_flush(buffers: Sequence[Buffer]) -> str:
    """The text of a function that gives all sums to their places."""
    e = Emitter()
    for buffer in buffers:
        _flush(e, buffer)
    e.leave()
    head = "ptr noalias %arguments, ptr noalias %scratch"
    return f"define internal void @flush({head}) {{\n{e.body}\n}}\n"


def _flush(e: Emitter, buffer: Buffer) -> None:
    ty, places = register(buffer.dtype), _places(e, buffer)
    sums = e.gep("i64", places, const("i64", _SLOTS))
    argument = e.gep("i64", V("ptr", "%arguments"), const("i64", buffer.number))
    array = e.load("ptr", argument, 8)

    def flush(slot: V) -> None:
        held = e.load("i64", e.gep("i64", places, slot), 8)
        total = e.load(ty, e.gep(ty, sums, slot), size_of(buffer.dtype))
        is_taken = e.icmp("ne", held, const("i64", _NONE))
        e.when(is_taken, lambda: _give(e, buffer.dtype, array, held, total))

    e.count(const("i64", 0), const("i64", _SLOTS), 1, flush)


def _places(e: Emitter, buffer: Buffer) -> V:
    return e.gep("i8", V("ptr", "%scratch"), const("i64", buffer.start))

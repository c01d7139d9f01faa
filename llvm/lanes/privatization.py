"""Privatized accumulators of atomic adds, for arrays that a kernel only adds to.

Each thread accumulates into a small direct-mapped table of its own. An entry that is evicted is
added to the array by an atomic, and so are all entries at the end. Threads contend far less often.
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
_EMPTY = -(1 << 63)  # no offset; other negative ones are elements of a view that runs backwards


@frozen
class PrivateTable:
    """A table in the scratch memory at `start`; `number` is the array's among the arguments."""

    number: int
    dtype: DType
    start: int
    offsets: V
    partials: V


def privatized_arrays(facts: Facts) -> set[int]:
    """The arrays of arguments whose only accesses are atomic adds without a used result."""
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


def make_table(e: Emitter, number: int, dtype: DType) -> PrivateTable:
    start = e.scratch
    offsets = e.heap("i64", _SLOTS)
    return PrivateTable(number, dtype, start, offsets, e.heap(register(dtype), _SLOTS))


def accumulate(e: Emitter, table: PrivateTable, array: V, offset: V, number: V) -> None:
    """Adds a number to the partial sum of an offset. Another one in its slot is flushed first."""
    slot = e.and_(offset, const("i64", _SLOTS - 1))
    p_offset, partial = e.gep("i64", table.offsets, slot), e.gep(number.ty, table.partials, slot)
    owner, size = e.load("i64", p_offset, 8), size_of(table.dtype)
    hit, miss, after = e.label("hit"), e.label("miss"), e.label("after")
    e.branch(e.icmp("eq", owner, offset), hit, miss)
    e.begin(miss)
    is_taken = e.icmp("ne", owner, const("i64", _EMPTY))
    e.when(
        is_taken,
        lambda: _add_atomically(e, table.dtype, array, owner, e.load(number.ty, partial, size)),
    )
    e.store(offset, p_offset, 8)
    e.store(number, partial, size)
    e.jump(after)
    e.begin(hit)
    old = e.load(number.ty, partial, size)
    e.store(ARITHMETIC["add"](e, [old, number], table.dtype), partial, size)
    e.begin(after)


def _add_atomically(e: Emitter, dtype: DType, array: V, offset: V, partial: V) -> None:
    how = "fadd" if dtype.is_float else "add"
    element = e.gep(partial.ty, array, offset)
    e.value(partial.ty, f"atomicrmw {how} {element}, {partial} monotonic")


def write_clear(tables: Sequence[PrivateTable]) -> str:
    """The text of a function that empties all tables."""
    e = Emitter()
    for table in tables:
        _clear(e, _offsets(e, table))
    e.leave()
    return f"define internal void @clear(ptr noalias %scratch) {{\n{e.body}\n}}\n"


def _clear(e: Emitter, offsets: V) -> None:
    free = const("<8 x i64>", _EMPTY)

    def clear(slot: V) -> None:
        e.store(free, e.gep("i64", offsets, slot), 8)

    e.for_range(const("i64", 0), const("i64", _SLOTS), free.lanes, clear)


def write_flush(tables: Sequence[PrivateTable]) -> str:
    """The text of a function that adds all partial sums to their arrays."""
    e = Emitter()
    for table in tables:
        _flush(e, table)
    e.leave()
    head = "ptr noalias %arguments, ptr noalias %scratch"
    return f"define internal void @flush({head}) {{\n{e.body}\n}}\n"


def _flush(e: Emitter, table: PrivateTable) -> None:
    ty, offsets = register(table.dtype), _offsets(e, table)
    partials = e.gep("i64", offsets, const("i64", _SLOTS))
    argument = e.gep("i64", V("ptr", "%arguments"), const("i64", table.number))
    array = e.load("ptr", argument, 8)

    def flush(slot: V) -> None:
        owner = e.load("i64", e.gep("i64", offsets, slot), 8)
        partial = e.load(ty, e.gep(ty, partials, slot), size_of(table.dtype))
        is_taken = e.icmp("ne", owner, const("i64", _EMPTY))
        e.when(is_taken, lambda: _add_atomically(e, table.dtype, array, owner, partial))

    e.for_range(const("i64", 0), const("i64", _SLOTS), 1, flush)


def _offsets(e: Emitter, table: PrivateTable) -> V:
    return e.gep("i8", V("ptr", "%scratch"), const("i64", table.start))

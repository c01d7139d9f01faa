"""Stores and atomics: what lanes do to memory."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Assert, Atomic, Print, Store, Value
from eas.ir.types import BOOL, F32, I32, U32, Pointer
from eas.msl.dtypes import type_name
from eas.msl.errors import UnsupportedError
from eas.msl.lowering import Lowering
from eas.msl.reports import check, show
from eas.msl.steps import received_name
from eas.msl.text import Text, call, subscript
from eas.msl.tree import Node, Spell, Variable

Texts = Sequence[Text]
Effect = Store | Atomic | Assert | Print


def effect(op: Effect, low: Lowering) -> None:
    """An effect of the lane at work."""
    match op:
        case Store():
            store(op, low)
        case Atomic():
            low.define(op.result, atomic(op, low))
        case Assert():
            check(op, low)
        case Print():
            show(op, low)


def once(op: Effect, low: Lowering) -> None:
    """An effect that one thread has for all."""
    if low.threads == 1:
        if isinstance(op, Atomic):
            low.define(op.result, atomic(op, low))
        else:
            effect(op, low)
        return
    with low.guard(low.builtin("t", "{t} == 0", BOOL), op.loc):
        if isinstance(op, Atomic) and low.facts.uses_of(op.result):
            hint, dtype = op.result.hint or "old", op.result.ty.dtype
            shared = low.share(received_name(op.result), f"{hint}_shared", dtype, 1)
            low.put(shared, low.literal(0, I32), atomic(op, low), op.loc)
        elif isinstance(op, Atomic):
            atomic(op, low)
        else:
            effect(op, low)


def receive(op: Atomic, low: Lowering) -> None:
    """Every thread gets what the atomic of one gave."""
    if low.threads > 1:
        shared = low.shared[received_name(op.result)]
        low.define(op.result, low.element(shared, low.literal(0, I32)))


# --- stores -----------------------------------------------------------------------------------


def store(op: Store, low: Lowering) -> None:
    pointer = low.facts.resolve(op.pointer)
    mask = None if op.mask is None else low.at(op.mask)
    operands = [low.at(op.offset), low.at(op.value)]

    def line(texts: Texts) -> Text:
        place = subscript(low.array_name(pointer), texts[0]).text
        return Text(f"{place} = {texts[1].text}")

    with low.guard(mask, op.loc):
        low.act(line, operands, frozenset({pointer}), op.loc)


# --- atomics ----------------------------------------------------------------------------------

_FUNCTIONS = {
    "add": "atomic_fetch_add_explicit",
    "max": "atomic_fetch_max_explicit",
    "min": "atomic_fetch_min_explicit",
    "and": "atomic_fetch_and_explicit",
    "or": "atomic_fetch_or_explicit",
    "xor": "atomic_fetch_xor_explicit",
    "xchg": "atomic_exchange_explicit",
}


def atomic(op: Atomic, low: Lowering) -> Node:
    """Does an atomic and gives what was there before; zero where it is masked off."""
    check_atomic(op, low)
    dtype = op.result.ty.dtype
    mask = None if op.mask is None else low.at(op.mask)
    values = [low.at(v) for v in (op.offset, op.expected, op.value) if v is not None]
    pointer = low.facts.resolve(op.pointer)
    changes = frozenset[object]({pointer})
    spell = _speller(op, low)
    if not low.facts.uses_of(op.result):
        with low.guard(mask, op.loc):
            low.act(spell, values, changes, op.loc)
        return low.literal(0, dtype)
    variable = Variable(op.result.hint or "old", dtype)
    if mask is None:
        first = low.node(dtype, spell, values, home=low.block)
        low.declare(variable, first, op.loc)
        low.block.statements[-1].changes |= changes
        return low.read(variable)
    low.declare(variable, low.literal(0, dtype), op.loc)
    with low.guard(mask, op.loc):
        low.assign([(variable, low.node(dtype, spell, values, home=low.block))], op.loc)
        low.block.statements[-1].changes |= changes
    return low.read(variable)


def check_atomic(op: Atomic, low: Lowering) -> None:
    """Refuses what Metal lacks; notes the version that the rest needs."""
    dtype, kind = op.result.ty.dtype, op.kind
    if dtype not in (I32, U32, F32):
        raise UnsupportedError(f"Metal has no atomics on {dtype}, only on i32, u32 and f32", op.loc)
    if dtype == F32 and kind not in ("add", "xchg"):
        message = f"Metal has no atomic `{kind}` on f32, only `add` and `xchg`"
        raise UnsupportedError(message, op.loc)
    if dtype == F32 and not _is_threadgroup(op.pointer):
        low.version = max(low.version, (3, 0))


def _is_threadgroup(pointer: Value) -> bool:
    return isinstance(pointer.ty, Pointer) and pointer.ty.space == "threadgroup"


def _speller(op: Atomic, low: Lowering) -> Spell:
    pointer, dtype = low.facts.resolve(op.pointer), op.result.ty.dtype
    is_shared = _is_threadgroup(pointer)
    through_bits = dtype == F32 and is_shared
    kind = "uint" if through_bits else type_name(dtype)
    if op.kind == "cas":
        low.helpers.need("atomic_cas_threadgroup" if is_shared else "atomic_cas", dtype)
    if through_bits and op.kind == "add":
        low.helpers.need("atomic_add_float", dtype)

    def spell(texts: Texts) -> Text:
        place = f"&{subscript(low.array_name(pointer), texts[0]).text}"
        if pointer not in low.atomics or through_bits:
            space = "threadgroup" if is_shared else "device"
            place = f"({space} atomic_{kind}*){place}"
        if op.kind == "cas":
            return call("atomic_cas", place, texts[1], texts[2])
        if through_bits:
            return _float_through_bits(op, place, texts[1])
        return call(_FUNCTIONS[op.kind], place, texts[1], "memory_order_relaxed")

    return spell


def _float_through_bits(op: Atomic, place: str, value: Text) -> Text:
    """Metal has no `atomic_float` in threadgroup memory."""
    if op.kind == "add":
        return call("atomic_add_float", place, value)
    bits = call("as_type<uint>", value)
    old = call("atomic_exchange_explicit", place, bits, "memory_order_relaxed")
    return call("as_type<float>", old)

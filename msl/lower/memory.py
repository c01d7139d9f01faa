"""Stores, atomics, asserts and prints of lanes."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Assert, Atomic, Print, Store
from eas.ir.types import BOOL, I32
from eas.msl.cxx.atomics import check_atomic, needed_version, spell_atomic
from eas.msl.cxx.tree import Node, Shared, Variable
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.reports import check, show
from eas.msl.ops.text import Text, subscript
from eas.msl.schedule.steps import broadcast_of

Texts = Sequence[Text]
Effect = Store | Atomic | Assert | Print


def effect(op: Effect, low: Lowering) -> None:
    """Lowers an effect of the current lane."""
    match op:
        case Store():
            store(op, low)
        case Atomic():
            low.define(op.result, atomic(op, low))
        case Assert():
            check(op, low)
        case Print():
            show(op, low)


def single_thread(op: Effect, low: Lowering) -> None:
    """Lowers an effect that one thread has for all."""
    if low.threads == 1:
        if isinstance(op, Atomic):
            low.define(op.result, atomic(op, low))
        else:
            effect(op, low)
        return
    with low.guard(low.builtin("t", "{t} == 0", BOOL), op.loc):
        if isinstance(op, Atomic) and low.facts.uses_of(op.result):
            low.put(_received(op, low), low.literal(0, I32), atomic(op, low), op.loc)
        elif isinstance(op, Atomic):
            atomic(op, low)
        else:
            effect(op, low)


def broadcast_result(op: Atomic, low: Lowering) -> None:
    """Every thread reads the result of an atomic of one thread."""
    if low.threads > 1:
        low.define(op.result, low.element(_received(op, low), low.literal(0, I32)))


def _received(op: Atomic, low: Lowering) -> Shared:
    hint = f"{op.result.hint or 'old'}_shared"
    return low.threadgroup_array(broadcast_of(op), hint, op.result.ty.dtype, 1)


def store(op: Store, low: Lowering) -> None:
    pointer = low.facts.resolve(op.pointer)
    mask = None if op.mask is None else low.at(op.mask)
    operands = [low.at(op.offset), low.at(op.value)]
    operands[0].fallback = operands[0].fallback or "offset"

    def line(texts: Texts) -> Text:
        place = subscript(low.array_name(pointer), texts[0]).text
        return Text(f"{place} = {texts[1].text}")

    with low.guard(mask, op.loc):
        low.act(line, operands, frozenset({pointer}), op.loc)


def atomic(op: Atomic, low: Lowering) -> Node:
    """Lowers an atomic; its result is the old value, or zero where it is masked off."""
    check_atomic(op)
    low.version = max(low.version, needed_version(op))
    dtype = op.result.ty.dtype
    mask = None if op.mask is None else low.at(op.mask)
    values = [low.at(v) for v in (op.offset, op.expected, op.value) if v is not None]
    pointer = low.facts.resolve(op.pointer)
    changes = frozenset[object]({pointer})
    is_declared = pointer in low.atomics
    spell = spell_atomic(op, lambda: low.array_name(pointer), is_declared, low.helpers)
    if not low.facts.uses_of(op.result):
        with low.guard(mask, op.loc):
            low.act(spell, values, changes, op.loc)
        return low.literal(0, dtype)
    variable = Variable(op.result.hint or "old", dtype)
    if mask is None:
        first = low.node(dtype, spell, values, scope=low.block)
        low.declare(variable, first, op.loc)
        low.block.statements[-1].changes |= changes
        return low.read(variable)
    low.declare(variable, low.literal(0, dtype), op.loc)
    with low.guard(mask, op.loc):
        low.assign([(variable, low.node(dtype, spell, values, scope=low.block))], op.loc)
        low.block.statements[-1].changes |= changes
    return low.read(variable)

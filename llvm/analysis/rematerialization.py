"""Blocks that later loops over lanes rematerialize: that costs less than a tile in memory."""

from __future__ import annotations

from eas.ir.aliasing.affine_forms import step_along
from eas.ir.nodes import (
    Compute,
    Load,
    Op,
    Store,
    Value,
    is_reduction,
)
from eas.ir.types import count
from eas.llvm.analysis.facts import Facts

_MOST_OPS = 3
_LIGHT = {"add", "sub", "mul", "neg", "abs", "minimum", "maximum", "select"}


def is_rematerialized(value: Value, facts: Facts) -> bool:
    """Whether a block is a row of an array, or cheap to compute from rows, and used as one."""
    if not value.shape or _cost(value, facts, _MOST_OPS) is None:
        return False
    return all(_fits(value, facts))


def rematerialized_rows(facts: Facts) -> set[int]:
    """Loads of rows that are only broadcast along another axis: each use loads them again."""
    loads = [op for op in facts.ops.values() if isinstance(op, Load) and op.result.shape]
    return {op.result.id for op in loads if _is_row(op, facts) and _is_repeated(op.result, facts)}


def _is_repeated(value: Value, facts: Facts) -> bool:
    nest = facts.op_loops[facts.definitions[value.id].number]
    users = [facts.ops[user] for user in facts.users.get(value.id, ())]
    for op in users:
        if not isinstance(op, Compute) or facts.op_loops[op.number] is not nest:
            return False
        if op.op.name not in ("broadcast", "expand_dims"):
            return False
        is_larger = count(op.result.shape) > count(value.shape)
        if not (all(_fits(op.result, facts)) if is_larger else _is_repeated(op.result, facts)):
            return False
    return bool(users)


def _fits(value: Value, facts: Facts) -> list[bool]:
    nest = facts.op_loops[facts.definitions[value.id].number]
    users = [facts.ops[user] for user in facts.users.get(value.id, ())]
    return [facts.op_loops[op.number] is nest and _is_along(op, value) for op in users]


def _is_along(op: Op, value: Value) -> bool:
    """Whether each lane of an op uses the block's element of that lane."""
    if isinstance(op, Compute):
        return is_reduction(op) or (not op.op.collective and op.result.shape == value.shape)
    return isinstance(op, Store) and op.value is value


def _cost(value: Value, facts: Facts, most: int) -> int | None:
    """How many ops compute a block from rows of arrays that the kernel does not write.

    None if that is impossible, or more than `most`. The count stops there: in a chain of values
    that are each used twice, the number of paths is exponential.
    """
    if not value.shape or facts.is_cheap(value):
        return 0
    op = facts.definitions.get(value.id)
    if isinstance(op, Load):
        return 0 if _is_row(op, facts) else None
    if not isinstance(op, Compute):
        return None
    if op.op.name in ("broadcast", "expand_dims"):
        source = op.operands[0]  # a smaller block has a tile, or is rematerialized itself
        is_smaller = count(source.shape) < count(value.shape)
        return 0 if is_smaller else _cost(source, facts, most)
    if op.op.name not in _LIGHT:
        return None
    total = 1
    for operand in op.operands:
        cost = _cost(operand, facts, most - total) if total <= most else None
        if cost is None:
            return None
        total += cost
    return total if total <= most else None


def _is_row(op: Load, facts: Facts) -> bool:
    if op.pointer.id in facts.written:
        return False
    if step_along(op.offset, len(op.offset.shape) - 1, facts.distances) not in (0, 1):
        return False
    return all(_cost(part, facts, 0) == 0 for part in (op.mask, op.other) if part is not None)

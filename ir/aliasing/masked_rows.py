"""Proofs that the lanes of an access have distinct offsets because of its mask.

`row * N + col` is distinct for each row and column as long as `0 <= col < N`, whatever `N` is. A
mask with `col < N`, as those of ragged tiles have, guarantees that.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.aliasing.disjointness import are_distinct
from eas.ir.aliasing.lane_indices import Indices, operand_indices
from eas.ir.aliasing.queries import Facts
from eas.ir.nodes import Compute, Constant, For, Value


def are_masked_rows(
    offset: Value, mask: Value | None, indices: Indices, lanes: int, facts: Facts
) -> bool:
    """Whether the lanes that pass a mask have distinct offsets, in rows."""
    if mask is None:
        return False
    total = facts.definition(facts.resolve(offset))
    if not isinstance(total, Compute) or total.op.name != "add":
        return False
    sources = [(source_of(less, facts), more) for less, more in limits_of(mask, facts)]
    below = operand_indices(total, indices)
    for product, column in (total.operands, total.operands[::-1]):
        row, length = _row_and_length(product, facts)
        if row is None or (source_of(column, facts), length) not in sources:
            continue
        axes = [facts.forms.of(row, below), facts.forms.of(column, below)]
        is_plain = not any(axis.strided for axis in axes) and is_natural(column, facts)
        if is_plain and are_distinct(axes, lanes):
            return True
    return False


def _row_and_length(value: Value, facts: Facts) -> tuple[Value | None, Value | None]:
    """The factors of `row * N`, of which one is the same for all lanes."""
    product = facts.definition(source_of(value, facts))
    if not isinstance(product, Compute) or product.op.name != "mul":
        return None, None
    for row, length in (product.operands, product.operands[::-1]):
        if not source_of(length, facts).shape:
            return row, source_of(length, facts)
    return None, None


def limits_of(condition: Value, facts: Facts, holds: bool = True) -> Iterator[tuple[Value, Value]]:
    """The pairs of which a condition says that the first is less than the second.

    The second is the value that lanes repeat, if they do. `holds` says what the condition is.
    """
    op = facts.definition(source_of(condition, facts))
    if not isinstance(op, Compute):
        return
    name = op.op.name
    if name == "not":
        yield from limits_of(op.operands[0], facts, not holds)
    elif name == ("and" if holds else "or"):
        for operand in op.operands:
            yield from limits_of(operand, facts, holds)
    elif name in (("lt", "gt") if holds else ("ge", "le")):
        less, more = op.operands if name in ("lt", "ge") else op.operands[::-1]
        yield facts.resolve(less), source_of(more, facts)


def source_of(value: Value, facts: Facts) -> Value:
    """The value that others only repeat in more lanes."""
    value = facts.resolve(value)
    op = facts.definition(value)
    if isinstance(op, Compute) and op.op.view and not op.op.collective:
        return source_of(op.operands[0], facts)
    return value


def is_natural(value: Value, facts: Facts) -> bool:
    """Whether a number is never negative, as far as its definition shows."""
    value = source_of(value, facts)
    op = facts.definition(value)
    if isinstance(op, Constant):
        return op.value >= 0
    if isinstance(op, Compute):
        if op.op.name == "arange":
            start = op.attr("start")
            return isinstance(start, int) and start >= 0
        if op.op.positional:
            return True
        names = ("add", "mul", "floordiv", "mod", "minimum", "maximum")
        return op.op.name in names and all(is_natural(v, facts) for v in op.operands)
    loop = facts.owners.get(value)
    if not isinstance(loop, For) or value != loop.body.args[0]:
        return False
    return is_natural(loop.start, facts) and is_natural(loop.step, facts)

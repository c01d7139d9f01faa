"""Loops that are unrolled while compiling: over tuples, `zip`, `enumerate`, `mk.static_range`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from eas.frontend_ast.arithmetic import (
    MAX_ITEMS,
    items_of,
    known_range,
    length_of,
    stored_generator,
    unknown_range,
)
from eas.frontend_ast.assignment import assign
from eas.frontend_ast.branches import close_scope, lower_branch
from eas.frontend_ast.context import Context, Target
from eas.frontend_ast.number_forms import is_number
from eas.frontend_ast.operands import Array, Const, Generated, Num, Operand, Range
from eas.frontend_ast.promote import describe
from eas.frontend_ast.scopes import assigned_names

# all unrolled loops of a kernel together
_MAX_TRIPS = 8192


def lower_unrolled_for(ctx: Context, node: ast.For, items: Sequence[Operand]) -> None:
    """Each item's body in turn; a `break` that depends on data leaves the scope around them."""
    names = assigned_names([node.target, *node.body, *node.orelse])
    whole = ctx.new_target("unrolled")
    ctx.targets.append(whole)
    try:
        branch = lower_branch(ctx, lambda: _lower_all(ctx, node, items, names, whole))
    finally:
        ctx.targets.remove(whole)
    close_scope(ctx, whole, branch, names)


def _lower_all(
    ctx: Context, node: ast.For, items: Sequence[Operand], names: Sequence[str], whole: Target
) -> None:
    _lower_trips(ctx, node, items, names)
    whole.kind = "exhausted"
    ctx.statements(node.orelse)


def _lower_trips(
    ctx: Context, node: ast.For, items: Sequence[Operand], names: Sequence[str]
) -> None:
    loc = ctx.loc
    for number, item in enumerate(items):
        _count_trip(ctx)
        trip = ctx.new_target("trip", number)
        ctx.targets.append(trip)
        try:
            branch = lower_branch(ctx, lambda item=item: _lower_trip(ctx, node, item))
        finally:
            ctx.targets.remove(trip)
        ctx.build.loc = loc
        close_scope(ctx, trip, branch, names)
        if ctx.ended:
            return


def _count_trip(ctx: Context) -> None:
    """Refuses a kernel whose loops inside of loops would be written out for ever."""
    ctx.unrolled += 1
    if ctx.unrolled > _MAX_TRIPS:
        raise ctx.refusal(
            "E0703",
            f"the loops of this kernel are too long to be unrolled (at most {_MAX_TRIPS} trips)",
            help="use `range`, which makes a loop on the device",
        )


def _lower_trip(ctx: Context, node: ast.For, item: Operand) -> None:
    assign(ctx, node.target, item)
    ctx.statements(node.body)


def without_star(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node


def spread(ctx: Context, nodes: Sequence[ast.expr], values: Sequence[Operand]) -> list[Operand]:
    """The values of the items of a tuple or call as written, those with a star taken apart."""
    items: list[Operand] = []
    for node, value in zip(nodes, values, strict=True):
        if isinstance(node, ast.Starred):
            with ctx.at(node):
                items += use_up(ctx, value)
        else:
            items.append(value)
    return items


def static_items(ctx: Context, operand: Operand) -> tuple[Operand, ...]:
    """The items of something whose length is known at compile time; else an error."""
    known = known_range(operand)
    if isinstance(operand, Range) and known is None:
        raise unknown_range(ctx, operand)
    if isinstance(operand, Generated):
        if operand.is_lazy:
            raise stored_generator(ctx, operand)
        return operand.items
    if known is not None:
        check_length(ctx, length_of(known))
    items = items_of(operand)
    if items is None and isinstance(operand, Const):
        items = _letters_or_keys(operand.value)
    if items is None:
        raise ctx.refusal(
            "E0404",
            f"{describe(operand)} cannot be iterated over",
            at=operand,
            help=_suggestions(operand),
        )
    check_length(ctx, len(items))
    return items


def use_up(ctx: Context, operand: Operand) -> tuple[Operand, ...]:
    """The items of something that is taken apart at once, and may be a generator."""
    return operand.items if isinstance(operand, Generated) else static_items(ctx, operand)


def _letters_or_keys(value: Any) -> tuple[Operand, ...] | None:
    return tuple(map(Const, value)) if type(value) in (str, dict) else None


def check_length(ctx: Context, length: int) -> None:
    if length > MAX_ITEMS:
        raise ctx.refusal(
            "E0703",
            f"a loop of {length} trips is too long to be unrolled (at most {MAX_ITEMS})",
            help="use `range`, which makes a loop on the device",
        )


def _suggestions(operand: Operand) -> tuple[str, ...]:
    if isinstance(operand, Array):
        return (f"loop over its indices: `for i in range({operand.name}.shape[0])`",)
    if is_number(operand) and not (isinstance(operand, Num) and operand.shape):
        return ("loop over the numbers below it: `for i in range(n)`",)
    if isinstance(operand, Num):
        return ("a block is computed as a whole, or reduced with `mk.sum` and the like",)
    return ()

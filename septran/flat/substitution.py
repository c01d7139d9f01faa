"""Names replaced by numbers or expressions, anywhere in the flat IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from eas.septran.flat.affine import Affine, Number
from eas.septran.flat.nodes import (
    Binary,
    Call,
    Cast,
    Column,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Index,
    Map,
    Mma,
    Module,
    Operand,
    ParallelFor,
    Param,
    Passed,
    Reduce,
    Select,
    Start,
    Stmt,
    Temp,
    Unary,
    View,
    Wait,
)
from eas.support.records import replace

Values: TypeAlias = Mapping[str, Number]
Change: TypeAlias = Callable[[Affine], Affine]


def bind_sizes(module: Module, sizes: Values) -> Module:
    """The module for given sizes; those that are not given stay symbolic."""

    def bound(buffer: Param | Temp) -> Param | Temp:
        return replace(buffer, shape=tuple(extent.substitute(sizes) for extent in buffer.shape))

    kernels = tuple(
        replace(
            kernel,
            params=tuple(map(bound, kernel.params)),
            grid=tuple((name, extent.substitute(sizes)) for name, extent in kernel.grid),
            body=substitute_all(kernel.body, sizes),
        )
        for kernel in module.kernels
    )
    params, temps = tuple(map(bound, module.params)), tuple(map(bound, module.temps))
    return replace(module, params=params, temps=temps, kernels=kernels)


def substitute_all(body: tuple[Stmt, ...], values: Values) -> tuple[Stmt, ...]:
    """All statements with names replaced, up to loops that define the name again."""
    return tuple(substitute(stmt, values) for stmt in body)


def substitute(stmt: Stmt, values: Values) -> Stmt:
    """A statement with names replaced in all of its affine expressions."""
    changed = map_numbers(stmt, lambda number: number.substitute(values))
    match changed:
        case For() | ParallelFor():
            inner = {name: value for name, value in values.items() if name != changed.variable}
            return replace(changed, body=substitute_all(changed.body, inner))
        case If():
            return replace(changed, body=substitute_all(changed.body, values))
        case _:
            return changed


def map_numbers(stmt: Stmt, change: Change) -> Stmt:
    """A statement with all of its own affine expressions changed, but not those of its body."""

    def view(of: View) -> View:
        return map_view(of, change)

    match stmt:
        case Copy() | Start():
            return replace(stmt, target=view(stmt.target), source=view(stmt.source))
        case Wait():
            return replace(stmt, keep=change(stmt.keep))
        case Fill():
            return replace(stmt, target=view(stmt.target))
        case Map():
            return replace(stmt, target=view(stmt.target), value=_map_expr(stmt.value, change))
        case Reduce():
            return replace(stmt, target=view(stmt.target), source=view(stmt.source))
        case Mma():
            left, right = view(stmt.left), view(stmt.right)
            return replace(stmt, target=view(stmt.target), left=left, right=right)
        case Call():
            given = tuple(_argument(each, change) for each in stmt.arguments)
            return replace(stmt, arguments=given)
        case For() | ParallelFor():
            return replace(stmt, extent=change(stmt.extent))
        case If():
            return replace(stmt, left=change(stmt.left), right=change(stmt.right))
        case _:
            return stmt


def map_view(view: View, change: Change) -> View:
    """A view with all of its affine expressions changed."""
    return replace(
        view,
        offsets=tuple(map(change, view.offsets)),
        extents=tuple(None if extent is None else change(extent) for extent in view.extents),
        slot=None if view.slot is None else change(view.slot),
    )


def _map_expr(expr: Expr, change: Change) -> Expr:
    match expr:
        case Operand() | Column():
            return replace(expr, view=map_view(expr.view, change))
        case Index():
            return Index(change(expr.value))
        case Unary() | Cast():
            return replace(expr, operand=_map_expr(expr.operand, change))
        case Binary():
            left, right = _map_expr(expr.left, change), _map_expr(expr.right, change)
            return Binary(expr.kind, left, right)
        case Select():
            parts = (expr.condition, expr.yes, expr.no)
            return Select(*(_map_expr(part, change) for part in parts))
        case _:
            return expr


def _argument(argument: Passed | Affine | Const, change: Change) -> Passed | Affine | Const:
    if isinstance(argument, Affine):
        return change(argument)
    if isinstance(argument, Passed):
        return Passed(argument.privilege, map_view(argument.view, change))
    return argument

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
    return _map(stmt, lambda view: map_view(view, change), change)


def change_views(stmt: Stmt, change: Callable[[View], View]) -> Stmt:
    """A statement, and all inside of it, with each of its views changed."""
    changed = _map(stmt, change, lambda number: number)
    if not isinstance(changed, For | ParallelFor | If):
        return changed
    return replace(changed, body=tuple(change_views(each, change) for each in changed.body))


def _map(stmt: Stmt, view: Callable[[View], View], number: Change) -> Stmt:
    """A statement with its own views and other affine expressions changed."""
    match stmt:
        case Copy() | Start() | Reduce():
            return replace(stmt, target=view(stmt.target), source=view(stmt.source))
        case Wait():
            return replace(stmt, keep=number(stmt.keep))
        case Fill():
            return replace(stmt, target=view(stmt.target))
        case Map():
            value = _map_expr(stmt.value, view, number)
            return replace(stmt, target=view(stmt.target), value=value)
        case Mma():
            left, right = view(stmt.left), view(stmt.right)
            return replace(stmt, target=view(stmt.target), left=left, right=right)
        case Call():
            given = tuple(_argument(each, view, number) for each in stmt.arguments)
            return replace(stmt, arguments=given)
        case For() | ParallelFor():
            return replace(stmt, extent=number(stmt.extent))
        case If():
            return replace(stmt, left=number(stmt.left), right=number(stmt.right))
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


def _map_expr(expr: Expr, view: Callable[[View], View], number: Change) -> Expr:
    def inner(of: Expr) -> Expr:
        return _map_expr(of, view, number)

    match expr:
        case Operand() | Column():
            return replace(expr, view=view(expr.view))
        case Index():
            return Index(number(expr.value))
        case Unary() | Cast():
            return replace(expr, operand=inner(expr.operand))
        case Binary():
            return Binary(expr.kind, inner(expr.left), inner(expr.right))
        case Select():
            return Select(inner(expr.condition), inner(expr.yes), inner(expr.no))
        case _:
            return expr


def _argument(
    argument: Passed | Affine | Const, view: Callable[[View], View], number: Change
) -> Passed | Affine | Const:
    if isinstance(argument, Affine):
        return number(argument)
    if isinstance(argument, Passed):
        return Passed(argument.privilege, view(argument.view))
    return argument

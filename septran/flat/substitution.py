"""Names replaced by numbers or expressions, anywhere in the flat IR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from eas.septran.flat.affine import Affine, Number
from eas.septran.flat.nodes import (
    Binary,
    Call,
    Cast,
    Column,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Index,
    Kernel,
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


def rename_grid(kernel: Kernel, names: Mapping[str, str]) -> Kernel:
    """The kernel with other names for its grid's variables."""
    grid = tuple((names.get(name, name), extent) for name, extent in kernel.grid)
    return replace(kernel, grid=grid, body=substitute_all(kernel.body, names))


def substitute_all(body: tuple[Stmt, ...], values: Values) -> tuple[Stmt, ...]:
    """All statements with names replaced, up to loops that define the name again."""
    return tuple(substitute(stmt, values) for stmt in body)


def substitute(stmt: Stmt, values: Values) -> Stmt:
    """A statement with names replaced in all of its affine expressions."""

    def view(of: View) -> View:
        return substitute_view(of, values)

    match stmt:
        case Copy() | Start():
            return replace(stmt, target=view(stmt.target), source=view(stmt.source))
        case Wait():
            return replace(stmt, keep=stmt.keep.substitute(values))
        case Fill():
            return replace(stmt, target=view(stmt.target))
        case Map():
            value = substitute_expr(stmt.value, values)
            return replace(stmt, target=view(stmt.target), value=value)
        case Reduce():
            return replace(stmt, target=view(stmt.target), source=view(stmt.source))
        case Mma():
            left, right = view(stmt.left), view(stmt.right)
            return replace(stmt, target=view(stmt.target), left=left, right=right)
        case Call():
            given = tuple(_argument(each, values) for each in stmt.arguments)
            return replace(stmt, arguments=given)
        case For() | ParallelFor():
            inner = {name: value for name, value in values.items() if name != stmt.variable}
            body = substitute_all(stmt.body, inner)
            return replace(stmt, extent=stmt.extent.substitute(values), body=body)
        case If():
            left, right = stmt.left.substitute(values), stmt.right.substitute(values)
            return replace(stmt, left=left, right=right, body=substitute_all(stmt.body, values))
        case _:
            return stmt


def substitute_view(view: View, values: Values) -> View:
    """A view with names replaced."""
    return replace(
        view,
        offsets=tuple(offset.substitute(values) for offset in view.offsets),
        extents=tuple(extent and extent.substitute(values) for extent in view.extents),
        slot=None if view.slot is None else view.slot.substitute(values),
    )


def substitute_expr(expr: Expr, values: Values) -> Expr:
    """An expression with names replaced."""
    match expr:
        case Operand() | Column():
            return replace(expr, view=substitute_view(expr.view, values))
        case Index():
            return Index(expr.value.substitute(values))
        case Unary() | Cast():
            return replace(expr, operand=substitute_expr(expr.operand, values))
        case Binary():
            left, right = substitute_expr(expr.left, values), substitute_expr(expr.right, values)
            return Binary(expr.kind, left, right)
        case Select():
            parts = (expr.condition, expr.yes, expr.no)
            return Select(*(substitute_expr(part, values) for part in parts))
        case _:
            return expr


def _argument(argument: object, values: Values) -> object:
    if isinstance(argument, Affine):
        return argument.substitute(values)
    if isinstance(argument, Passed):
        return Passed(argument.privilege, substitute_view(argument.view, values))
    return argument

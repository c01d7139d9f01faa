"""Assignment: names, unpacking, elements of arrays."""

from __future__ import annotations

import ast

from eas.frontend_ast import local_arrays
from eas.frontend_ast.arithmetic import SYMBOLS, binary, class_of, items_of, stored_generator
from eas.frontend_ast.context import Context, Silenced
from eas.frontend_ast.fixes import converted, rewrite
from eas.frontend_ast.name_lookup import read_name
from eas.frontend_ast.operands import (
    UNNAMED,
    Array,
    ArrayPointer,
    Closure,
    Const,
    Generated,
    LocalArray,
    Num,
    Operand,
    Poison,
    Tuple,
)
from eas.frontend_ast.promote import describe, is_numeric, materialize, why_none
from eas.frontend_ast.scopes import Bound
from eas.frontend_ast.subscripts import Element, element, load_element, store_element
from eas.ir.types import DType
from eas.support.diagnostics import Fix, Label
from eas.support.records import replace


def lower_assign(ctx: Context, node: ast.Assign) -> None:
    """Binds names, takes tuples apart (with a star too), stores to elements of arrays."""
    value = ctx.expression(node.value)
    for target in node.targets:
        assign(ctx, target, value, _origin(node, target, node.value))


def _origin(node: ast.stmt, target: ast.expr, value: ast.expr) -> ast.AST:
    """What errors about the value show: a short assignment to a name as a whole."""
    if not isinstance(target, ast.Name):
        return value
    return node if node.lineno == node.end_lineno else target


def lower_annotated(ctx: Context, node: ast.AnnAssign) -> None:
    """`x: mk.f32 = 0` gives a literal that type; other annotations mean nothing, as in Python."""
    if node.value is None:
        return
    value = ctx.expression(node.value)
    dtype = _annotated_dtype(ctx, node.annotation)
    if dtype is not None:
        with ctx.at(node.value):
            value = _as_declared(ctx, value, dtype, node)
    assign(ctx, node.target, value, _origin(node, node.target, node.value))


def _annotated_dtype(ctx: Context, node: ast.expr) -> DType | None:
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    annotation = ctx.expression(node)
    if isinstance(annotation, Const) and isinstance(annotation.value, DType):
        return annotation.value
    return None


def _as_declared(ctx: Context, value: Operand, dtype: DType, node: ast.AnnAssign) -> Operand:
    is_cut = isinstance(value, Const) and isinstance(value.value, float) and not dtype.is_float
    if isinstance(value, Const) and is_numeric(value.value) and not is_cut:
        return Num(materialize(ctx, value, dtype).value)
    if isinstance(value, Num) and value.weak:
        return materialize(ctx, value, dtype)
    if isinstance(value, Num) and value.dtype == dtype:
        return value
    written = ctx.text(node.target) or "x"
    raise ctx.refusal(
        "E0314",
        f"`{written}` is declared to be {dtype}, but gets {describe(value)}",
        label=describe(value),
        secondary=[Label(ctx.frame.loc(node.annotation), "declared here")],
        help=converted(
            ctx,
            f"convert the value: `{written} = (...).to(mk.{dtype})`",
            ctx.frame.loc(node.value),
            dtype,
        )
        if node.value is not None and not is_cut
        else (),
    )


def lower_augmented(ctx: Context, node: ast.AugAssign) -> None:
    """`x += v`; the target is evaluated once."""
    if isinstance(node.target, ast.Subscript):
        holder = ctx.expression(node.target.value)
        if isinstance(holder, LocalArray):
            _augment_local(ctx, node, node.target, holder)
            return
        element = _array_element(ctx, holder, node.target)
        old = load_element(ctx, element)
        new = binary(ctx, node.op, old, ctx.expression(node.value))
        store_element(ctx, element, new)
        return
    if isinstance(node.target, ast.Attribute):
        raise _attribute_target(ctx, node.target)
    with ctx.at(node.target):
        old = read_name(ctx, node.target.id)
    if isinstance(old, Poison):
        ctx.expression(node.value)
        raise Silenced
    if class_of(old) is list:
        raise _changed_list(ctx, node)
    assign(ctx, node.target, binary(ctx, node.op, old, ctx.expression(node.value)), node)


def _augment_local(
    ctx: Context, node: ast.AugAssign, target: ast.Subscript, array: LocalArray
) -> None:
    index = local_arrays.index_of(ctx, array, target.slice)
    new = binary(ctx, node.op, local_arrays.load(ctx, array, index), ctx.expression(node.value))
    local_arrays.store(ctx, ast.unparse(target.value), index, new)


def _changed_list(ctx: Context, node: ast.AugAssign) -> Exception:
    name, symbol = ctx.text(node.target), SYMBOLS[type(node.op)]
    return ctx.refusal(
        "E0408",
        "a list cannot be changed in a kernel",
        at=node.target,
        help=_another_list(ctx, f"{name} = {name} {symbol} ", node),
    )


def _another_list(ctx: Context, start: str, node: ast.AugAssign) -> Fix | str:
    text = ctx.text(node.value)
    help = f"make another one: `{start}{text or '...'}`"
    return rewrite(help, ctx.frame.loc(node), start + text) if text else help


def lower_walrus(ctx: Context, node: ast.NamedExpr) -> Operand:
    """`(x := v)`: binds the name and is the value."""
    if ctx.frame.is_comprehension:
        raise ctx.refusal(
            "E0121",
            "`:=` inside of a comprehension is not supported",
            notes=("Python would bind the name outside of the comprehension",),
            help="write a `for` loop",
        )
    value = ctx.expression(node.value)
    assign(ctx, node.target, value, node)
    return value


def assign(ctx: Context, target: ast.expr, value: Operand, origin: ast.AST | None = None) -> None:
    """Binds a target; `origin` is the expression that errors about the value point at."""
    match target:
        case ast.Name() if isinstance(value, Generated):
            raise stored_generator(ctx, value)
        case ast.Name(id=name):
            if isinstance(value, Array) and value.name == UNNAMED:
                value = replace(value, name=name)
                ctx.hints.setdefault(value.pointer.id, name)
            if isinstance(value, LocalArray):
                value = local_arrays.named(ctx, value, name)
                ctx.has_local_arrays = True
            ctx.frame.env[name] = Bound(value, ctx.frame.loc(origin or target))
            _remember_name(ctx, value, name)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(ctx, target, targets, value, origin)
        case ast.Subscript():
            with ctx.at(target):
                _store(ctx, target, value)
        case ast.Attribute():
            raise _attribute_target(ctx, target)
        case _:
            raise TypeError(f"Python's grammar allows no {type(target).__name__} here")


def _remember_name(ctx: Context, value: Operand, name: str) -> None:
    ctx.name_value(value, name)
    if isinstance(value, ArrayPointer):
        ctx.name_value(value.offset, name)


def _unpack(
    ctx: Context,
    target: ast.Tuple | ast.List,
    targets: list[ast.expr],
    value: Operand,
    origin: ast.AST | None,
) -> None:
    items = value.items if isinstance(value, Generated) else items_of(value)
    if items is None:
        raise ctx.refusal(
            "E0406",
            f"{describe(value)} cannot be unpacked",
            at=origin or target,
            help="only a tuple whose length is known at compile time can be",
        )
    parts = _origins(origin, len(items))
    starred = [position for position, t in enumerate(targets) if isinstance(t, ast.Starred)]
    _check_count(ctx, target, len(items), bool(starred), origin)
    if not starred:
        for each, item, part in zip(targets, items, parts, strict=True):
            assign(ctx, each, item, part)
        return
    before, after = starred[0], len(targets) - starred[0] - 1
    stop = len(items) - after
    for each, item, part in zip(targets[:before], items[:before], parts[:before], strict=True):
        assign(ctx, each, item, part)
    star = targets[before]
    assert isinstance(star, ast.Starred)
    assign(ctx, star.value, Tuple(items[before:stop], list), origin)
    for each, item, part in zip(targets[before + 1 :], items[stop:], parts[stop:], strict=True):
        assign(ctx, each, item, part)


def _origins(origin: ast.AST | None, count: int) -> list[ast.AST | None]:
    """Where each part of a tuple is written, if it is written as one."""
    if isinstance(origin, ast.Tuple | ast.List) and len(origin.elts) == count:
        return list(origin.elts)
    return [origin] * count


def _check_count(
    ctx: Context,
    target: ast.Tuple | ast.List,
    items: int,
    has_star: bool,
    origin: ast.AST | None,
) -> None:
    names = len(target.elts) - has_star
    if items == names or (has_star and items > names):
        return
    values = f"{items} value{'s' * (items != 1)}"
    wanted = f"{'at least ' * has_star}{names} name{'s' * (names != 1)}"
    raise ctx.refusal(
        "E0407",
        f"{values} cannot be unpacked into {wanted}",
        at=target,
        label=wanted,
        secondary=[] if origin is None else [Label(ctx.frame.loc(origin), values)],
    )


def _store(ctx: Context, target: ast.Subscript, value: Operand) -> None:
    holder = ctx.expression(target.value)
    if isinstance(holder, LocalArray):
        index = local_arrays.index_of(ctx, holder, target.slice)
        local_arrays.store(ctx, ast.unparse(target.value), index, value)
    else:
        store_element(ctx, _array_element(ctx, holder, target), value)


def _array_element(ctx: Context, holder: Operand, target: ast.Subscript) -> Element:
    if not isinstance(holder, Array):
        raise ctx.refusal(
            "E0408",
            f"an element of {describe(holder)} cannot be assigned to",
            at=target,
            help=why_none(ctx, holder)
            or "blocks and tuples are values: make a new one, for blocks with `mk.where`",
        )
    return element(ctx, holder, target.slice)


def _attribute_target(ctx: Context, target: ast.Attribute) -> Exception:
    ctx.expression(target.value)  # one with an error has been reported
    return ctx.refusal(
        "E0409",
        f"the attribute `{target.attr}` cannot be assigned to",
        at=target,
        help="make a new value: `point = Point(x, y)`",
    )


def lower_nested_function(ctx: Context, node: ast.FunctionDef) -> None:
    """A `def` inside of a kernel; its defaults are evaluated here, its body where it is called."""
    if node.decorator_list:
        raise ctx.refusal(
            "E0410",
            "a function inside of a kernel cannot be decorated",
            at=node.decorator_list[0],
            help=_without_decorator(ctx, node.decorator_list[0]),
        )
    closure = Closure(node, ctx.frame, defaults_of(ctx, node))
    ctx.frame.env[node.name] = Bound(closure, ctx.loc)


def _without_decorator(ctx: Context, decorator: ast.expr) -> Fix | str:
    help, loc = "remove the decorator", ctx.frame.loc(decorator)
    line = ctx.frame.source.lines[loc.line - 1]
    if line[: loc.column].strip() != "@" or loc.line != loc.end_line:
        return help
    return rewrite(help, replace(loc, column=0, end_line=loc.line + 1, end_column=0), "")


def lower_lambda(ctx: Context, node: ast.Lambda) -> Operand:
    """A function without a name; it is inlined where it is called."""
    return Closure(node, ctx.frame, defaults_of(ctx, node))


def defaults_of(ctx: Context, node: ast.FunctionDef | ast.Lambda) -> dict[str, Operand]:
    """The default values of a function's parameters, by name."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args]
    found = {
        a.arg: ctx.expression(default)
        for a, default in zip(
            named[len(named) - len(arguments.defaults) :], arguments.defaults, strict=True
        )
    }
    for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            found[a.arg] = ctx.expression(default)
    local_arrays.refuse_inside(ctx, found.values(), "the defaults of a function")
    return found

"""Expressions that are neither operators nor calls: literals, tuples, comprehensions, f-strings."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeVar

from eas.frontend_ast.arithmetic import failed, unary
from eas.frontend_ast.assignment import assign
from eas.frontend_ast.branches import lower_condition, short_circuit
from eas.frontend_ast.builtins import message_parts
from eas.frontend_ast.context import Context
from eas.frontend_ast.local_arrays import refuse_inside
from eas.frontend_ast.operands import Const, Generated, Num, Operand, Text, Tuple
from eas.frontend_ast.promote import describe
from eas.frontend_ast.scopes import Frame, assigned_names
from eas.frontend_ast.unrolled import check_length, spread, static_items, without_star
from eas.ir.nodes import Value

NO_FORMAT = Const("")


def lower_constant(ctx: Context, node: ast.Constant) -> Operand:
    """A literal; a number takes the type of the other operand."""
    if isinstance(node.value, complex):
        raise ctx.refusal(
            "E0119", "complex numbers are not supported", help="use two floats, or a tuple"
        )
    return Const(node.value)


def lower_unary(ctx: Context, node: ast.UnaryOp) -> Operand:
    """One of the four operators with one operand."""
    is_truth = isinstance(node.op, ast.Not)  # then it does not matter which operand `or` gives
    operand = lower_condition(ctx, node.operand) if is_truth else ctx.expression(node.operand)
    return unary(ctx, node.op, operand)


def lower_tuple(ctx: Context, node: ast.Tuple | ast.List) -> Operand:
    """Taken apart at compile time; a list cannot be changed."""
    values = ctx.expressions([without_star(element) for element in node.elts])
    whole = [v for e, v in zip(node.elts, values, strict=True) if not isinstance(e, ast.Starred)]
    refuse_inside(ctx, whole, "a tuple or list")
    return Tuple(
        tuple(spread(ctx, node.elts, values)), list if isinstance(node, ast.List) else tuple
    )


Comprehension = ast.ListComp | ast.GeneratorExp


def lower_list_comprehension(ctx: Context, node: ast.ListComp) -> Operand:
    """Worked out at compile time, item by item."""
    return Tuple(_generated_items(ctx, node), list)


def lower_generator(ctx: Context, node: ast.GeneratorExp) -> Operand:
    """Worked out at compile time, item by item, for a function such as `sum` to go through."""
    return Generated(_generated_items(ctx, node))


def _generated_items(ctx: Context, node: Comprehension) -> tuple[Operand, ...]:
    """Each item is worked out at compile time."""

    def generate(first: Operand) -> list[Operand]:
        return _generate(ctx, node.elt, node.generators, first)

    items = tuple(_in_own_scope(ctx, node, generate))
    check_length(ctx, len(items))
    return items


def lower_quantifier(ctx: Context, node: ast.GeneratorExp, is_any: bool) -> Operand:
    """`any` or `all` of a generator: no item after the first that decides is worked out."""

    def search(first: Operand) -> Operand:
        return _search(ctx, is_any, node.elt, node.generators, first)

    return _in_own_scope(ctx, node, search)


def _search(
    ctx: Context,
    is_any: bool,
    element: ast.expr,
    generators: Sequence[ast.comprehension],
    sequence: Operand,
) -> Operand:
    generator, *rest = generators

    def test(item: Operand) -> Operand:
        env = ctx.frame.env
        ctx.frame.env = dict(env)
        try:
            assign(ctx, generator.target, item)
            if not all(_holds(ctx, each) for each in generator.ifs):
                return Const(not is_any)
            if rest:
                return _search(ctx, is_any, element, rest, ctx.expression(rest[0].iter))
            return lower_condition(ctx, element)
        finally:
            ctx.frame.env = env

    with ctx.at(generator.iter):
        items = static_items(ctx, sequence)
    parts = [lambda item=item: test(item) for item in items]
    return short_circuit(ctx, not is_any, parts) if parts else Const(not is_any)


T = TypeVar("T")


def _in_own_scope(ctx: Context, node: Comprehension, run: Callable[[Operand], T]) -> T:
    """The loop variables are the comprehension's own; its first sequence is seen from outside."""
    names = assigned_names([g.target for g in node.generators])
    outer = ctx.frame
    inner = Frame(
        outer.source,
        frozenset(names),
        {},
        outer.globals,
        outer.cells,
        outer,
        outer.caller,
        outer.locs,
        is_comprehension=True,
    )
    first = ctx.expression(node.generators[0].iter)
    ctx.frame = inner
    try:
        return run(first)
    finally:
        ctx.frame = outer


def _generate(
    ctx: Context,
    element: ast.expr,
    generators: Sequence[ast.comprehension],
    sequence: Operand | None = None,
) -> list[Operand]:
    if not generators:
        return [ctx.expression(element)]
    generator = generators[0]
    if sequence is None:
        sequence = ctx.expression(generator.iter)
    found: list[Operand] = []
    with ctx.at(generator.iter):
        items = static_items(ctx, sequence)
    for item in items:
        assign(ctx, generator.target, item)
        if all(_holds(ctx, test) for test in generator.ifs):
            found += _generate(ctx, element, generators[1:])
    return found


def _holds(ctx: Context, test: ast.expr) -> bool:
    truth = lower_condition(ctx, test)
    if isinstance(truth, Const):
        return bool(truth.value)
    raise ctx.refusal(
        "E0705",
        "the condition of a comprehension is known at run time only",
        at=test,
        help="how many items there are must be known at compile time",
    )


def lower_f_string(ctx: Context, node: ast.JoinedStr) -> Operand:
    """A string; values that are known at run time only can be printed, but not formatted."""
    parts: list[str | Value] = []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            parts += _formatted(ctx, value)
        else:
            assert isinstance(value, ast.Constant)
            parts.append(str(value.value))
    if all(isinstance(part, str) for part in parts):
        return Const("".join(str(part) for part in parts))
    return Text(tuple(parts))


def _formatted(ctx: Context, node: ast.FormattedValue) -> list[str | Value]:
    operand = ctx.expression(node.value)
    spec = NO_FORMAT if node.format_spec is None else ctx.expression(node.format_spec)
    if isinstance(operand, Const) and isinstance(spec, Const):
        return [_format(ctx, node, operand.value, str(spec.value))]
    # of a number and what is made of them, `!r` is what is printed anyway
    has_conversion = node.conversion != -1 and not isinstance(operand, Num | Tuple)
    if spec != NO_FORMAT or has_conversion:
        raise ctx.refusal(
            "E0426",
            "a value that is known at run time only cannot be formatted"
            if isinstance(spec, Const)
            else "a format that is known at run time only cannot be followed",
            at=node.value,
            help=f"print it as it is: `{{{ctx.text(node.value) or 'x'}}}`",
        )
    return message_parts(ctx, operand)


def _format(ctx: Context, node: ast.FormattedValue, value: object, spec: str) -> str:
    try:
        return format(_converted(value, node.conversion), spec)
    except (TypeError, ValueError) as error:
        with ctx.at(node.value):
            raise failed(ctx, f"the format `{spec}` of {describe(Const(value))}", error) from error


def _converted(value: object, conversion: int) -> object:
    match chr(conversion) if conversion > 0 else "":
        case "r":
            return repr(value)
        case "s":
            return str(value)
        case "a":
            return ascii(value)
        case _:
            return value

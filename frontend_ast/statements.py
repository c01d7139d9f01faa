"""Statements that are neither assignments nor branches."""

from __future__ import annotations

import ast

from eas.frontend_ast.branches import lower_condition
from eas.frontend_ast.builtins import message_parts
from eas.frontend_ast.context import Context, Silenced, Target
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.loops import Loop, lower_loop, range_loop
from eas.frontend_ast.operands import NONE, Const, Operand, Range
from eas.frontend_ast.promote import broadcast, materialize, to_bool
from eas.frontend_ast.recovery import searching
from eas.frontend_ast.refused import RAISE, refusal_of
from eas.frontend_ast.scopes import assigned_names
from eas.frontend_ast.unrolled import lower_unrolled_for, static_items
from eas.ir.nodes import Assert
from eas.ir.types import BOOL
from eas.support.diagnostics import Fix


def lower_for(ctx: Context, node: ast.For) -> None:
    """A `range` makes a loop on the device; anything else is unrolled."""
    with searching(ctx, [node.body, node.orelse], assigned_names([node])):
        head = _head(ctx, node)
    if isinstance(head, Loop):
        lower_loop(ctx, head)
    else:
        lower_unrolled_for(ctx, node, head)


def _head(ctx: Context, node: ast.For) -> Loop | tuple[Operand, ...]:
    sequence = ctx.expression(node.iter)
    with ctx.at(node.iter):
        if isinstance(sequence, Range):
            return range_loop(ctx, node, sequence)
        return static_items(ctx, sequence)


def lower_return(ctx: Context, node: ast.Return) -> None:
    """Ends the program or the lane; in a helper it gives the value of the call."""
    target = _innermost(ctx, "function")
    value = NONE if node.value is None else ctx.expression(node.value)
    if target is ctx.targets[0] and value != NONE:
        raise ctx.refusal(
            "E0424",
            "a kernel returns nothing",
            at=node.value,
            help="store the result in an array: `mk.store(out, i, value)`",
        )
    ctx.exit_to(target, target.exits, value)


def lower_break(ctx: Context, node: ast.Break) -> None:
    """Leaves the innermost loop, for the program or for the lanes that get here."""
    del node
    target = _innermost(ctx, "loop", "unrolled")
    ctx.exit_to(target, target.exits)


def lower_continue(ctx: Context, node: ast.Continue) -> None:
    """Goes on to the next trip, for the program or for the lanes that get here."""
    del node
    target = _innermost(ctx, "loop", "trip")
    if target.kind == "trip":
        ctx.exit_to(target, target.exits)
    else:
        ctx.exit_to(target, target.continues, again=True)


def _innermost(ctx: Context, *kinds: str) -> Target:
    return next(target for target in reversed(ctx.targets) if target.kind in kinds)


def lower_expression_statement(ctx: Context, node: ast.Expr) -> None:
    """An expression for its effect, such as a call of `mk.store`; a docstring."""
    ctx.expression(node.value)


def lower_pass(ctx: Context, node: ast.Pass) -> None:
    """Does nothing."""
    del ctx, node


def lower_assert(ctx: Context, node: ast.Assert) -> None:
    """A check on the device, with its text and the Python line."""
    truth = lower_condition(ctx, node.test)
    if isinstance(truth, Const) and truth.value:
        return
    message = _message(ctx, node)
    condition = materialize(ctx, to_bool(ctx, truth), BOOL)
    spread = broadcast(ctx, condition, ctx.cover(condition.shape, ctx.split_shape()))
    ctx.build.emit(Assert(spread.value, message, ctx.loc))


def _message(ctx: Context, node: ast.Assert) -> str:
    if node.msg is None:
        return ""
    return _constant_text(ctx, node.msg, "an `assert`", _print_before(ctx, node, node.msg))


def _constant_text(
    ctx: Context, node: ast.expr, what: str, help: Fix | str = "keep to constants"
) -> str:
    parts = message_parts(ctx, ctx.expression(node))
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) != len(parts):
        raise ctx.refusal(
            "E0425",
            f"the text of {what} holds values that are known at run time only",
            at=node,
            help=help,
        )
    return "".join(texts)


def _print_before(ctx: Context, node: ast.Assert, message: ast.expr) -> Fix | str:
    """Prints the values where the condition fails, in a line before the assert."""
    loc = ctx.frame.loc(node)
    indent = ctx.frame.source.lines[loc.line - 1][: loc.column]
    test, text = (ctx.written_at(ctx.frame.loc(each)) for each in (node.test, message))
    help = "print the values before, and keep to constants here"
    if not test or not text or indent.strip():
        return f"{help}: `if not (x > 0): print(x)`"
    printed = f"if not ({test}): print({text})"
    return rewrite(f"{help}: `{printed}`", loc, f"{printed}\n{indent}assert {test}")


def lower_raise(ctx: Context, node: ast.Raise) -> None:
    """Refuses the constants that a kernel is compiled for: `if BLOCK % 8: raise ValueError(...)`.

    At run time nothing can be raised. One behind a condition that is unknown is not reported.
    """
    if ctx.searches and ctx.has_unknowns:
        raise Silenced
    if not ctx.is_certain():
        raise refusal_of(ctx, RAISE, node)
    error = _raised(ctx, node)
    ctx.ended = "dead"
    raise ctx.refusal("E0708", error, at=node, label="raised for these constants")


def _raised(ctx: Context, node: ast.Raise) -> str:
    """The error as Python would print it: `ValueError: BLOCK is 100`."""
    match node.exc:
        case None:
            return "`raise` without an error"
        case ast.Call(func=func, args=args):
            texts = [_constant_text(ctx, each, "an error") for each in args]
            kind = ast.unparse(func)
        case _:
            kind, texts = ast.unparse(node.exc), []
    return ": ".join([kind, *([", ".join(texts)] if texts else [])])

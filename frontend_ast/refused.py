"""What Python has and kernels do not: each node with its own error and a suggestion."""

from __future__ import annotations

import ast
from typing import Any

from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import without_statement, without_word
from eas.frontend_ast.operands import Operand
from eas.frontend_ast.recovery import searching
from eas.frontend_ast.scopes import assigned_names
from eas.support.diagnostics import Fix
from eas.support.location import Loc
from eas.support.records import frozen


@frozen
class Refused:
    """Why a node is refused, and what to do instead."""

    code: str
    message: str
    help: str


_TRY = Refused(
    "E0101",
    "`try` is not supported: nothing is raised on a GPU",
    "test for the case before: `if b != 0:`",
)
_ASYNC = Refused("E0104", "`async` is not supported", "write it without `async`")
_IMPORT = Refused("E0109", "`import` inside a kernel is not supported", "import at the top")
_DICT = Refused(
    "E0110",
    "a dictionary cannot be made in a kernel",
    "use a tuple, a named tuple, or a dictionary from outside",
)
_SET = Refused("E0111", "a set cannot be made in a kernel", "use a tuple: `x in (1, 2)`")
GENERATOR = Refused(
    "E0113",
    "a generator cannot run in a kernel",
    "return a tuple, or write the loop where the values are used",
)
RAISE = Refused(
    "E0102",
    "`raise` is not supported: nothing is raised on a GPU",
    "use `assert condition, text`, which stops the launch",
)
_NEWER = Refused(
    "E0120", "this is newer than the language of kernels", "write it as in Python 3.11"
)


def _newer(*names: str) -> dict[type[Any], Refused]:
    """What later versions of Python added to the grammar, where this one has it."""
    return {getattr(ast, name): _NEWER for name in names if hasattr(ast, name)}


REFUSED_STATEMENTS: dict[type[ast.stmt], Refused] = {
    ast.Try: _TRY,
    ast.TryStar: _TRY,
    ast.With: Refused(
        "E0103", "`with` is not supported", "call what it would call, before and after"
    ),
    ast.AsyncWith: _ASYNC,
    ast.AsyncFor: _ASYNC,
    ast.AsyncFunctionDef: _ASYNC,
    ast.Global: Refused(
        "E0105",
        "`global` is not supported: a kernel cannot change Python's variables",
        "store the result in an array argument",
    ),
    ast.Nonlocal: Refused(
        "E0106",
        "`nonlocal` is not supported: an inner function cannot change outer variables",
        "return the new value, and assign it: `x = step(x)`",
    ),
    ast.Delete: Refused(
        "E0107", "`del` is not supported", "leave the name alone: it costs nothing"
    ),
    ast.ClassDef: Refused(
        "E0108",
        "a class cannot be defined in a kernel",
        "define a named tuple or a frozen dataclass outside, and use it here",
    ),
    ast.Import: _IMPORT,
    ast.ImportFrom: _IMPORT,
    **_newer("TypeAlias"),
}

REFUSED_EXPRESSIONS: dict[type[ast.expr], Refused] = {
    ast.Dict: _DICT,
    ast.DictComp: _DICT,
    ast.Set: _SET,
    ast.SetComp: _SET,
    ast.Await: _ASYNC,
    ast.Yield: GENERATOR,
    ast.YieldFrom: GENERATOR,
    ast.Starred: Refused(
        "E0114",
        "a star is only possible in a call, a tuple or an assignment",
        "write the items out: `a[i[0], i[1]]`",
    ),
    **_newer("TemplateStr", "Interpolation"),
}


def refuse_statement(ctx: Context, node: ast.stmt) -> None:
    """Refused, but what is inside is looked at: it may have errors of its own."""
    with searching(ctx, _bodies(node), assigned_names([node])):
        raise refusal_of(ctx, REFUSED_STATEMENTS[type(node)], node)


def _bodies(node: ast.stmt) -> list[list[ast.stmt]]:
    match node:
        case ast.Try() | ast.TryStar():
            handlers = [handler.body for handler in node.handlers]
            return [node.body, *handlers, node.orelse, node.finalbody]
        case ast.With():
            return [node.body]
        case _:
            return []


def refuse_expression(ctx: Context, node: ast.expr) -> Operand:
    raise refusal_of(ctx, REFUSED_EXPRESSIONS[type(node)], node)


def refusal_of(ctx: Context, refused: Refused, at: ast.AST | Loc) -> Exception:
    """The error for a node that is refused."""
    loc = at if isinstance(at, Loc) else ctx.frame.loc(at)
    help: Fix | str = refused.help
    if isinstance(at, _ASYNC_STATEMENTS):
        help = without_word(refused.help, loc, "async")
    elif isinstance(at, ast.Await):
        help = without_word(refused.help, loc, "await")
    elif isinstance(at, ast.Delete):
        help = without_statement(ctx, refused.help, loc)
    return ctx.refusal(refused.code, refused.message, at=loc, help=help)


_ASYNC_STATEMENTS = (ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith)

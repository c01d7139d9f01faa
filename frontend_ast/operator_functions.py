"""The functions of Python's module `operator`: an operator each, to be handed around."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from eas.frontend_ast.arithmetic import PYTHON, UNARY, binary
from eas.frontend_ast.comparison import compare
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Operand

Handler = Callable[..., Operand]

_OF_ONE = {
    operator.not_: ast.Not,
    operator.neg: ast.USub,
    operator.pos: ast.UAdd,
    operator.invert: ast.Invert,
}


def _of_two(kind: type[ast.AST]) -> Handler:
    def handler(ctx: Context, a: Operand, b: Operand, /) -> Operand:
        operation = kind()
        if isinstance(operation, ast.operator):
            return binary(ctx, operation, a, b)
        assert isinstance(operation, ast.cmpop)
        return compare(ctx, operation, a, b)

    return handler


OPERATORS: dict[object, Handler] = {
    **{getattr(operator, name): _of_two(kind) for kind, name in PYTHON.items()},
    **{function: UNARY[kind] for function, kind in _OF_ONE.items()},
}

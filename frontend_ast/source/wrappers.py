"""Decorators: those that only pass a call on are looked through, others are code of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any

from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.source.reading import FunctionSource, plain_function, read_source
from eas.support.diagnostics import Diagnostic


def kernel_function(fn: Callable[..., Any]) -> FunctionType:
    """The function whose body a kernel is; refused where a decorator has put code around it."""
    function = look_through(fn)
    if hasattr(function, "__wrapped__"):
        raise _wrapped(read_source(function), function)
    return function


def look_through(fn: Callable[..., Any]) -> FunctionType:
    """The function under decorators that do nothing, or only keep results: `functools.cache`."""
    found: Any = fn
    seen: set[int] = set()
    while id(found) not in seen and (inner := getattr(found, "__wrapped__", None)) is not None:
        seen.add(id(found))
        if isinstance(found, FunctionType) and not _passes_on(found, inner):
            return found
        found = inner
    return plain_function(found)


def _passes_on(wrapper: FunctionType, inner: object) -> bool:
    """Whether all it does is `return inner(*args, **kwargs)`."""
    try:
        source = read_source(wrapper)
    except Refusal:
        return False
    match source.node:
        case ast.FunctionDef(
            body=[ast.Return(value=ast.Call() as call) | ast.Expr(value=ast.Call() as call)],
            args=ast.arguments(
                posonlyargs=[], args=[], kwonlyargs=[], vararg=ast.arg(arg=rest), kwarg=named
            ),
        ):
            given = f"*{rest}, **{named.arg}" if named else f"*{rest}"
        case _:
            return False
    name = ast.unparse(call.func)
    return ast.unparse(call) == f"{name}({given})" and source.closure.get(name) is inner


def _wrapped(source: FunctionSource, function: FunctionType) -> Refusal:
    body = source.node.body
    return Refusal(
        Diagnostic(
            "E0410",
            f"a decorator has wrapped `{function.__name__}` in code that would not run",
            source.head(body[0] if isinstance(body, list) else body),
            label="Python runs this",
            help=(
                "put the decorator above `@eas.kernel`",
                "or let it give back the function that it is given",
            ),
        )
    )

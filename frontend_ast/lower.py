"""From a Python function and the types of its arguments to a function of the IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from eas.frontend_ast.branches import close_scope, lower_branch
from eas.frontend_ast.calls import capture_function
from eas.frontend_ast.context import Context
from eas.frontend_ast.freeze import freeze
from eas.frontend_ast.operands import NONE, Array, Const, Num, Operand
from eas.frontend_ast.scopes import Bound, Cells, Env, Frame, local_names
from eas.frontend_ast.source.errors import (
    CompileError,
    Diagnostics,
    Refusal,
    failed_in,
    internal_error,
    raised_by,
    too_deep,
)
from eas.frontend_ast.source.parameters import Argument, ArrayArg, ConstArg, Lowered, ScalarArg
from eas.frontend_ast.source.reading import FunctionSource, read_source
from eas.frontend_ast.source.wrappers import kernel_function
from eas.frontend_ast.table import TABLE
from eas.ir.nodes import Function, Param, Region, Yield
from eas.ir.types import DType, Pointer, Scalar
from eas.support.location import NOWHERE


def lower(
    fn: Callable[..., object],
    arguments: Mapping[str, Argument],
    *,
    threads: int | None = None,
    fast_math: bool = False,
) -> Lowered:
    """The kernel in the IR, or a `CompileError` with everything that is wrong with it."""
    name = getattr(fn, "__name__", "?")
    try:
        function = kernel_function(fn)
        source = read_source(function)
    except Refusal as error:
        raise CompileError([error.diagnostic], name) from None
    except RecursionError as error:
        raise too_deep(NOWHERE, name) from error
    try:
        return _lower_source(function, source, arguments, threads, fast_math)
    except RecursionError as error:
        raise too_deep(source.head(source.node), source.name) from error


def _lower_source(
    function: FunctionType,
    source: FunctionSource,
    arguments: Mapping[str, Argument],
    threads: int | None,
    fast_math: bool,
    is_for_threads: bool = False,
) -> Lowered:
    node = source.node
    diagnostics = Diagnostics()
    names = local_names(node) if isinstance(node, ast.FunctionDef) else frozenset[str]()
    frame = Frame(source, names, {}, function.__globals__, Cells(function))
    ctx = Context(TABLE, frame, diagnostics, threads=threads, is_for_threads=is_for_threads)
    ctx.build.loc = frame.loc(node)
    capture_function(ctx, function)
    if not isinstance(node, ast.FunctionDef):
        raise CompileError([_not_plain(ctx, node).diagnostic], source.name)
    frame.env = _bind_parameters(ctx, node, arguments)
    body = _lower_body(ctx, node)
    diagnostics.raise_if_any(source.name)
    if "tid" in ctx.positions and ctx.has_early_effects:
        return _lower_source(function, source, arguments, ctx.threads, fast_math, True)
    return _freeze(ctx, source, arguments, body, fast_math)


def _not_plain(ctx: Context, node: ast.Lambda | ast.AsyncFunctionDef) -> Refusal:
    if isinstance(node, ast.Lambda):
        return ctx.refusal("E0118", "a lambda cannot be a kernel", help="write it with `def`")
    return ctx.refusal(
        "E0104", "a kernel cannot be an `async` function", help="write it without `async`"
    )


def _bind_parameters(ctx: Context, node: ast.FunctionDef, arguments: Mapping[str, Argument]) -> Env:
    places = {a.arg: a for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    env: Env = {}
    for name, argument in arguments.items():
        if isinstance(argument, ArrayArg) and argument.same_as is not None:
            env[name] = env[argument.same_as]
        else:
            place = ctx.frame.loc(places.get(name, node))
            env[name] = Bound(_parameter(ctx, name, argument), place)
    return env


def _parameter(ctx: Context, name: str, argument: Argument) -> Operand:
    match argument:
        case ConstArg(value=value):
            return Const(value)
        case ScalarArg(dtype=dtype):
            value = ctx.build.value(Scalar(dtype), name)
            ctx.params[name] = Param(value)
            return Num(value)
        case ArrayArg(dtype=dtype, ndim=ndim, is_wide=is_wide):
            pointer = ctx.build.value(Pointer(dtype), name)
            ctx.params[name] = Param(pointer)
            return Array(name, pointer, ndim, is_wide=is_wide)


def _lower_body(ctx: Context, node: ast.FunctionDef) -> Region:
    target = ctx.new_target("function")
    ctx.targets.append(target)

    def run() -> Operand:
        ctx.statements(node.body)
        return NONE

    try:
        branch = lower_branch(ctx, run)
        ctx.build.loc = ctx.frame.loc(node)
        close_scope(ctx, target, branch, ())
    except Refusal as error:
        ctx.diagnostics.add(error.diagnostic)
    except (CompileError, RecursionError, MemoryError):
        raise
    except Exception as error:
        place = ctx.crash or ctx.loc
        if (culprit := raised_by(error)) is not None:
            raise failed_in(culprit, error, place, node.name, ctx.diagnostics.items) from error
        raise internal_error(error, place, node.name, ctx.diagnostics.items) from error
    if ctx.failures and not ctx.diagnostics.items:
        cause = AssertionError("a statement was given up without an error")
        raise internal_error(cause, ctx.loc, node.name)
    ops = (*ctx.build.ops, Yield((), ctx.loc))
    return Region((), ops)


def _freeze(
    ctx: Context,
    source: FunctionSource,
    arguments: Mapping[str, Argument],
    body: Region,
    fast_math: bool,
) -> Lowered:
    params, body = freeze(ctx.params.values(), body, ctx.hints)
    constants = tuple(
        (name, _spell(argument.value))
        for name, argument in arguments.items()
        if isinstance(argument, ConstArg)
    )
    function = Function(
        source.name,
        params,
        body,
        source.source,
        ctx.threads if "tid" in ctx.positions else None,
        fast_math,
        constants,
    )
    return Lowered(function, tuple(ctx.captures.values()), tuple(ctx.messages))


def _spell(value: Any) -> str:
    """A constexpr value for the reader: the same text in every process."""
    if isinstance(value, str):  # it stands in a comment of the text, on one line
        return value if value.isprintable() else repr(value)
    if value is None or type(value) in (bool, int, float) or isinstance(value, DType):
        return str(value)
    if type(value) in (tuple, list):
        return f"({', '.join(map(_spell, value))})"
    is_named = isinstance(value, type | FunctionType | BuiltinFunctionType | ModuleType)
    return str((value if is_named else type(value)).__name__)

"""From a Python function and the types of its arguments to a function of the IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from eas.frontend_ast.branches import close_scope, lower_branch
from eas.frontend_ast.calls import capture_function
from eas.frontend_ast.context import Caution, Context, Table
from eas.frontend_ast.fixes import without_word
from eas.frontend_ast.freeze import freeze
from eas.frontend_ast.name_lookup import find_undefined
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
from eas.frontend_ast.source.parameters import (
    Argument,
    ArrayArg,
    ConstArg,
    Lowered,
    ScalarArg,
    UnknownArg,
)
from eas.frontend_ast.source.reading import FunctionSource, read_source
from eas.frontend_ast.source.wrappers import kernel_function
from eas.frontend_ast.table import TABLE
from eas.ir.nodes import Function, Param, Region, Yield
from eas.ir.types import DType, Pointer, Scalar
from eas.support.location import NOWHERE


class Incomplete(Exception):
    """A kernel was read as far as it can be: something that it depends on is not known."""


def lower(
    fn: Callable[..., object],
    arguments: Mapping[str, Argument],
    *,
    threads: int | None = None,
    fast_math: bool = False,
    table: Table = TABLE,
    caution: Caution | None = None,
) -> Lowered:
    """The kernel in the IR, or a `CompileError` with everything that is wrong with it.

    `table` may have handlers that also observe. A text that was not saved yet is read with
    `caution`, see `eas.frontend_ast.caution`. `Incomplete` is raised if something is unknown,
    so that there is no IR, and no mistake is found in what is known.
    """
    name = getattr(fn, "__name__", "?")
    try:
        function = kernel_function(fn)
        source = read_source(function)
    except Refusal as error:
        raise CompileError([error.diagnostic], name) from None
    except RecursionError as error:
        raise too_deep(NOWHERE, name) from error
    try:
        ctx = _context(function, source, threads, table, caution)
        return _lower_source(ctx, function, arguments, fast_math)
    except RecursionError as error:
        raise too_deep(source.head(source.node), source.name) from error


def _context(
    function: FunctionType,
    source: FunctionSource,
    threads: int | None,
    table: Table,
    caution: Caution | None,
    is_for_threads: bool = False,
) -> Context:
    node = source.node
    names = local_names(node) if isinstance(node, ast.FunctionDef) else frozenset[str]()
    frame = Frame(source, names, {}, function.__globals__, Cells(function))
    return Context(
        table,
        frame,
        Diagnostics(),
        threads=threads,
        is_for_threads=is_for_threads,
        caution=caution,
    )


def _lower_source(
    ctx: Context, function: FunctionType, arguments: Mapping[str, Argument], fast_math: bool
) -> Lowered:
    frame, source = ctx.frame, ctx.frame.source
    node = source.node
    ctx.build.loc = frame.loc(node)
    capture_function(ctx, function)
    if not isinstance(node, ast.FunctionDef):
        raise CompileError([_not_plain(ctx, node).diagnostic], source.name)
    frame.env = _bind_parameters(ctx, node, arguments)
    body = _lower_body(ctx, node)
    if ctx.has_unknowns:
        find_undefined(ctx, node)
    ctx.diagnostics.raise_if_any(source.name, is_partial=ctx.has_unknowns)
    if ctx.failures or ctx.has_unknowns:
        raise Incomplete(source.name)
    if "tid" in ctx.positions and ctx.has_early_effects:
        again = _context(function, source, ctx.threads, ctx.table, ctx.caution, True)
        return _lower_source(again, function, arguments, fast_math)
    return _freeze(ctx, source, arguments, body, fast_math)


def _not_plain(ctx: Context, node: ast.Lambda | ast.AsyncFunctionDef) -> Refusal:
    if isinstance(node, ast.Lambda):
        return ctx.refusal("E0118", "a lambda cannot be a kernel", help="write it with `def`")
    return ctx.refusal(
        "E0104",
        "a kernel cannot be an `async` function",
        help=without_word("write it without `async`", ctx.frame.loc(node), "async"),
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
        case UnknownArg():
            return ctx.unknown()


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
    if ctx.failures and not ctx.diagnostics.items and not ctx.has_unknowns:
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

"""Calls: plain Python functions are inlined, functions of `mk` become ops."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eas.frontend_ast.branches import close_scope, lower_branch
from eas.frontend_ast.builtins import BUILTINS
from eas.frontend_ast.context import Call, Context, Silenced
from eas.frontend_ast.errors import Refusal
from eas.frontend_ast.intrinsics import lower_intrinsic
from eas.frontend_ast.names import close_matches
from eas.frontend_ast.promote import describe
from eas.frontend_ast.records import is_record, make_record
from eas.frontend_ast.scopes import Bound, Cells, Env, Frame, local_names
from eas.frontend_ast.source import FunctionSource, read_source
from eas.frontend_ast.unrolled import spread, without_star
from eas.frontend_ast.values import NONE, Closure, Const, Method, Operand, Tuple
from eas.ir.diagnostics import Label

_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call, evaluated in Python's order."""

    positional: tuple[Operand, ...]
    named: dict[str, Operand]


def lower_call(ctx: Context, node: ast.Call) -> Operand:
    callee, given = _evaluate(ctx, node)
    match callee:
        case Closure():
            return _call_closure(ctx, callee, given)
        case Method():
            return _call_handler(ctx, callee.name, callee.call, callee.receiver, given)
        case Const(value=value):
            return _call_constant(ctx, value, given)
        case _:
            raise ctx.refusal("E0411", f"{describe(callee)} cannot be called", at=node.func)


def _evaluate(ctx: Context, node: ast.Call) -> tuple[Operand, Given]:
    names = [_keyword_name(ctx, keyword) for keyword in node.keywords]
    values = ctx.expressions(
        [node.func, *map(without_star, node.args), *(keyword.value for keyword in node.keywords)]
    )
    count = len(node.args) + 1
    named = dict(zip(names, values[count:], strict=True))
    return values[0], Given(tuple(spread(ctx, node.args, values[1:count])), named)


def _keyword_name(ctx: Context, keyword: ast.keyword) -> str:
    if keyword.arg is not None:
        return keyword.arg
    raise ctx.refusal(
        "E0412",
        "`**` in a call is not supported",
        at=keyword,
        help="name the arguments: `f(x, scale=2)`",
    )


def _call_constant(ctx: Context, value: object, given: Given) -> Operand:
    intrinsic = getattr(value, "__eas_intrinsic__", None)
    if isinstance(intrinsic, str):
        return _call_intrinsic(ctx, intrinsic, value, given)
    handler = BUILTINS.get(value) if _is_hashable(value) else None
    if handler is not None:
        return _call_handler(ctx, _name(value), handler, None, given)
    if isinstance(value, types.FunctionType):
        return _call_function(ctx, value, given)
    if isinstance(value, type) and is_record(value):
        return make_record(ctx, value, given.positional, given.named)
    if _is_constant_function(value):
        return _call_now(ctx, value, given)
    raise _not_callable(ctx, value)


def _call_handler(
    ctx: Context,
    name: str,
    handler: Callable[..., Operand],
    receiver: Operand | None,
    given: Given,
) -> Operand:
    """A built-in function or a method, for which a function of ours stands."""
    own = (ctx,) if receiver is None else (ctx, receiver)
    try:
        inspect.signature(handler).bind(*own, *given.positional, **given.named)
    except TypeError as error:
        raise ctx.refusal("E0413", f"`{name}`: {error}") from error
    return handler(*own, *given.positional, **given.named)


def _call_intrinsic(ctx: Context, name: str, function: object, given: Given) -> Operand:
    signature = inspect.signature(function)  # pyright: ignore[reportArgumentType]
    try:
        bound = signature.bind(*given.positional, **given.named)
    except TypeError as error:
        close = [c for k in given.named for c in close_matches(k, signature.parameters)]
        unknown = any(k not in signature.parameters for k in given.named)
        raise ctx.refusal(
            "E0413",
            f"`mk.{_name(function)}`: {error}",
            notes=(f"its signature is `{_name(function)}{_plain(signature)}`",),
            help=f"did you mean `{close[0]}`?" if unknown and close else (),
        ) from error
    return lower_intrinsic(ctx, name, _name(function), bound)


def _plain(signature: inspect.Signature) -> str:
    """A signature without its annotations."""
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(bare))


def _call_now(ctx: Context, function: Any, given: Given) -> Operand:
    """A function of Python's own, on constants: Python computes it."""
    constants = [o.value for o in given.positional if isinstance(o, Const)]
    named = {k: o.value for k, o in given.named.items() if isinstance(o, Const)}
    if len(constants) != len(given.positional) or len(named) != len(given.named):
        raise ctx.refusal(
            "E0414",
            f"`{_name(function)}` works on constants only",
            help=f"use the one of kernels: `mk.{_name(function)}`",
        )
    try:
        return Const(function(*constants, **named))
    except Exception as error:
        raise ctx.refusal(
            "E0701",
            f"`{_name(function)}`: {error}",
            notes=(f"Python raises {type(error).__name__} here",),
        ) from error


def _is_constant_function(value: object) -> bool:
    """A function or class of Python's own that only computes."""
    if isinstance(value, types.BuiltinMethodType) and isinstance(
        value.__self__, str | int | float | tuple
    ):
        return True
    module = getattr(value, "__module__", None)
    return callable(value) and module in ("math", "_operator", "operator", "numpy")


def _not_callable(ctx: Context, value: object) -> Exception:
    kind = type(value).__name__
    if kind == "Kernel":
        return ctx.refusal(
            "E0415",
            "a kernel cannot call a kernel",
            help="move what both need into a plain function",
        )
    if callable(value):
        return ctx.refusal(
            "E0411",
            f"`{_name(value)}` cannot be called in a kernel",
            notes=(f"it is a {kind}, not a plain Python function",),
            help="write it as a Python function, or compute it outside and pass it in",
        )
    return ctx.refusal("E0411", f"{describe(Const(value))} cannot be called")


# --- inlining -----------------------------------------------------------------------------------


def _call_function(ctx: Context, function: types.FunctionType, given: Given) -> Operand:
    try:
        source = read_source(function)
    except Refusal as error:
        raise ctx.refusal(
            "E0416",
            f"the source of `{function.__name__}` cannot be read",
            notes=(error.diagnostic.message,),
            help=error.diagnostic.help,
        ) from error
    node = source.node
    if isinstance(node, ast.AsyncFunctionDef):
        raise ctx.refusal(
            "E0104",
            f"`{function.__name__}` is an `async` function",
            secondary=[Label(source.head(node), "defined here")],
            help="write it without `async`",
        )
    defaults = _python_defaults(function, node)
    frame = Frame(source, local_names(node), {}, function.__globals__, Cells(function))
    return _inline(ctx, frame, node, function.__name__, defaults, given)


def _python_defaults(
    function: types.FunctionType, node: ast.FunctionDef | ast.Lambda
) -> dict[str, Operand]:
    named = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    values = function.__defaults__ or ()
    found: dict[str, Operand] = {
        name: Const(value)
        for name, value in zip(named[len(named) - len(values) :], values, strict=True)
    }
    return found | {k: Const(v) for k, v in (function.__kwdefaults__ or {}).items()}


def _call_closure(ctx: Context, closure: Closure, given: Given) -> Operand:
    outer = closure.frame
    source = FunctionSource(closure.name, closure.node, outer.source.source, outer.source.lines)
    names = local_names(closure.node)
    frame = Frame(source, names, {}, outer.globals, outer.cells, parent=outer)
    return _inline(ctx, frame, closure.node, closure.name, closure.defaults, given)


def _inline(
    ctx: Context,
    frame: Frame,
    node: ast.FunctionDef | ast.Lambda,
    name: str,
    defaults: Mapping[str, Operand],
    given: Given,
) -> Operand:
    _check_recursion(ctx, _call_key(frame, node), name)
    frame.env = _bind(ctx, node, name, defaults, given)
    frame.caller = ctx.loc
    for key, binding in frame.env.items():
        if isinstance(binding, Bound):
            ctx.name_value(binding.value, key)
    target = ctx.new_target("function")
    caller, failures = ctx.frame, ctx.failures
    ctx.frame = frame
    ctx.targets.append(target)
    ctx.calls.append(_call_key(frame, node))
    try:
        branch = lower_branch(ctx, lambda: _lower_body(ctx, node))
    finally:
        ctx.calls.pop()
        ctx.targets.pop()
        ctx.frame = caller
    if ctx.failures != failures:  # reported inside: what the call gives is nobody's fault
        raise Silenced
    env = caller.env
    value = close_scope(ctx, target, branch, (), f"the result of `{name}`")
    caller.env = env
    # all ways out of it jump further: what follows the call is never reached
    return NONE if value is None else value


def _lower_body(ctx: Context, node: ast.FunctionDef | ast.Lambda) -> Operand:
    if isinstance(node, ast.Lambda):
        return ctx.expression(node.body)
    _refuse_odd_functions(ctx, node)
    ctx.statements(node.body)
    return NONE


def _refuse_odd_functions(ctx: Context, node: ast.FunctionDef) -> None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            raise ctx.refusal(
                "E0113",
                "a generator cannot run in a kernel",
                at=inner,
                help="return a tuple, or write the loop where the values are used",
            )


def _call_key(frame: Frame, node: ast.FunctionDef | ast.Lambda) -> Call:
    path = frame.source.source.path
    return Call(path, node.lineno, node.col_offset, isinstance(node, ast.Lambda))


def _check_recursion(ctx: Context, call: Call, name: str) -> None:
    """Refuses a function that is under way, unless a lambda passed to it brought it here again."""
    since = ctx.calls[ctx.calls.index(call) + 1 :] if call in ctx.calls else None
    if len(ctx.calls) < _MAX_DEPTH and (since is None or any(c.is_lambda for c in since)):
        return
    raise ctx.refusal(
        "E0418",
        f"`{name}` calls itself",
        label="this call leads back to where it comes from",
        notes=("a GPU has no call stack: every call is written out in place",),
        help="use a loop, or unroll with `mk.static_range`",
    )


# --- binding ------------------------------------------------------------------------------------


def _bind(
    ctx: Context,
    node: ast.FunctionDef | ast.Lambda,
    name: str,
    defaults: Mapping[str, Operand],
    given: Given,
) -> Env:
    """Gives each parameter its argument, as Python does."""
    if node.args.kwarg is not None:
        raise ctx.refusal(
            "E0412",
            f"`{name}` takes `**{node.args.kwarg.arg}`, which is not supported",
            help="name its parameters",
        )
    signature = _signature(node, defaults)
    try:
        bound = signature.bind(*given.positional, **given.named)
    except TypeError as error:
        close = [c for k in given.named for c in close_matches(k, signature.parameters)]
        raise ctx.refusal(
            "E0413",
            f"`{name}`: {error}",
            notes=(f"its signature is `{name}{_plain_defaults(node)}`",),
            help=f"did you mean `{close[0]}`?" if close else (),
        ) from error
    env: Env = {}
    for key, parameter in signature.parameters.items():
        value: Any = bound.arguments.get(key, parameter.default)
        if parameter.kind is parameter.VAR_POSITIONAL:
            value = Tuple(bound.arguments.get(key, ()))
        env[key] = Bound(value, ctx.loc)
    return env


def _signature(
    node: ast.FunctionDef | ast.Lambda, defaults: Mapping[str, Operand]
) -> inspect.Signature:
    kinds = inspect.Parameter
    parameters: list[inspect.Parameter] = []

    def add(arguments: Sequence[ast.arg], kind: Any) -> None:
        for a in arguments:
            default = defaults.get(a.arg, kinds.empty)
            parameters.append(kinds(a.arg, kind, default=default))

    add(node.args.posonlyargs, kinds.POSITIONAL_ONLY)
    add(node.args.args, kinds.POSITIONAL_OR_KEYWORD)
    if node.args.vararg is not None:
        parameters.append(kinds(node.args.vararg.arg, kinds.VAR_POSITIONAL))
    add(node.args.kwonlyargs, kinds.KEYWORD_ONLY)
    return inspect.Signature(parameters)


def _plain_defaults(node: ast.FunctionDef | ast.Lambda) -> str:
    return f"({ast.unparse(node.args)})"


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _name(value: object) -> str:
    return str(getattr(value, "__name__", type(value).__name__))

"""Calls: plain Python functions are inlined, functions of `mk` become ops."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from functools import cache, partial
from typing import Any, cast

import numpy as np

from eas.frontend_ast import foreign
from eas.frontend_ast.arithmetic import failed, stored_generator
from eas.frontend_ast.branches import close_scope, lower_branch
from eas.frontend_ast.builtins import BUILTINS
from eas.frontend_ast.call_binding import Given, bind, without_annotations
from eas.frontend_ast.context import Call, Context, Edge, Silenced
from eas.frontend_ast.expressions import lower_quantifier
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.intrinsics import is_function_of_mk, lower_intrinsic
from eas.frontend_ast.local_arrays import (
    GivenArray,
    given_arrays,
    refuse_inside,
    refuse_outer_names,
    returned,
    take_back,
)
from eas.frontend_ast.number_forms import parts_of, with_parts
from eas.frontend_ast.operands import (
    NONE,
    Array,
    Closure,
    Const,
    Generated,
    Method,
    Num,
    Operand,
    RecordMethod,
    Tuple,
)
from eas.frontend_ast.original_forms import original_form
from eas.frontend_ast.pointer_forms import with_offsets
from eas.frontend_ast.promote import describe
from eas.frontend_ast.record_values import is_named_tuple, is_record, make_record, replace_fields
from eas.frontend_ast.refused import GENERATOR, refusal_of
from eas.frontend_ast.scopes import Bound, Cells, Env, Frame, local_names
from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.source.parameters import UNKNOWN
from eas.frontend_ast.source.reading import FunctionSource, read_source
from eas.frontend_ast.source.wrappers import look_through
from eas.frontend_ast.unrolled import spread, without_star
from eas.ir.types import DType
from eas.support.diagnostics import Fix, Label
from eas.support.records import replace

_MAX_DEPTH = 64

# Python's own functions that only compute.
_PURE = (sorted, ord, chr)

# The methods of dicts and lists that change nothing.
_READS = frozenset({"get", "keys", "values", "items", "index", "count", "copy"})


def lower_call(ctx: Context, node: ast.Call) -> Operand:
    """Python functions are inlined, functions of `mk` are ops, others are for constants only."""
    if (quantified := _quantified(ctx, node)) is not None:
        return quantified
    callee, given = _evaluate(ctx, node)
    return _call(ctx, callee, given)


def _call(ctx: Context, callee: Operand, given: Given) -> Operand:
    match callee:
        case Closure():
            return _call_closure(ctx, callee, given)
        case RecordMethod(function=types.FunctionType() as function):
            return call_function(ctx, function, given, callee.receiver)
        case Method():
            return _call_handler(ctx, callee.name, callee.call, callee.receiver, given)
        case Const(value=value):
            return _call_constant(ctx, value, given)
        case _:
            raise ctx.refusal("E0411", f"{describe(callee)} cannot be called", at=given.node.func)


def _quantified(ctx: Context, node: ast.Call) -> Operand | None:
    match node:
        case ast.Call(func=ast.Name(id="any" | "all"), args=[ast.GeneratorExp() as items]):
            function = ctx.expression(node.func)
            for known in (any, all):
                if isinstance(function, Const) and function.value is known:
                    return lower_quantifier(ctx, items, known is any)
        case _:
            pass
    return None


def _evaluate(ctx: Context, node: ast.Call) -> tuple[Operand, Given]:
    names = [_keyword_name(ctx, keyword) for keyword in node.keywords]
    values = ctx.expressions(
        [node.func, *map(without_star, node.args), *(keyword.value for keyword in node.keywords)]
    )
    count = len(node.args) + 1
    named = dict(zip(names, values[count:], strict=True))
    return values[0], Given(node, tuple(spread(ctx, node.args, values[1:count])), named)


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
    if isinstance(value, types.FunctionType) and not _is_of_numpy(value):
        return call_function(ctx, value, given)
    if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
        return _call_bound(ctx, value.__func__, Const(value.__self__), given)
    if isinstance(value, partial):
        return _call_partial(ctx, cast(partial[object], value), given)
    if isinstance(value, type) and is_record(value):
        refuse_inside(ctx, (*given.positional, *given.named.values()), "a record")
        return make_record(ctx, value, given)
    if _is_constant_function(value):
        return _call_now(ctx, value, given)
    raise _not_callable(ctx, value, given.node.func)


def _call_partial(ctx: Context, value: partial[object], given: Given) -> Operand:
    """A function some of whose arguments were given outside of the kernel."""
    capture_attributes(ctx, value, "func", "args", "keywords")
    positional = (*map(Const, value.args), *given.positional)
    named = {name: Const(argument) for name, argument in value.keywords.items()}
    return _call_constant(ctx, value.func, Given(given.node, positional, named | given.named))


def _call_bound(
    ctx: Context, function: types.FunctionType, receiver: Const, given: Given
) -> Operand:
    """A method of an object that is known at compile time."""
    if function.__name__ == "_replace" and is_named_tuple(type(receiver.value)):
        return _call_handler(ctx, "_replace", replace_fields, receiver, given)
    return call_function(ctx, function, given, receiver)


def is_callable_in_kernels(value: object) -> bool:
    """Whether there is a handler for a function of Python's own."""
    return _is_hashable(value) and value in BUILTINS


def _call_handler(
    ctx: Context,
    name: str,
    handler: Callable[..., Operand],
    receiver: Operand | None,
    given: Given,
) -> Operand:
    """A built-in function or a method, for which a function of ours stands."""
    own = (ctx,) if receiver is None else (ctx, receiver)
    parameters = list(_signature_of(handler).parameters.values())[len(own) :]
    words = foreign.PARAMETERS if isinstance(receiver, Num) else None
    bind(ctx, f"`{name}`", inspect.Signature(parameters), given, foreign=words)
    return handler(*own, *given.positional, **given.named)


def _call_intrinsic(ctx: Context, name: str, function: Any, given: Given) -> Operand:
    signature = _signature_of(function)
    given = with_offsets(ctx, name, given)
    shown = f"mk.{_name(function)}"
    original = original_form(ctx, name, given)
    if original is not None:
        return _call_handler(ctx, shown, original, None, given)

    def note() -> str:
        return f"it is `{shown}{without_annotations(signature)}`"

    def call(callee: Operand, arguments: Sequence[Operand]) -> Operand:
        return _call(ctx, callee, Given(given.node, tuple(arguments), {}))

    bound = bind(ctx, f"`{shown}`", signature, given, note, foreign.PARAMETERS)
    return lower_intrinsic(ctx, name, bound, call)


@cache
def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Of a function of ours, which there are only so many of."""
    return inspect.signature(function)


def _call_now(ctx: Context, function: Any, given: Given) -> Operand:
    """A function of Python's own, on constants: Python computes it."""
    if _is_of_numpy(function) and _name(function) in foreign.MAKERS:
        raise _array_of_numpy(ctx, _name(function), given)
    constants = [o.value for o in given.positional if isinstance(o, Const)]
    named = {k: o.value for k, o in given.named.items() if isinstance(o, Const)}
    if len(constants) != len(given.positional) or len(named) != len(given.named):
        raise _not_constant(ctx, _name(function), given)
    if ctx.caution and not ctx.caution.may_call(function, [*constants, *named.values()]):
        return ctx.unknown()
    try:
        result = _as_tuple(function(*constants, **named))
    except Exception as error:
        what = f"`{ctx.text(given.node) or _name(function)}`"
        raise failed(ctx, what, error) from error
    if isinstance(result, np.ndarray):
        raise _array_of_numpy(ctx, _name(function), given)
    return Const(result)


def _is_of_numpy(function: object) -> bool:
    return getattr(function, "__module__", None) == "numpy"


def _array_of_numpy(ctx: Context, name: str, given: Given) -> Exception:
    written = ctx.text(given.node.func) or name
    return ctx.refusal(
        "E0432",
        f"`{written}` makes an array of NumPy's, which kernels do not have",
        help=_function_here(ctx, name, given) or "compute it outside, and pass it as an argument",
    )


def _function_here(ctx: Context, name: str, given: Given) -> tuple[Fix | str, ...]:
    """What is written here for a function of Python's or NumPy's."""
    if name in foreign.NUMPY:
        return (foreign.NUMPY[name],)
    if name == "format":
        return ('write an f-string: `f"... {x}"`',)
    name = foreign.RENAMED.get(name, name)
    if not is_function_of_mk(name):
        return ()
    if given.positional and isinstance(given.positional[0], Array):
        return of_elements(name, given.positional[0])
    help = f"use the function of kernels: `mk.{name}`"
    return (rewrite(help, ctx.frame.loc(given.node.func), f"mk.{name}"),)


def of_elements(name: str, array: Array) -> tuple[str, ...]:
    """A function of an array is one of its elements."""
    if not is_function_of_mk(name):
        return ()
    return (f"load its elements first: `mk.{name}(mk.load({array.name}, offs))`",)


def _not_constant(ctx: Context, name: str, given: Given) -> Exception:
    operands = [o for o in (*given.positional, *given.named.values()) if not isinstance(o, Const)]
    return ctx.refusal(
        "E0414",
        f"`{ctx.text(given.node.func) or name}` is computed by Python, which takes constants only",
        at=operands[0],
        label=f"{describe(operands[0])}, known at run time only",
        help=_function_here(ctx, name, given),
    )


def _as_tuple(result: Any) -> object:
    """What `dict.items` and the like give is a view of the dict: its items as they are now."""
    is_view = isinstance(result, KeysView | ValuesView | ItemsView)
    return tuple(cast(Iterable[object], result)) if is_view else result


def _is_constant_function(value: object) -> bool:
    """A function or class of Python's own that only computes."""
    if isinstance(value, types.BuiltinMethodType):
        owner = value.__self__
        if isinstance(owner, dict | list) and value.__name__ in _READS:
            return True
        if isinstance(owner, str | int | float | tuple):
            return True
    module = getattr(value, "__module__", None)
    is_known = module in ("math", "_operator", "operator", "numpy")
    return callable(value) and (is_known or any(value is pure for pure in _PURE))


def _not_callable(ctx: Context, value: object, node: ast.expr) -> Exception:
    if type(value).__name__ == "Kernel":
        return ctx.refusal(
            "E0415",
            "a kernel cannot call a kernel",
            at=node,
            help="move what both need into a plain function, and call that",
        )
    if callable(value):
        return ctx.refusal(
            "E0411",
            f"`{ctx.text(node) or _name(value)}` cannot be called in a kernel",
            at=node,
            notes=(f"it is {_kind(value)}, not a function written in Python",),
            help=_instead_of(value),
        )
    help = f"convert a value: `x.to({ctx.text(node)})`" if isinstance(value, DType) else ()
    return ctx.refusal("E0411", f"{describe(Const(value))} cannot be called", at=node, help=help)


def _instead_of(function: object) -> str:
    if function is partial:
        return "give some of its arguments by a lambda: `lambda x: f(1, x)`"
    owner = type(getattr(function, "__self__", None)).__module__
    if owner.partition(".")[0] == "random" or owner.startswith("numpy.random"):
        return foreign.RANDOMS.get(_name(function), "pass random numbers in, or use `mk.rand`")
    if isinstance(function, type) and dataclasses.is_dataclass(function):
        return "a record of kernels cannot change: `@dataclass(frozen=True)`"
    return "write it as a plain function, or compute it outside and pass the result in"


def _kind(value: object) -> str:
    if isinstance(value, types.MethodType):
        return f"a method of the class `{type(value.__self__).__name__}`"
    if isinstance(value, type):
        return f"the class `{value.__name__}`"
    if isinstance(value, types.BuiltinFunctionType):
        return "built into Python"
    return f"an object of the class `{type(value).__name__}`"


def call_function(
    ctx: Context, function: types.FunctionType, given: Given, receiver: Operand | None = None
) -> Operand:
    """Inlines a plain Python function, or a method with the object before the dot."""
    try:
        capture_links(ctx, function)
        function = look_through(function)
        source = read_source(function)
    except Refusal as error:
        raise ctx.refusal(
            "E0416",
            error.diagnostic.message,
            notes=error.diagnostic.notes,
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
    capture_function(ctx, function)
    defaults = _python_defaults(ctx, function, node)
    frame = Frame(source, local_names(node), {}, function.__globals__, Cells(function))
    return _inline(ctx, frame, node, function.__name__, defaults, given, receiver)


def call_method(
    ctx: Context, method: types.FunctionType, receiver: Operand, arguments: tuple[Operand, ...]
) -> Operand:
    """Inlines a method that an operator stands for; the call is where the operator is."""
    call = ast.Call(ast.Name(method.__name__), [], [])
    locs = ctx.frame.locs
    for node in (call, call.func):
        locs[id(node)] = ctx.loc
    try:
        return call_function(ctx, method, Given(call, arguments, {}), receiver)
    finally:
        for node in (call, call.func):
            del locs[id(node)]


def capture_function(ctx: Context, function: types.FunctionType) -> None:
    """Notes that the kernel depends on a function as it is now."""
    capture_attributes(ctx, function, "__code__", "__defaults__", "__kwdefaults__")


def capture_links(ctx: Context, function: Any) -> None:
    """Notes that the kernel depends on what decorators have wrapped."""
    inner = getattr(function, "__wrapped__", None)
    while inner is not None and (id(function), "__wrapped__") not in ctx.captures:
        capture_attributes(ctx, function, "__wrapped__")
        function, inner = inner, getattr(inner, "__wrapped__", None)


def capture_attributes(ctx: Context, holder: object, *names: str) -> None:
    """Notes that the kernel depends on some attributes of an object."""
    for name in names:
        ctx.capture(holder, name, partial(getattr, holder, name), getattr(holder, name))


def _python_defaults(
    ctx: Context, function: types.FunctionType, node: ast.FunctionDef | ast.Lambda
) -> dict[str, Operand]:
    named = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    values = function.__defaults__ or ()
    found = dict(zip(named[len(named) - len(values) :], values, strict=True))
    found |= function.__kwdefaults__ or {}
    return {name: _known(ctx, value) for name, value in found.items()}


def _known(ctx: Context, value: object) -> Operand:
    return ctx.unknown() if value is UNKNOWN else Const(value)


def _call_closure(ctx: Context, closure: Closure, given: Given) -> Operand:
    outer = _seen_frame(closure)
    source = FunctionSource(closure.name, closure.node, outer.source.source, outer.source.lines)
    names = local_names(closure.node)
    frame = Frame(source, names, {}, outer.globals, outer.cells, parent=outer)
    return _inline(ctx, frame, closure.node, closure.name, closure.defaults, given)


def _seen_frame(closure: Closure) -> Frame:
    """The frame with the variables that a function sees."""
    frame = closure.frame
    if not closure.captured:
        return frame
    loc = frame.source.head(closure.node, frame.caller)
    return replace(frame, env=frame.env | {k: Bound(v, loc) for k, v in closure.captured.items()})


def _inline(
    ctx: Context,
    frame: Frame,
    node: ast.FunctionDef | ast.Lambda,
    name: str,
    defaults: Mapping[str, Operand],
    given: Given,
    receiver: Operand | None = None,
) -> Operand:
    frame.env = _bind(ctx, node, name, defaults, given, receiver)
    arrays = _given_arrays(ctx, frame, node, given) if ctx.has_local_arrays else []
    frame.caller = ctx.loc
    call = _call_key(frame, node)
    _check_recursion(ctx, call, name)
    target = ctx.new_target("function")
    caller, failures = ctx.frame, ctx.failures
    ctx.frame = frame
    ctx.targets.append(target)
    ctx.calls.append(call)
    try:
        branch = lower_branch(ctx, lambda: _lower_body(ctx, node))
    finally:
        ctx.calls.pop()
        ctx.targets.pop()
        ctx.frame = caller
    if ctx.failures != failures:  # reported inside: what the call gives is nobody's fault
        raise Silenced
    ctx.frame = frame
    try:
        names = _seen_by_results(frame, [*target.exits, *([branch.edge] if branch.edge else [])])
        value = close_scope(ctx, target, branch, names, f"the result of `{name}`")
    finally:
        ctx.frame = caller
    take_back(ctx, arrays, frame.env)
    # all paths out of it jump further: what follows the call is never reached
    return NONE if value is None else _keep_variables(frame, returned(value, arrays))


def _given_arrays(
    ctx: Context, frame: Frame, node: ast.FunctionDef | ast.Lambda, given: Given
) -> list[GivenArray]:
    """The arrays of lanes that a function may change, with their names where it is called."""
    arguments = zip(given.positional, given.node.args, strict=False)
    named = [(given.named[k.arg], k.value) for k in given.node.keywords if k.arg in given.named]
    arrays = given_arrays(ctx, frame.env, [*arguments, *named])
    if frame.parent is not None:
        refuse_outer_names(ctx, node, arrays)
    return arrays


def _seen_by_results(frame: Frame, exits: Sequence[Edge]) -> list[str]:
    """The variables of a function that the functions it returns go on using."""
    closures = [c for edge in exits if edge.value for c in _closures(edge.value)]
    return list(dict.fromkeys(name for c in closures for name in _used_names(frame, c)))


def _closures(operand: Operand) -> list[Closure]:
    found = [operand] if isinstance(operand, Closure) else []
    return found + [closure for part in parts_of(operand) for closure in _closures(part)]


def _used_names(frame: Frame, closure: Closure) -> list[str]:
    names = (inner.id for inner in ast.walk(closure.node) if isinstance(inner, ast.Name))
    return [name for name in dict.fromkeys(names) if name in frame.names]


def _keep_variables(frame: Frame, operand: Operand) -> Operand:
    """What a function returns: the functions in it keep the variables as they are now."""
    parts = [_keep_variables(frame, part) for part in parts_of(operand)]
    operand = with_parts(operand, parts) if parts else operand
    if not isinstance(operand, Closure) or operand.frame is not frame:
        return operand
    bindings = {name: frame.env.get(name) for name in _used_names(frame, operand)}
    captured = {name: found.value for name, found in bindings.items() if isinstance(found, Bound)}
    return replace(operand, captured=captured)


def _lower_body(ctx: Context, node: ast.FunctionDef | ast.Lambda) -> Operand:
    if isinstance(node, ast.Lambda):
        return ctx.expression(node.body)
    _refuse_odd_functions(ctx, node)
    ctx.statements(node.body)
    return NONE


def _refuse_odd_functions(ctx: Context, node: ast.FunctionDef) -> None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            raise refusal_of(ctx, GENERATOR, inner)


def _call_key(frame: Frame, node: ast.FunctionDef | ast.Lambda) -> Call:
    path = frame.source.source.path
    values = [binding.value for binding in frame.env.values() if isinstance(binding, Bound)]
    functions = tuple(key for value in values for key in _function_keys(value))
    return Call(path, node.lineno, node.col_offset, frame.parent, functions)


def _function_keys(operand: Operand) -> list[object]:
    match operand:
        case Closure(node=node, frame=frame):
            return [(node, frame)]
        case Const(value=types.FunctionType() as function):
            return [function]
        case Tuple(items=items):
            return [key for item in items for key in _function_keys(item)]
        case _:
            return []


def _check_recursion(ctx: Context, call: Call, name: str) -> None:
    since = ctx.calls[ctx.calls.index(call) + 1 :] if call in ctx.calls else None
    if since is None and len(ctx.calls) < _MAX_DEPTH:
        return
    if since is None:
        raise ctx.refusal(
            "E0418",
            f"`{name}` is called through {_MAX_DEPTH} other functions",
            label="this call goes deeper than calls can",
            notes=("a GPU has no call stack: every call is written out in place",),
            help="call fewer functions inside of each other",
        )
    raise ctx.refusal(
        "E0418",
        f"`{name}` calls itself" + ", through other functions" * bool(since),
        label="this call leads back to where it comes from",
        notes=("a GPU has no call stack: every call is written out in place",),
        help="use a loop, or unroll with `mk.static_range`",
    )


def _bind(
    ctx: Context,
    node: ast.FunctionDef | ast.Lambda,
    name: str,
    defaults: Mapping[str, Operand],
    given: Given,
    receiver: Operand | None,
) -> Env:
    """Gives each parameter its argument, as Python does."""
    if node.args.kwarg is not None:
        raise ctx.refusal(
            "E0412",
            f"`{name}` takes `**{node.args.kwarg.arg}`, which is not supported",
            at=given.node.func,
            help="name its parameters",
        )
    signature = _signature(node, defaults)
    what = "this lambda" if isinstance(node, ast.Lambda) else f"`{name}`"
    env: Env = {}
    if receiver is not None and signature.parameters:
        own, *others = signature.parameters.values()
        signature = inspect.Signature(others)
        env[own.name] = Bound(receiver, ctx.loc)
    bound = bind(ctx, what, signature, given, lambda: f"it is `{_written_signature(node)}`")
    for key, parameter in signature.parameters.items():
        value: Any = bound.arguments.get(key, parameter.default)
        if parameter.kind is parameter.VAR_POSITIONAL:
            value = Tuple(bound.arguments.get(key, ()))
            refuse_inside(ctx, value.items, f"`*{key}`")
        if isinstance(value, Generated):
            raise stored_generator(ctx, value)
        ctx.name_value(value, key)
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


def _written_signature(node: ast.FunctionDef | ast.Lambda) -> str:
    arguments = ast.unparse(node.args)
    if isinstance(node, ast.Lambda):
        return f"lambda {arguments}: ..."
    return f"def {node.name}({arguments})"


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except Exception:  # of the user's `__hash__`
        return False
    return True


def _name(value: object) -> str:
    return str(getattr(value, "__name__", type(value).__name__))

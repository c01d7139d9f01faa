"""Names: the kernel's own, its closure's, its module's, Python's."""

from __future__ import annotations

import ast
import builtins
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from eas.frontend_ast import foreign
from eas.frontend_ast.context import Context, is_language
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.operands import Const, Operand
from eas.frontend_ast.scopes import UNBOUND, Bound, Frame, assigned_names
from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.source.parameters import UNKNOWN
from eas.ir.types import DType
from eas.support.close_names import close_matches
from eas.support.diagnostics import Fix, Label
from eas.support.location import Loc
from eas.support.records import replace


def lower_name(ctx: Context, node: ast.Name) -> Operand:
    """The kernel's own names, then its closure's, its module's, Python's."""
    return read_name(ctx, node.id)


def read_name(ctx: Context, name: str) -> Operand:
    """The value of a name, found as Python finds it."""
    frame = ctx.frame
    while name not in frame.names:
        if frame.parent is None:
            return _outside(ctx, frame, name)
        frame = frame.parent
    return _local(ctx, frame, name)


def is_known(ctx: Context, name: str) -> bool:
    """Whether a name has a value here."""
    try:
        return bool(read_name(ctx, name))
    except Refusal:
        return False


def _local(ctx: Context, frame: Frame, name: str) -> Operand:
    binding = frame.env.get(name, UNBOUND)
    if isinstance(binding, Bound):
        return binding.value
    if binding.paths:
        raise ctx.refusal(
            "E0202",
            f"`{name}` may have no value here",
            label="used here",
            secondary=[Label(path.loc, path.text) for path in binding.paths],
            help=f"give `{name}` a value before, on every path",
        )
    raise ctx.refusal(
        "E0203",
        f"`{name}` is used before it has a value",
        secondary=_later_assignment(ctx, frame, name),
        notes=("a name that a function assigns is local to it, as in Python",),
    )


def _later_assignment(ctx: Context, frame: Frame, name: str) -> list[Label]:
    for node in ast.walk(frame.source.node):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return [Label(frame.loc(node), "assigned here")]
    return []


def _outside(ctx: Context, frame: Frame, name: str) -> Operand:
    if name in frame.cells:
        return _captured(ctx, frame.cells, name)
    if name in frame.globals:
        return _captured(ctx, frame.globals, name)
    if hasattr(builtins, name):
        ctx.capture(frame.globals, name, partial(frame.globals.get, name), None)  # may be shadowed
        return Const(getattr(builtins, name))
    raise ctx.refusal("E0201", f"the name `{name}` is not defined", help=_suggestion(ctx, name))


def find_undefined(ctx: Context, function: ast.FunctionDef) -> None:
    """Reports the names in a function that nothing defines, wherever they stand.

    For a function that is only read in part: what depends on something unknown is not lowered.
    """
    nodes = list(ast.walk(function))
    bound = {name for node in nodes for name in _binds(node)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id not in bound:
            with ctx.at(node):
                try:
                    read_name(ctx, node.id)
                except Refusal as error:
                    ctx.diagnostics.add(error.diagnostic)


def _binds(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.arg):
        return (node.arg,)
    return assigned_names([node]) if isinstance(node, ast.stmt | ast.Name | ast.pattern) else ()


def _suggestion(ctx: Context, name: str) -> tuple[Fix | str, ...]:
    """The likeliest name that was meant, of the innermost scope that has one."""
    if name in foreign.OUTER:
        return (_renamed(foreign.OUTER[name], ctx.loc, ctx.loc),)
    frame: Frame | None = ctx.frame
    while frame is not None:
        for known in (frame.names, frame.cells, frame.globals):
            if close := close_matches(name, known):
                return (rewrite(f"did you mean `{close[0]}`?", ctx.loc, close[0]),)
        frame = frame.parent
    close = close_matches(name, ctx.table.functions, cutoff=0.8)
    return tuple(rewrite(f"did you mean `{match}`?", ctx.loc, match) for match in close)


def _captured(ctx: Context, holder: Mapping[str, object], name: str) -> Operand:
    value = holder[name]
    if value is UNKNOWN or (ctx.caution and not ctx.caution.is_plain(value)):
        return ctx.unknown()
    if not ctx.has_captured(holder, name):
        check_capture(ctx, name, value)
        ctx.capture(holder, name, partial(holder.__getitem__, name), value)
    return Const(value)


def check_capture(ctx: Context, name: str, value: object) -> None:
    """An array from outside is data, not a constant."""
    if isinstance(value, np.ndarray) or hasattr(value, "__dlpack__"):
        raise ctx.refusal(
            "E0204",
            f"`{name}` is an array from outside of the kernel",
            help="pass it as an argument",
        )


def lower_attribute_of_constant(ctx: Context, holder: Const, node: ast.Attribute) -> Operand:
    """`math.pi`, `config.BLOCK`, `mk.f32`."""
    value, name = holder.value, node.attr
    if ctx.caution and not ctx.caution.has_plain_attribute(value, name):
        return ctx.unknown()
    try:
        found: object = getattr(value, name)
    except AttributeError as error:
        what = value.__name__ if isinstance(value, types.ModuleType) else type(value).__name__
        written = ctx.text(node.value) or what
        suggestions = _suggestions(value, name)
        raise no_attribute(ctx, node, f"`{written}`", dir(value), suggestions) from error
    if found is UNKNOWN or (ctx.caution and not ctx.caution.is_plain(found)):
        return ctx.unknown()
    if _may_change(value):
        check_capture(ctx, name, found)
        ctx.capture(value, name, partial(getattr, value, name), found)
    return Const(found)


def _suggestions(holder: object, name: str) -> tuple[str, ...]:
    """What is written here for a name of another language."""
    if _has_item(holder, name):
        return (f"an item of a dict is written `[{name!r}]`",)
    names = foreign.NAMES if is_language(holder) else foreign.OF_DTYPES
    is_ours = is_language(holder) or isinstance(holder, DType)
    return (names[name],) if is_ours and name in names else ()


def _has_item(holder: Any, name: str) -> bool:
    return isinstance(holder, dict) and name in holder


def _may_change(holder: object) -> bool:
    """Whether an attribute may be another one at the next launch; those of `mk` are fixed."""
    return type(holder) not in (str, int, float, tuple) and not is_language(holder)


def no_attribute(
    ctx: Context,
    node: ast.Attribute,
    what: str,
    known: Iterable[str],
    suggestions: Sequence[str] = (),
) -> Exception:
    """The error for a name behind a dot that is unknown; it is at that name."""
    loc = ctx.frame.loc(node)
    name = replace(loc, line=loc.end_line, column=loc.end_column - len(node.attr))
    close = close_matches(node.attr, known)
    written = ctx.text(node.value)
    dotted = f"{written}." if written else ""
    return ctx.refusal(
        "E0205",
        f"{what} has no attribute `{node.attr}`",
        at=name,
        help=[_renamed(each, loc, name) for each in suggestions]
        or [rewrite(f"did you mean `{dotted}{match}`?", name, match) for match in close],
    )


_OURS = re.compile(r"it is `(?:(?P<of_mk>mk\.\w+)|(?P<name>\w+))` here.*")


def _renamed(suggestion: str, whole: Loc, name: Loc) -> str | Fix:
    """`it is `mk.f32` here` as an edit of what is written before and behind the dot."""
    found = _OURS.fullmatch(suggestion)
    if found is None:
        return suggestion
    place, text = (whole, found["of_mk"]) if found["of_mk"] else (name, found["name"])
    return rewrite(suggestion, place, text)

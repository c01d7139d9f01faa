"""Binds arguments to parameters as Python does, with errors at the argument that is wrong."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence

from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import rewrite, start_of, without_keyword
from eas.frontend_ast.operands import Operand
from eas.support.close_names import close_matches
from eas.support.diagnostics import Fix, Label
from eas.support.location import Loc
from eas.support.records import frozen, replace

_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@frozen
class Given:
    """The arguments of a call, evaluated in Python's order."""

    node: ast.Call
    positional: tuple[Operand, ...]
    named: dict[str, Operand]


def bind(
    ctx: Context,
    what: str,
    signature: inspect.Signature,
    given: Given,
    note: Callable[[], str] | None = None,
    foreign: Mapping[str, str] | None = None,
) -> inspect.BoundArguments:
    """Each parameter with its argument; `what` is called, `note` says how, where that fails.

    `foreign` are parameters that it does not have, but a like function of another language does.
    """
    try:
        return signature.bind(*given.positional, **given.named)
    except TypeError as error:
        parameters = list(signature.parameters.values())
        notes = () if note is None else (note(),)
        raise (
            _too_many(ctx, what, parameters, given, notes)
            or _unknown(ctx, what, parameters, given, notes, foreign or {})
            or _twice(ctx, parameters, given, notes)
            or _missing(ctx, what, parameters, given, notes)
        ) from error


def without_annotations(signature: inspect.Signature) -> str:
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(bare))


def _too_many(
    ctx: Context,
    what: str,
    parameters: Sequence[inspect.Parameter],
    given: Given,
    notes: Sequence[str],
) -> Exception | None:
    allowed, count = len(_by_place(parameters)), len(given.positional)
    if count <= allowed or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    verb = "is" if count == 1 else "are"
    most = "no arguments" if allowed == 0 else f"{allowed} argument{'s' * (allowed != 1)}"
    extra = ctx.frame.loc(argument(given, allowed))
    return ctx.refusal(
        "E0427",
        f"{what} takes {most}, {count} {verb} given" + " by position" * bool(named),
        at=extra,
        notes=notes,
        help=rewrite(f"give it by name: `{named[0]}=...`", start_of(extra), f"{named[0]}=")
        if named
        else (),
    )


def argument(given: Given, place: int) -> ast.expr:
    """Where an argument is written; a star before it hides which one it is.

    One that a `functools.partial` has brought along is not written in the call.
    """
    call = given.node
    if stars := [a for a in call.args if isinstance(a, ast.Starred)]:
        return stars[0]
    own = place - (len(given.positional) - len(call.args))
    return call.args[own] if own >= 0 else call.func


def _unknown(
    ctx: Context,
    what: str,
    parameters: Sequence[inspect.Parameter],
    given: Given,
    notes: Sequence[str],
    foreign: Mapping[str, str],
) -> Exception | None:
    known = [p.name for p in parameters if p.kind in _BY_NAME]
    name = next((name for name in given.named if name not in known), None)
    if name is None:
        return None
    place = _keyword(ctx, given.node, name)
    close = close_matches(name, known)
    return ctx.refusal(
        "E0428",
        f"{what} has no parameter `{name}`",
        at=place,
        notes=notes,
        help=_instead(ctx, foreign[name], given.node, name, place)
        if name in foreign
        else [rewrite(f"did you mean `{k}`?", place, k) for k in close],
    )


_OURS = re.compile(r"it is `(\w+)` here")


def _instead(ctx: Context, help: str, call: ast.Call, name: str, place: Loc) -> Fix | str:
    """What is written for a parameter of another language: another name, or nothing."""
    if found := _OURS.fullmatch(help):
        return rewrite(help, place, found[1])
    return without_keyword(ctx, help, call, name) if help.startswith("leave it out") else help


def _twice(
    ctx: Context, parameters: Sequence[inspect.Parameter], given: Given, notes: Sequence[str]
) -> Exception | None:
    taken = _by_place(parameters)[: len(given.positional)]
    name = next((p.name for p in taken if p.name in given.named), None)
    if name is None:
        return None
    place = [p.name for p in taken].index(name)
    return ctx.refusal(
        "E0429",
        f"`{name}` is given twice",
        at=_keyword(ctx, given.node, name),
        label="by name",
        secondary=[Label(ctx.frame.loc(argument(given, place)), "by position")],
        notes=notes,
    )


def _missing(
    ctx: Context,
    what: str,
    parameters: Sequence[inspect.Parameter],
    given: Given,
    notes: Sequence[str],
) -> Exception:
    rest = parameters[len(given.positional) :]
    required = [p for p in rest if p.default is p.empty and p.kind in (*_BY_PLACE, *_BY_NAME)]
    names = [f"`{p.name}`" for p in required if p.name not in given.named]
    return ctx.refusal(
        "E0413",
        f"{what} lacks the argument{'s' * (len(names) != 1)} {' and '.join(names)}",
        at=given.node.func,
        notes=notes,
    )


def _by_place(parameters: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    return [p for p in parameters if p.kind in _BY_PLACE]


def _keyword(ctx: Context, call: ast.Call, name: str) -> Loc:
    """Where the name of an argument is written."""
    written = [keyword for keyword in call.keywords if keyword.arg == name]
    if not written:  # a `functools.partial` has brought it along
        return ctx.frame.loc(call.func)
    loc = ctx.frame.loc(written[0])
    return replace(loc, end_line=loc.line, end_column=loc.column + len(name))

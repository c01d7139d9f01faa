"""`match`: a chain of comparisons, each case tried in turn."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from eas.frontend_ast.arithmetic import combine_bools, compare
from eas.frontend_ast.branches import choose, lower_condition, lower_way, short_circuit
from eas.frontend_ast.context import Context
from eas.frontend_ast.joins import Path
from eas.frontend_ast.promote import Number, to_bool
from eas.frontend_ast.recovery import searching
from eas.frontend_ast.scopes import Bound, assigned_names
from eas.frontend_ast.values import Const, Num, Operand


def lower_match(ctx: Context, node: ast.Match) -> None:
    """Tries the cases in turn, per lane if the subject is a block."""
    with searching(ctx, [case.body for case in node.cases], assigned_names(node.cases)):
        subject = ctx.expression(node.subject)
    _lower_cases(ctx, subject, node.cases)


def _lower_cases(ctx: Context, subject: Operand, cases: Sequence[ast.match_case]) -> None:
    if not cases:
        return
    case, rest = cases[0], cases[1:]
    with searching(ctx, [each.body for each in cases], assigned_names(cases)):
        fits = _fits(ctx, subject, case)
    if isinstance(fits, Const):
        if fits.value:
            _run(ctx, subject, case)
        else:
            _lower_cases(ctx, subject, rest)
        return
    _branch(ctx, subject, case, rest, fits)


def _fits(ctx: Context, subject: Operand, case: ast.match_case) -> Number:
    with ctx.at(case.pattern):
        fits = _test(ctx, subject, case.pattern)
    if case.guard is None or (isinstance(fits, Const) and not fits.value):
        return fits
    return _with_guard(ctx, subject, case, fits)


def _branch(
    ctx: Context,
    subject: Operand,
    case: ast.match_case,
    rest: Sequence[ast.match_case],
    fits: Num,
) -> None:
    loc = ctx.frame.loc(case.pattern)
    branches = (
        lower_way(ctx, fits, True, lambda: _run(ctx, subject, case), loc),
        lower_way(ctx, fits, False, lambda: _lower_cases(ctx, subject, rest), loc),
    )
    names = assigned_names([case, *rest])
    paths = (
        Path(loc, "when this case matches", "in this case"),
        Path(loc, "when this case does not match", "in another case"),
    )
    choose(ctx, fits, branches, names, paths)


def _run(ctx: Context, subject: Operand, case: ast.match_case) -> None:
    if case.guard is None:
        _bind(ctx, subject, case.pattern)
    ctx.statements(case.body)


def _with_guard(ctx: Context, subject: Operand, case: ast.match_case, fits: Number) -> Number:
    """The guard sees what the pattern captured, and runs only where the pattern fits."""
    guard = case.guard
    assert guard is not None

    def lower() -> Operand:
        _bind(ctx, subject, case.pattern)
        return lower_condition(ctx, guard)

    return to_bool(ctx, short_circuit(ctx, True, [lambda: fits, lower]))


def _test(ctx: Context, subject: Operand, pattern: ast.pattern) -> Number:
    """Whether a pattern fits: a constant, or a bool of the program or of each lane."""
    match pattern:
        case ast.MatchValue(value=value):
            return to_bool(ctx, compare(ctx, ast.Eq(), subject, ctx.expression(value)))
        case ast.MatchSingleton(value=value):
            return _test_singleton(ctx, subject, value)
        case ast.MatchAs(pattern=None):
            return Const(True)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _test(ctx, subject, inner)
        case ast.MatchOr(patterns=patterns):
            return _test_any(ctx, subject, patterns)
        case _:
            raise _refused(ctx, pattern)


def _test_singleton(ctx: Context, subject: Operand, value: bool | None) -> Number:
    if isinstance(subject, Num) and subject.dtype.is_bool and value is not None:
        return subject if value else ctx.compute("not", subject.value)
    return Const(isinstance(subject, Const) and subject.value is value)


def _test_any(ctx: Context, subject: Operand, patterns: Sequence[ast.pattern]) -> Number:
    found: Number = Const(False)
    for pattern in patterns:
        with ctx.at(pattern):
            fits = _test(ctx, subject, pattern)
        if isinstance(fits, Const):
            if fits.value:
                return fits
        else:
            found = fits if isinstance(found, Const) else combine_bools(ctx, "or", found, fits)
    return found


def _bind(ctx: Context, subject: Operand, pattern: ast.pattern) -> None:
    """Gives the names that a pattern captures the subject; alternatives capture nothing else."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                _bind(ctx, subject, inner)
            if name is not None:
                ctx.frame.env[name] = Bound(subject, ctx.frame.loc(pattern))
        case ast.MatchOr(patterns=patterns):
            _bind(ctx, subject, patterns[0])
        case _:
            pass


_WORDS: dict[type[ast.pattern], tuple[str, str, str]] = {
    ast.MatchSequence: ("E0115", "a sequence pattern", "unpack first: `a, b = pair`"),
    ast.MatchMapping: ("E0116", "a mapping pattern", "match on the value itself"),
    ast.MatchClass: ("E0117", "a class pattern", "match on a field: `match point.x:`"),
    ast.MatchStar: ("E0115", "a starred pattern", "unpack first: `a, *rest = items`"),
}


def _refused(ctx: Context, pattern: ast.pattern) -> Exception:
    code, words, way_out = _WORDS[type(pattern)]
    return ctx.refusal(
        code,
        f"{words} in `match` is not supported",
        at=pattern,
        notes=("literals, `|`, captures, `_` and guards are",),
        help=way_out,
    )

"""`match`: a chain of comparisons, each case tried in turn."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from eas.frontend_ast.arithmetic import combine_bools
from eas.frontend_ast.branches import choose, lower_condition, lower_side, short_circuit
from eas.frontend_ast.comparison import compare
from eas.frontend_ast.context import Context
from eas.frontend_ast.joins import Path
from eas.frontend_ast.operands import Const, Num, Operand
from eas.frontend_ast.promote import Number, to_bool
from eas.frontend_ast.recovery import searching
from eas.frontend_ast.refused import Refused
from eas.frontend_ast.scopes import Bound, assigned_names


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
        lower_side(ctx, fits, True, lambda: _run(ctx, subject, case), loc),
        lower_side(ctx, fits, False, lambda: _lower_cases(ctx, subject, rest), loc),
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
    test = SUPPORTED_PATTERNS.get(type(pattern))
    if test is None:
        raise _refused(ctx, pattern)
    return test(ctx, subject, pattern)


def _test_value(ctx: Context, subject: Operand, pattern: ast.MatchValue) -> Number:
    """A literal or a dotted name: compared with `==`."""
    return to_bool(ctx, compare(ctx, ast.Eq(), subject, ctx.expression(pattern.value)))


def _test_singleton(ctx: Context, subject: Operand, pattern: ast.MatchSingleton) -> Number:
    """`None`, `True` and `False`; the last two compare with a bool of the kernel too."""
    value = pattern.value
    if isinstance(subject, Num) and subject.dtype.is_bool and value is not None:
        return subject if value else ctx.compute("not", subject.value)
    return Const(isinstance(subject, Const) and subject.value is value)


def _test_capture(ctx: Context, subject: Operand, pattern: ast.MatchAs) -> Number:
    """`_` and a name fit everything, `pattern as name` fits what the pattern does."""
    return Const(True) if pattern.pattern is None else _test(ctx, subject, pattern.pattern)


def _test_any(ctx: Context, subject: Operand, pattern: ast.MatchOr) -> Number:
    """`1 | 2`: one of the patterns fits."""
    found: Number = Const(False)
    for each in pattern.patterns:
        with ctx.at(each):
            fits = _test(ctx, subject, each)
        if isinstance(fits, Const):
            if fits.value:
                return fits
        else:
            found = fits if isinstance(found, Const) else combine_bools(ctx, "or", found, fits)
    return found


SUPPORTED_PATTERNS: dict[type[ast.pattern], Callable[[Context, Operand, Any], Number]] = {
    ast.MatchAs: _test_capture,
    ast.MatchOr: _test_any,
    ast.MatchSingleton: _test_singleton,
    ast.MatchValue: _test_value,
}


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


REFUSED_PATTERNS: dict[type[ast.pattern], Refused] = {
    ast.MatchSequence: Refused(
        "E0115",
        "a sequence pattern in `match` is not supported",
        "take it apart before: `a, b = pair`",
    ),
    ast.MatchStar: Refused(
        "E0115",
        "a starred pattern in `match` is not supported",
        "take it apart before: `a, *rest = items`",
    ),
    ast.MatchMapping: Refused(
        "E0116", "a mapping pattern in `match` is not supported", "match on the value itself"
    ),
    ast.MatchClass: Refused(
        "E0117",
        "a class pattern in `match` is not supported",
        "match on a value, or on a field: `match point.x:`",
    ),
}


def _refused(ctx: Context, pattern: ast.pattern) -> Exception:
    refused = REFUSED_PATTERNS[type(pattern)]
    notes = ("literals, `|`, captures, `_` and guards are possible",)
    return ctx.refusal(refused.code, refused.message, at=pattern, notes=notes, help=refused.help)

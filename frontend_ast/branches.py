"""Branches and their joins: `if`, conditional expressions, `and`, `or`, chained comparisons."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from eas.frontend_ast.arithmetic import combine_bools
from eas.frontend_ast.comparison import compare
from eas.frontend_ast.context import Context, Edge, Ops, Target
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.joins import Join, Path
from eas.frontend_ast.number_forms import any_operand
from eas.frontend_ast.operands import Const, Num, Operand
from eas.frontend_ast.promote import Number, to_bool
from eas.frontend_ast.recovery import searching
from eas.frontend_ast.scopes import Bound, Given, Unbound, assigned_names, env_where
from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.suggestions import with_parentheses
from eas.ir.nodes import Compute, Constant, If, Leave, Op, Region, Scope, Value, Yield
from eas.ir.types import Shape, Type, shape_of
from eas.support.diagnostics import Label
from eas.support.location import Loc
from eas.support.records import record, replace

Lower = Callable[[], Operand | None]

_TOGETHER = nullcontext()


@record
class Branch:
    """One branch: its ops, and the edge at its end unless that is never reached.

    `is_dead` says that the list ends in an op that nothing may follow: a terminator is added later.
    `leaving` is the shape of the conditions under which lanes left it for somewhere further out:
    what is joined after it covers that shape, which separates those lanes from the others.
    """

    ops: Ops
    edge: Edge | None
    is_dead: bool = False
    leaving: Shape = ()


def lower_branch(ctx: Context, lower: Lower, split: Shape = (), at: Loc | None = None) -> Branch:
    """Runs `lower` in a list of ops of its own, with its own copy of the names."""
    ops: Ops = []
    around, env, loc = ctx.build.ops, ctx.frame.env, ctx.loc
    ctx.build.ops, ctx.frame.env = ops, dict(env)
    known = [(t, len(t.exits), len(t.continues)) for t in ctx.targets]
    try:
        with ctx.split_by(split, at or loc) if split else _TOGETHER:
            value = lower()
            ended = ctx.ended
            edge = None if ended else Edge(ops, ctx.frame.env, ctx.loc, value=value)
    finally:
        ctx.build.ops, ctx.frame.env, ctx.build.loc, ctx.ended = around, env, loc, ""
    leaving: Shape = ()
    for target, exits, continues in known:
        for jump in (*target.exits[exits:], *target.continues[continues:]):
            leaving = ctx.cover(leaving, jump.split)
    return Branch(ops, edge, ended == "dead", leaving)


def lower_side(ctx: Context, condition: Num, truth: bool, lower: Lower, at: Loc) -> Branch:
    """The branch for where a condition is true, or for where it is false."""

    def run() -> Operand | None:
        ctx.frame.env = env_where(ctx.frame.env, condition, truth)
        return lower()

    ctx.conditions += 1
    try:
        return lower_branch(ctx, run, condition.shape, at)
    finally:
        ctx.conditions -= 1


def choose(
    ctx: Context,
    condition: Num,
    branches: tuple[Branch, Branch],
    names: Sequence[str],
    paths: tuple[Path | None, Path | None] = (None, None),
    words: tuple[str, str] = ("on one path", "on one path"),
) -> Operand | None:
    """An `If` of two branches: joins the names, and the branches' values if they have any.

    `paths`, or else `words`, say in errors how each branch is taken.
    """
    taken = zip(branches, paths, words, strict=True)
    live = [(b.edge, path, path.where if path else word) for b, path, word in taken if b.edge]
    split: Shape = ()
    has_dead_end = any(branch.is_dead for branch in branches)
    if len(live) == 2 or has_dead_end:
        for shape in (condition.shape, *(branch.leaving for branch in branches)):
            split = ctx.cover(split, shape)
    join = Join(ctx, [edge for edge, _, _ in live], split, has_dead_end)
    if live:
        ctx.frame.env = join.merge_names(names, ctx.frame.env, [path for _, path, _ in live])
    value = _merge_values(join, "the value of this expression", [word for *_, word in live])
    join.close(Yield)
    for branch in branches:
        if branch.is_dead:
            finish_dead(ctx, branch.ops, [r.ty for r in join.results], Yield)
    then, orelse = (open_region(branch.ops) for branch in branches)
    ctx.build.emit(If(condition.value, then, orelse, tuple(join.results), ctx.loc))
    if not live:
        ctx.ended = "dead"
    return value


def close_scope(
    ctx: Context, target: Target, branch: Branch, names: Sequence[str], what: str = ""
) -> Operand | None:
    """Ends a piece of code that may be left early: spliced in place if nothing does so."""
    edges = [*target.exits, *([branch.edge] if branch.edge else [])]
    if not edges and not branch.is_dead:
        _splice(ctx, branch)  # it ends in a jump to somewhere further out
        ctx.ended = "exit"
        return None
    if len(edges) == 1 and edges[0].ops is branch.ops:
        _splice(ctx, branch)
        ctx.frame.env = edges[0].env
        return edges[0].value
    split: Shape = ()
    for shape in (branch.leaving, *(edge.split for edge in edges)):
        split = ctx.cover(split, shape)
    join = Join(ctx, edges, split, branch.is_dead or any(edge.is_from_loop for edge in edges))
    if edges:
        paths = [Path(edge.loc, "when the loop is left here") for edge in edges]
        ctx.frame.env = join.merge_names(names, ctx.frame.env, paths)
    words = [
        "when it ends without `return`" if edge is branch.edge else "returned here"
        for edge in edges
    ]
    value = _merge_values(join, what, words)
    for place, edge in enumerate(edges):
        values = join.values(place)
        leave = Yield(values, edge.loc) if edge is branch.edge else None
        edge.ops.append(leave or Leave(target.label, values, edge.loc))
    if branch.is_dead:
        finish_dead(ctx, branch.ops, [r.ty for r in join.results], Yield)
    body = open_region(branch.ops)
    ctx.build.emit(Scope(target.label, body, tuple(join.results), ctx.loc))
    if not edges:
        ctx.ended = "dead"
    return value


def _splice(ctx: Context, branch: Branch) -> None:
    """Moves a branch's ops, and the jumps that end there, into the current list."""
    ctx.build.ops.extend(branch.ops)
    for target in ctx.targets:
        for edge in (*target.exits, *target.continues):
            if edge.ops is branch.ops:
                edge.ops = ctx.build.ops


def open_region(ops: Ops, args: Sequence[Value] = ()) -> Region:
    """A region whose ops may still get a terminator; `freeze` makes it immutable at the end."""
    return Region(tuple(args), ops)  # pyright: ignore[reportArgumentType]


def finish_dead(
    ctx: Context,
    ops: Ops,
    types: Sequence[Type],
    terminate: Callable[[tuple[Value, ...], Loc], Op],
) -> None:
    """Ends a list that is never run to its end, with values of the right types."""
    constants: Ops = []
    with ctx.into(constants):
        values = [_any_value(ctx, ty) for ty in types]
    ops[:0] = constants  # nothing may stand between an op that never ends and the terminator
    ops.append(terminate(tuple(values), ctx.loc))


def _any_value(ctx: Context, ty: Type) -> Value:
    zero = ctx.build.constant(False if ty.dtype.is_bool else 0, ty.dtype)
    shape = shape_of(ty)
    return ctx.compute("splat", zero, shape=shape).value if shape else zero


def _merge_values(join: Join, what: str, words: Sequence[str]) -> Operand | None:
    values = [edge.value for edge in join.edges if edge.value is not None]
    if not values or len(values) != len(join.edges):
        return None
    sides = [Label(edge.loc, text) for edge, text in zip(join.edges, words, strict=True)]
    return join.merge(values, sides, what)


def lower_if(ctx: Context, node: ast.If) -> None:
    """Python's, per lane if the condition is a block; a constant one compiles one branch only."""
    with searching(ctx, [node.body, node.orelse]):
        condition = lower_condition(ctx, node.test)
    if isinstance(condition, Const):
        ctx.statements(node.body if condition.value else node.orelse)
        return
    test = ctx.frame.loc(node.test)
    branches = (
        lower_side(ctx, condition, True, lambda: ctx.statements(node.body), test),
        lower_side(ctx, condition, False, lambda: ctx.statements(node.orelse), test),
    )
    names = assigned_names([*node.body, *node.orelse])
    choose(ctx, condition, branches, names, condition_paths(ctx, node.test))


def condition_paths(ctx: Context, test: ast.expr) -> tuple[Path, Path]:
    """The paths on which a condition is true and on which it is false."""
    loc, text = ctx.frame.loc(test), ctx.text(test)
    yes = f"on the path where `{text}`" if text else "where the condition is true"
    no = f"on the path where `{text}` is false" if text else "where the condition is false"
    return Path(loc, "when this is true", yes), Path(loc, "when this is false", no)


def lower_condition(ctx: Context, node: ast.expr) -> Number:
    """The truth of an expression: a constant, or a bool for the program or for each lane."""
    if isinstance(node, ast.BoolOp):
        with ctx.at(node):
            return _lower_bool_condition(ctx, node)
    operand = ctx.expression(node)
    with ctx.at(node):
        return to_bool(ctx, operand)


def lower_if_expression(ctx: Context, node: ast.IfExp) -> Operand:
    """`a if c else b`: only what is chosen is evaluated, per lane if `c` is a block."""
    condition = lower_condition(ctx, node.test)
    if isinstance(condition, Const):
        return ctx.expression(node.body if condition.value else node.orelse)
    test = ctx.frame.loc(node.test)
    branches = (
        lower_side(ctx, condition, True, lambda: _placed(ctx, node.body), test),
        lower_side(ctx, condition, False, lambda: _placed(ctx, node.orelse), test),
    )
    names = assigned_names([node.body, node.orelse])
    return _chosen(choose(ctx, condition, branches, names, condition_paths(ctx, node.test)))


def lower_bool_operation(ctx: Context, node: ast.BoolOp) -> Operand:
    """`a and b`, `a or b`: the value of the operand that decides."""
    is_and = isinstance(node.op, ast.And)
    return short_circuit(ctx, is_and, [_deferred(ctx, value) for value in node.values])


def lower_comparison(ctx: Context, node: ast.Compare) -> Operand:
    """`a < b <= c`: each operand once, and none after the first that fails."""
    try:
        return _compare_in_turn(ctx, node)
    except Refusal as error:
        meant = with_parentheses(node)
        if meant is None or error.diagnostic.code not in ("E0301", "E0701"):
            raise
        help = f"`&` and `|` bind closer than comparisons; use parentheses: `{meant}`"
        fix = rewrite(help, ctx.frame.loc(node), meant)
        raise Refusal(replace(error.diagnostic, help=(help,), fixes=(fix,))) from error


def _compare_in_turn(ctx: Context, node: ast.Compare) -> Operand:
    state = [ctx.expression(node.left)]

    def step(operation: ast.cmpop, right: ast.expr) -> Callable[[], Operand]:
        def lower() -> Operand:
            left = state[0]
            state[0] = ctx.expression(right)
            return compare(ctx, operation, left, state[0])

        return lower

    steps = [step(o, right) for o, right in zip(node.ops, node.comparators, strict=True)]
    return short_circuit(ctx, True, steps)


def _lower_bool_condition(ctx: Context, node: ast.BoolOp) -> Number:
    is_and = isinstance(node.op, ast.And)
    parts = [_deferred_condition(ctx, value) for value in node.values]
    result = short_circuit(ctx, is_and, parts)
    assert isinstance(result, Const | Num)
    return result


def short_circuit(ctx: Context, is_and: bool, parts: Sequence[Callable[[], Operand]]) -> Operand:
    """The value of the first operand that decides; those after it are not evaluated."""
    left = parts[0]()
    if len(parts) == 1:
        return left
    decided = to_bool(ctx, left)
    if isinstance(decided, Const):
        goes_on = bool(decided.value) == is_and
        return short_circuit(ctx, is_and, parts[1:]) if goes_on else left
    place = ctx.place(left)

    def lower_rest() -> Operand:
        value = short_circuit(ctx, is_and, parts[1:])
        ctx.build.loc = ctx.place(value)
        return value

    rest = lower_side(ctx, decided, is_and, lower_rest, place)
    assert rest.edge is not None and rest.edge.value is not None
    right = rest.edge.value
    names = [n for n, b in rest.edge.env.items() if b is not ctx.frame.env.get(n)]
    free = not names and all(_cannot_fault(op) for op in rest.ops)
    if free and _is_bool(left) and _is_bool(right):
        ctx.build.ops.extend(rest.ops)
        return combine_bools(ctx, "and" if is_and else "or", left, right)
    keep = lower_branch(ctx, lambda: left)
    assert keep.edge is not None
    keep.edge.loc = place
    new = _bind_for_both(ctx, rest.edge, keep.edge, names, is_and)
    kept = f"where it counts as {'false' if is_and else 'true'}"
    branches = (rest, keep) if is_and else (keep, rest)
    words = ("otherwise", kept) if is_and else (kept, "otherwise")
    value = _chosen(choose(ctx, decided, branches, names, words=words))
    for name in new:
        bound = ctx.frame.env[name]
        assert isinstance(bound, Bound) and isinstance(value, Num)
        ctx.frame.env[name] = Unbound(given=Given(value.value, is_and, bound))
    return value


def _bind_for_both(
    ctx: Context, rest: Edge, keep: Edge, names: Sequence[str], is_and: bool
) -> list[str]:
    """The names that only the path through the other operands binds.

    The path that skips those operands gives the names any value. Where the whole expression has the
    truth that only the other operands can give, the names do have their values.
    """
    new: list[str] = []
    for name in names:
        before, after = ctx.frame.env.get(name), rest.env[name]
        if isinstance(after, Unbound):
            after = after.where(rest.value, is_and)
        if isinstance(after, Bound) and not isinstance(before, Bound):
            rest.env[name] = after
            keep.env[name] = Bound(any_operand(after.value), after.loc)
            new.append(name)
    return new


def _is_bool(operand: Operand) -> bool:
    if isinstance(operand, Num):
        return operand.dtype.is_bool
    return isinstance(operand, Const) and isinstance(operand.value, bool)


def _cannot_fault(op: Op) -> bool:
    if isinstance(op, Compute):
        return not op.op.can_fault([v.ty for v in op.operands], dict(op.attrs))
    return isinstance(op, Constant)


def _placed(ctx: Context, node: ast.expr) -> Operand:
    value = ctx.expression(node)
    ctx.build.loc = ctx.frame.loc(node)
    return value


def _deferred(ctx: Context, node: ast.expr) -> Callable[[], Operand]:
    return lambda: ctx.expression(node)


def _deferred_condition(ctx: Context, node: ast.expr) -> Callable[[], Operand]:
    return lambda: lower_condition(ctx, node)


def _chosen(value: Operand | None) -> Operand:
    assert value is not None
    return value

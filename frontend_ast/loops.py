"""Loops that run on the device: `while`, and `for` over a `range`.

What a loop changes is carried from trip to trip, and the types of what is carried depend on the
body. So the body is lowered on trial with the types that the names have before the loop; where the
end of the body disagrees (a literal is joined with a typed value, a scalar became a block, lanes
diverge), the trial is undone and repeated with the joined types. They only ever grow, so this ends
soon.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from eas.frontend_ast.branches import (
    Branch,
    finish_dead,
    lower_branch,
    lower_condition,
    open_region,
)
from eas.frontend_ast.context import Context, Edge, Ops, Split, Target
from eas.frontend_ast.joins import (
    ASSIGNED,
    Join,
    LeafType,
    Path,
    convert,
    is_one_value,
    join_leaf,
)
from eas.frontend_ast.local_arrays import mentioned_arrays
from eas.frontend_ast.number_forms import (
    as_array_pointer,
    as_tuple,
    has_same_form,
    leaves,
    points_into_one_array,
    rebuild,
)
from eas.frontend_ast.operands import (
    Array,
    ArrayPointer,
    Const,
    Num,
    Operand,
    Poison,
    Range,
    Tuple,
)
from eas.frontend_ast.promote import Number, common_dtype, common_shape, describe, promote
from eas.frontend_ast.recovery import searching
from eas.frontend_ast.scopes import Bound, Env, Unbound, assigned_names, count_reads, env_where
from eas.ir.nodes import Break, Condition, Continue, For, Region, Value, While, Yield
from eas.ir.types import BOOL, Shape, make_type
from eas.support.diagnostics import Label
from eas.support.location import Loc
from eas.support.records import field, frozen, record

# A body is tried at most this often; each trial widens at least one type.
_MAX_TRIALS = 24


@frozen
class Carried:
    """A name that a loop carries: its form, the types of its numbers, where it comes from.

    `is_late` says that it has no value before the first trip.
    """

    name: str
    form: Operand
    types: tuple[LeafType, ...]
    loc: Loc
    is_late: bool = False


@record
class Plan:
    """What a trial assumes."""

    carried: list[Carried]
    leaving: list[Split] = field(default_factory=list[Split])


@record
class Trial:
    """What a trial found: the header's values, the edges, and the regions with open ends.

    `unbound` are the names that the test need not bind, though it may do so where it is true.
    """

    target: Target
    args: list[Value]
    body: Branch
    env: Env
    test: Edge | None = None
    body_args: list[Value] = field(default_factory=list[Value])
    unbound: Mapping[str, Unbound] = field(default_factory=dict[str, Unbound])

    @property
    def back(self) -> list[Edge]:
        return [*([self.body.edge] if self.body.edge else []), *self.target.continues]


@frozen
class Loop:
    """A loop as written: `counts` for a `for` over a range, `test` for a `while`."""

    node: ast.For | ast.While
    counts: tuple[Num, Num, Num] | None
    test: ast.expr | None
    runs: bool
    ends: bool


def lower_while(ctx: Context, node: ast.While) -> None:
    """Python's, with `else`; where the condition is a block, each lane leaves on its own."""
    with searching(ctx, [node.body, node.orelse], assigned_names([node])):
        truth = _constant_truth(ctx, node)
    if truth is False:
        ctx.statements(node.orelse)
        return
    lower_loop(ctx, Loop(node, None, node.test, truth is True, truth is not True))


def range_loop(ctx: Context, node: ast.For, bounds: Range) -> Loop:
    """A `for` over a range, whose bounds are brought to one type."""
    numbers: list[Number] = [bounds.start, bounds.stop, bounds.step]
    if not isinstance(node.target, ast.Name):
        raise ctx.refusal(
            "E0402", "a range gives one number at a time: it cannot be unpacked", at=node.target
        )
    start, stop, step = promote(ctx, numbers)
    if not start.dtype.is_int:
        floats = [n for n in numbers if common_dtype(ctx, [n]).is_float]
        raise ctx.refusal("E0403", f"a range counts ints, this is {describe(start)}", at=floats[0])
    return Loop(node, (start, stop, step), None, _runs(bounds), True)


def _runs(bounds: Range) -> bool:
    """Whether a range is known to have a first number."""
    return bool(bounds.known)


def _constant_truth(ctx: Context, node: ast.While) -> bool | None:
    """The truth of a condition that is the same constant on every trip, else None."""
    test = node.test
    if isinstance(test, ast.Constant):
        return bool(test.value)
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    if names & set(_changed_names(ctx, node)) or any(
        isinstance(n, ast.Call) for n in ast.walk(test)
    ):
        return None
    ops: Ops = []
    with ctx.into(ops):
        truth = lower_condition(ctx, test)
    return bool(truth.value) if isinstance(truth, Const) and not ops else None


def lower_loop(ctx: Context, loop: Loop) -> None:
    """Tries the body with ever wider types until they fit, and emits the loop."""
    names = _changed_names(ctx, loop.node)
    key = (id(loop.node), ctx.frame.caller, ctx.trips())
    plan = _first_plan(ctx, names, ctx.guesses.get(key))
    for _ in range(_MAX_TRIALS):
        mark = ctx.mark()
        trial = _try(ctx, loop, plan, names)
        better = _revise(ctx, loop, plan, trial, names)
        if better is None:
            ctx.guesses[key] = plan
            _finish(ctx, loop, plan, trial, names)
            return
        ctx.undo(mark)
        plan = better
    raise ctx.refusal("E0901", "the types in this loop do not settle")


def _changed_names(ctx: Context, node: ast.For | ast.While) -> tuple[str, ...]:
    header = [node.target] if isinstance(node, ast.For) else [node.test]
    changed = assigned_names([*header, *node.body])
    arrays = mentioned_arrays(ctx, [*header, *node.body])
    return tuple(dict.fromkeys((*changed, *arrays)))


def _first_plan(ctx: Context, names: Sequence[str], guess: object) -> Plan:
    """The types before the loop, widened to what the same loop needed in an earlier trial."""
    known = {c.name: c for c in guess.carried} if isinstance(guess, Plan) else {}
    carried: list[Carried] = []
    for name in names:
        binding = ctx.frame.env.get(name)
        if not isinstance(binding, Bound) or isinstance(binding.value, Poison):
            continue
        form = binding.value
        side = Label(binding.loc, ASSIGNED)
        types = [join_leaf(ctx, [leaf], [side], f"`{name}`") for leaf in leaves(form)]
        earlier = known.get(name)
        if earlier and not earlier.is_late and has_same_form(earlier.form, form):
            types = [_widen(ctx, a, b) for a, b in zip(types, earlier.types, strict=True)]
        carried.append(Carried(name, form, tuple(types), binding.loc))
    return Plan(carried, list(guess.leaving) if isinstance(guess, Plan) else [])


def _widen(ctx: Context, own: LeafType, earlier: LeafType) -> LeafType:
    shape = ctx.cover(own.shape, earlier.shape)
    if own.weak and own.dtype.is_float == earlier.dtype.is_float:
        return LeafType(earlier.dtype, shape, earlier.weak)
    return LeafType(own.dtype, shape, own.weak)


def _try(ctx: Context, loop: Loop, plan: Plan, names: Sequence[str]) -> Trial:
    """Lowers the body once, with the names as the plan has them."""
    target = ctx.new_target("loop")
    target.splits = list(plan.leaving)
    target.leaving = list(plan.leaving)
    args = [
        ctx.build.value(make_type(ty.dtype, ty.shape), carried.name)
        for carried in plan.carried
        for ty in carried.types
    ]
    header = _header_env(ctx, plan, args, names)
    entry, ctx.frame.env = ctx.frame.env, dict(header)
    ctx.targets.append(target)
    try:
        if loop.counts is None:
            return _try_while(ctx, loop, plan, target, args, header)
        return _try_for(ctx, loop, target, args, header)
    finally:
        ctx.targets.pop()
        ctx.frame.env = entry
        ctx.ended = ""


def _header_env(ctx: Context, plan: Plan, args: Sequence[Value], names: Sequence[str]) -> Env:
    env = dict(ctx.frame.env)
    rest = iter(args)
    for name in names:
        if not isinstance(env.get(name), Bound):
            env[name] = Unbound((Label(ctx.loc, "no value on the first trip"),))
    for carried in plan.carried:
        numbers = [Num(next(rest), ty.weak) for ty in carried.types]
        if not carried.is_late:
            env[carried.name] = Bound(rebuild(carried.form, iter(numbers)), carried.loc)
    return env


def _try_while(
    ctx: Context, loop: Loop, plan: Plan, target: Target, args: list[Value], header: Env
) -> Trial:
    assert loop.test is not None
    ops: Ops = []
    bodies = [loop.node.body, loop.node.orelse]
    with searching(ctx, bodies, assigned_names([loop.node])), ctx.into(ops), ctx.at(loop.test):
        truth = lower_condition(ctx, loop.test)
        test = Edge(ops, dict(ctx.frame.env), ctx.loc, value=truth)
    if isinstance(truth, Num) and truth.shape:
        _leave_by(target, Split(truth.shape, test.loc))
    unbound = {n: b for n, b in test.env.items() if isinstance(b, Unbound)}
    test.env = env_where(test.env, truth, True)
    body_args = [ctx.build.value(arg.ty, arg.hint) for arg in args]
    ctx.frame.env = _env_after(plan, body_args, test.env)
    body = lower_branch(ctx, lambda: ctx.statements(loop.node.body))
    return Trial(target, args, body, header, test, body_args, unbound)


def _try_for(ctx: Context, loop: Loop, target: Target, args: list[Value], header: Env) -> Trial:
    assert loop.counts is not None
    assert isinstance(loop.node, ast.For) and isinstance(loop.node.target, ast.Name)
    shape = common_shape(ctx, loop.counts)
    if shape:
        _leave_by(target, Split(shape, ctx.frame.loc(loop.node.iter)))
    name = loop.node.target.id
    counter = ctx.build.value(make_type(loop.counts[0].dtype, shape), name)
    place = ctx.frame.loc(loop.node.target)
    ctx.frame.env[name] = Bound(Num(counter, loop.counts[0].weak), place)
    body = lower_branch(ctx, lambda: ctx.statements(loop.node.body))
    return Trial(target, args, body, header, body_args=[counter, *args])


def _env_after(plan: Plan, args: Sequence[Value], env: Env) -> Env:
    """The names as another region sees them, with its arguments for what is carried."""
    after = dict(env)
    rest = iter(args)
    for each in plan.carried:
        value = rebuild(each.form, iter([Num(next(rest), ty.weak) for ty in each.types]))
        binding = env.get(each.name)
        after[each.name] = Bound(value, binding.loc if isinstance(binding, Bound) else each.loc)
    return after


def _leave_by(target: Target, split: Split) -> None:
    for splits in (target.splits, target.leaving):
        if split not in splits:
            splits.append(split)


def _revise(
    ctx: Context, loop: Loop, plan: Plan, trial: Trial, names: Sequence[str]
) -> Plan | None:
    """The plan that the trial asks for, or None if it was right."""
    carried = [_revise_one(ctx, each, trial) for each in plan.carried]
    have = {each.name for each in carried}
    for name in names:
        if name not in have:
            late = _late(ctx, loop, trial, name)
            carried += [late] if late else []
    leaving = trial.target.leaving
    if carried == plan.carried and leaving == plan.leaving:
        return None
    return Plan(carried, list(leaving))


def _revise_one(ctx: Context, each: Carried, trial: Trial) -> Carried:
    edges = [*([trial.test] if trial.test else []), *trial.back]
    bindings = [edge.env.get(each.name) for edge in edges]
    bound = [b for b in bindings if isinstance(b, Bound) and not isinstance(b.value, Poison)]
    form = each.form
    for binding in bound:
        form = _common_form(ctx, each, form, binding)
    split: Shape = ()
    for edge in trial.target.continues:
        split = ctx.cover(split, edge.split)
    splits = (*ctx.splits, *trial.target.leaving)
    rank = max((len(each.shape) for each in splits), default=0)
    columns = [_numbers(b.value, form) for b in bound]
    sides = [Label(each.loc, ASSIGNED), *(Label(b.loc, "in the loop") for b in bound)]
    types: list[LeafType] = []
    entry = [
        Num(ctx.build.value(make_type(t.dtype, t.shape)), t.weak) for t in _types(ctx, each, form)
    ]
    for place, old in enumerate(entry):
        numbers: list[Number] = [old, *(column[place] for column in columns)]
        ty = join_leaf(ctx, numbers, sides, f"`{each.name}`", rank)
        shape = ty.shape
        is_changed = columns and not _is_unchanged(numbers[1:], ty)
        if split and (trial.body.is_dead or is_changed):
            shape = ctx.cover(shape, split)
        types.append(LeafType(ty.dtype, shape, ty.weak))
    return Carried(each.name, form, tuple(types), each.loc, each.is_late)


def _is_unchanged(numbers: Sequence[Number], ty: LeafType) -> bool:
    """Whether every path to the next trip passes one value, and none has to convert it."""
    if not is_one_value(numbers):
        return False
    return all(n.value.ty == make_type(ty.dtype, ty.shape) for n in numbers if isinstance(n, Num))


def _types(ctx: Context, each: Carried, form: Operand) -> Sequence[LeafType]:
    if form is each.form:
        return each.types
    sides, what = [Label(each.loc, ASSIGNED)], f"`{each.name}`"
    if isinstance(form, Tuple):  # from outside; now its parts change
        return [join_leaf(ctx, [leaf], sides, what) for leaf in leaves(form)]
    # an array became a pointer into it: its offset begins at 0, a literal
    ty = join_leaf(ctx, [as_array_pointer(form).offset], sides, what)
    return [LeafType(ty.dtype, ty.shape, weak=True)]


def _common_form(ctx: Context, each: Carried, form: Operand, binding: Bound) -> Operand:
    if has_same_form(form, binding.value):
        return form
    if points_into_one_array(form, binding.value):
        return form if isinstance(form, ArrayPointer) else binding.value
    if has_same_form(parts := as_tuple(form), as_tuple(binding.value)):
        return parts
    raise ctx.refusal(
        "E0313",
        f"`{each.name}` is {describe(form)} before the loop and {describe(binding.value)} in it",
        at=binding.loc,
        label=describe(binding.value),
        secondary=[Label(each.loc, f"{describe(form)}, from this assignment")],
        help="a name keeps its kind of value over the trips of a loop",
    )


def _late(ctx: Context, loop: Loop, trial: Trial, name: str) -> Carried | None:
    """A name that gets its first value inside of the loop and is needed behind it."""
    edges = [trial.test] if trial.test else trial.back if loop.runs else []
    bindings = [edge.env.get(name) for edge in edges]
    bound = [b for b in bindings if isinstance(b, Bound) and not isinstance(b.value, Poison)]
    if not bound or len(bound) != len(bindings) or not _is_used_outside(ctx, loop.node, name):
        return None
    columns = zip(*(leaves(b.value) for b in bound), strict=False)
    sides = [Label(b.loc, ASSIGNED) for b in bound]
    types = tuple(join_leaf(ctx, list(column), sides, f"`{name}`") for column in columns)
    return Carried(name, bound[0].value, types, bound[0].loc, is_late=True)


def _is_used_outside(ctx: Context, node: ast.For | ast.While, name: str) -> bool:
    inside = sum(count_reads(statement)[name] for statement in node.body)
    return count_reads(ctx.frame.source.node)[name] > inside or isinstance(node, ast.While)


def _finish(ctx: Context, loop: Loop, plan: Plan, trial: Trial, names: Sequence[str]) -> None:
    """Ends every edge with the values agreed on, and emits the loop."""
    inits = _initial_values(ctx, plan, trial.args)
    orelse_args = [ctx.build.value(arg.ty, arg.hint) for arg in trial.args]
    _close_back_edges(ctx, plan, trial)
    orelse = Branch([], None, is_dead=True)
    if _can_be_exhausted(loop, trial):
        orelse = _lower_orelse(ctx, loop, plan, trial, orelse_args)
    results = _close_exits(ctx, loop, trial, orelse, names)
    after = open_region(orelse.ops, orelse_args)
    if loop.counts is None:
        _emit_while(ctx, plan, trial, inits, after, results)
    else:
        _emit_for(ctx, loop, trial, inits, after, results)


def _can_be_exhausted(loop: Loop, trial: Trial) -> bool:
    """False if the loop is endless, or if its first trip always runs and always leaves it."""
    return loop.ends and (bool(trial.back) or not loop.runs)


def _initial_values(ctx: Context, plan: Plan, args: Sequence[Value]) -> tuple[Value, ...]:
    numbers = [n for each in plan.carried for n in _initial_numbers(ctx, each)]
    here = Edge(ctx.build.ops, ctx.frame.env, ctx.loc)
    return convert(ctx, here, numbers, args)


def _initial_numbers(ctx: Context, each: Carried) -> list[Number]:
    zeros: list[Number] = [Const(False if t.dtype.is_bool else 0) for t in each.types]
    if each.is_late:
        return zeros
    binding = ctx.frame.env[each.name]
    assert isinstance(binding, Bound)
    own = _numbers(binding.value, each.form)
    return own if len(own) == len(zeros) else zeros


def _carried_numbers(plan: Plan, env: Env) -> Iterator[Number]:
    for each in plan.carried:
        binding = env[each.name]
        value = binding.value if isinstance(binding, Bound) else Poison()
        own = _numbers(value, each.form)
        if len(own) != len(each.types):  # after an error, or unbound on a path that never returns
            own = [Const(False if t.dtype.is_bool else 0) for t in each.types]
        yield from own


def _numbers(value: Operand, form: Operand) -> list[Number]:
    """The numbers of a value that has a form; an array is a pointer to its first element."""
    if isinstance(value, Array) and isinstance(form, ArrayPointer):
        value = as_array_pointer(value)
    return list(leaves(as_tuple(value) if isinstance(form, Tuple) else value))


def _close_back_edges(ctx: Context, plan: Plan, trial: Trial) -> None:
    for edge in trial.back:
        values = convert(ctx, edge, list(_carried_numbers(plan, edge.env)), trial.args)
        end = Yield if edge is trial.body.edge else Continue
        edge.ops.append(end(values, edge.loc))
    if trial.body.is_dead:
        finish_dead(ctx, trial.body.ops, [arg.ty for arg in trial.args], Yield)


def _lower_orelse(
    ctx: Context, loop: Loop, plan: Plan, trial: Trial, args: Sequence[Value]
) -> Branch:
    """Python's `else` of a loop: what runs when it is exhausted."""
    env = _env_after(plan, args, trial.test.env if trial.test else trial.env)
    env |= trial.unbound
    for name in _changed_names(ctx, loop.node):
        if name not in env or isinstance(env[name], Unbound):
            env[name] = _never_bound(ctx, loop, trial, name)
    before, ctx.frame.env = ctx.frame.env, env
    depth = len(ctx.splits)
    try:
        ctx.splits += trial.target.leaving
        return lower_branch(ctx, lambda: ctx.statements(loop.node.orelse))
    finally:
        del ctx.splits[depth:]
        ctx.frame.env = before


def _never_bound(ctx: Context, loop: Loop, trial: Trial, name: str) -> Unbound:
    """Why an exhausted loop leaves a name without a value."""
    labels: dict[Label, None] = {}
    if not loop.runs:
        labels[Label(ctx.loc, "no value when this loop does not run")] = None
    for edge in trial.back:
        binding = edge.env.get(name)
        if binding is trial.env.get(name):
            labels[Label(edge.loc, "no value when every trip ends here")] = None
        elif isinstance(binding, Unbound):
            labels |= dict.fromkeys(binding.paths)
    return Unbound(tuple(labels))


def _close_exits(
    ctx: Context, loop: Loop, trial: Trial, orelse: Branch, names: Sequence[str]
) -> tuple[Value, ...]:
    """Joins the breaks and the exhausted loop; the names after the loop are set."""
    exhausted = orelse.edge
    edges = [*trial.target.exits, *([exhausted] if exhausted else [])]
    shape = orelse.leaving
    for split in trial.target.leaving:
        shape = ctx.cover(shape, split.shape)
    join = Join(ctx, edges, shape, must_cover=True)
    every = (*names, *assigned_names(loop.node.orelse))
    for edge in trial.target.exits:
        _explain_first_trip(trial, edge, names)
    if edges:
        paths = [Path(edge.loc, "when the loop ends here") for edge in edges]
        ctx.frame.env = join.merge_names(every, ctx.frame.env, paths)
    for place, edge in enumerate(edges):
        end = Yield if edge is exhausted else Break
        edge.ops.append(end(join.values(place), edge.loc))
    if orelse.is_dead:
        finish_dead(ctx, orelse.ops, [r.ty for r in join.results], Yield)
    if not edges:
        ctx.ended = "dead"
    return tuple(join.results)


def _explain_first_trip(trial: Trial, edge: Edge, names: Sequence[str]) -> None:
    """A `break` before the name gets its value: it is the place to show, not the loop."""
    words = "no value when the loop is left here on the first trip"
    for name in names:
        binding = edge.env.get(name)
        if isinstance(binding, Unbound) and binding is trial.env.get(name):
            edge.env[name] = Unbound((Label(edge.loc, words),))


def _emit_while(
    ctx: Context,
    plan: Plan,
    trial: Trial,
    inits: tuple[Value, ...],
    orelse: Region,
    results: tuple[Value, ...],
) -> None:
    assert trial.test is not None
    values = convert(ctx, trial.test, list(_carried_numbers(plan, trial.test.env)), trial.args)
    condition = _condition_value(ctx, trial.test)
    trial.test.ops.append(Condition(condition, values, trial.test.loc))
    test = open_region(trial.test.ops, trial.args)
    body = open_region(trial.body.ops, trial.body_args)
    ctx.build.emit(While(inits, test, body, orelse, results, ctx.loc))


def _condition_value(ctx: Context, test: Edge) -> Value:
    if isinstance(test.value, Num):
        return test.value.value
    assert isinstance(test.value, Const)
    with ctx.into(test.ops):
        return ctx.build.constant(bool(test.value.value), BOOL)


def _emit_for(
    ctx: Context,
    loop: Loop,
    trial: Trial,
    inits: tuple[Value, ...],
    orelse: Region,
    results: tuple[Value, ...],
) -> None:
    assert loop.counts is not None
    start, stop, step = (count.value for count in loop.counts)
    body = open_region(trial.body.ops, trial.body_args)
    ctx.build.emit(For(start, stop, step, inits, body, orelse, results, ctx.loc))

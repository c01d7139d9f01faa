"""Helpers for passes: rebuilding ops, substitution, copies, numbering, dead ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count

from eas.ir import nodes as ir
from eas.ir.builder import Builder
from eas.ir.nodes import Function, Op, Region, Value, operands_of, regions_of, results_of
from eas.support.records import field, record, replace

Map = Callable[[Value], Value]
Inner = Callable[[Region], Region]
Change = Callable[[Op, Op], "Sequence[Op] | None"]


def same(value: Value) -> Value:
    return value


def same_region(region: Region) -> Region:
    return region


def rebuild(op: Op, use: Map = same, define: Map = same, inner: Inner = same_region) -> Op:
    """The op with its operands, its results and its regions mapped, in this order."""
    match op:
        case ir.Compute():
            return ir.Compute(
                op.op, _each(op.operands, use), op.attrs, define(op.result), op.loc, op.number
            )
        case ir.Constant():
            return ir.Constant(op.value, define(op.result), op.loc, op.number)
        case ir.If() | ir.For() | ir.While() | ir.Scope():
            return _rebuild_control(op, use, define, inner)
        case ir.Combine():
            operands, results = _each(op.operands, use), _each(op.results, define)
            return ir.Combine(op.kind, operands, inner(op.body), results, op.loc, op.number)
        case ir.Condition():
            return ir.Condition(use(op.condition), _each(op.values, use), op.loc, op.number)
        case ir.Yield() | ir.Break() | ir.Continue():
            return type(op)(_each(op.values, use), op.loc, op.number)
        case ir.Leave():
            return ir.Leave(op.label, _each(op.values, use), op.loc, op.number)
        case _:
            return _rebuild_effect(op, use, define)


def _rebuild_control(op: ir.Structured, use: Map, define: Map, inner: Inner) -> Op:
    match op:
        case ir.If():
            condition, results = use(op.condition), _each(op.results, define)
            return ir.If(condition, inner(op.then), inner(op.orelse), results, op.loc, op.number)
        case ir.For():
            start, stop, step = use(op.start), use(op.stop), use(op.step)
            inits, results = _each(op.inits, use), _each(op.results, define)
            body, orelse = inner(op.body), inner(op.orelse)
            return ir.For(start, stop, step, inits, body, orelse, results, op.loc, op.number)
        case ir.While():
            inits, results = _each(op.inits, use), _each(op.results, define)
            test, body, orelse = inner(op.test), inner(op.body), inner(op.orelse)
            return ir.While(inits, test, body, orelse, results, op.loc, op.number)
        case ir.Scope():
            results = _each(op.results, define)
            return ir.Scope(op.label, inner(op.body), results, op.loc, op.number)


def _rebuild_effect(op: Op, use: Map, define: Map) -> Op:
    match op:
        case ir.Load():
            pointer, offset = use(op.pointer), use(op.offset)
            mask, other = _maybe(op.mask, use), _maybe(op.other, use)
            return ir.Load(pointer, offset, mask, other, define(op.result), op.loc, op.number)
        case ir.Store():
            pointer, offset, value = use(op.pointer), use(op.offset), use(op.value)
            return ir.Store(pointer, offset, value, _maybe(op.mask, use), op.loc, op.number)
        case ir.Atomic():
            pointer, offset, expected = use(op.pointer), use(op.offset), _maybe(op.expected, use)
            value, mask = use(op.value), _maybe(op.mask, use)
            result = define(op.result)
            return ir.Atomic(
                op.kind, pointer, offset, expected, value, mask, result, op.loc, op.number
            )
        case ir.Alloc():
            return ir.Alloc(op.size, define(op.result), op.loc, op.number)
        case ir.Assert():
            fault = op.fault
            if fault is not None:
                number, extent = use(fault.number), _maybe(fault.extent, use)
                fault = replace(fault, number=number, extent=extent)
            return ir.Assert(use(op.condition), op.message, op.loc, op.is_assumed, fault, op.number)
        case ir.Print():
            parts = tuple(use(part) if isinstance(part, Value) else part for part in op.parts)
            return ir.Print(parts, op.loc, op.number)
        case ir.TargetOp():
            operands, result = _each(op.operands, use), _maybe(op.result, define)
            return ir.TargetOp(op.op, operands, op.attrs, result, op.loc, op.number)
        case _:
            return op


def _each(values: tuple[Value, ...], function: Map) -> tuple[Value, ...]:
    return tuple(map(function, values))


def _maybe(value: Value | None, function: Map) -> Value | None:
    return None if value is None else function(value)


def with_operands(op: Op, env: Mapping[int, Value]) -> Op:
    """The op with its own operands replaced; the same object if there is nothing to replace."""
    if not env:
        return op
    for operand in operands_of(op):
        if operand.id in env:
            return rebuild(op, lambda value: env.get(value.id, value))
    return op


def with_values(op: ir.Terminator, values: Iterable[Value]) -> ir.Terminator:
    """The terminator with other values; a `Condition` keeps its condition."""
    match op:
        case ir.Condition():
            return ir.Condition(op.condition, tuple(values), op.loc, op.number)
        case ir.Leave():
            return ir.Leave(op.label, tuple(values), op.loc, op.number)
        case _:
            return type(op)(tuple(values), op.loc, op.number)


def substitute(ops: Sequence[Op], env: Mapping[int, Value]) -> tuple[Op, ...]:
    """The ops, and those in their regions, with values replaced; replacements are not followed."""
    if not env:
        return tuple(ops)
    return rewrite(Region((), tuple(ops)), lambda op, before: None, env).ops


def rewrite(region: Region, change: Change, env: Mapping[int, Value] | None = None) -> Region:
    """The region with each op replaced by the ops that `change` gives for it, inner ops first.

    `change` gets the op with its regions rewritten and its operands replaced, then the op as it was
    before, with the same number. It gives None for an op that stays. `env` replaces
    values, by id, in all ops that come later; `change` may add to it.
    """
    return _Rewriting(change, {} if env is None else env).region(region)


@record
class _Rewriting:
    change: Change
    env: Mapping[int, Value]

    def use(self, value: Value) -> Value:
        return self.env.get(value.id, value)

    def region(self, region: Region) -> Region:
        ops: list[Op] = []
        for old in region.ops:
            if regions_of(old):
                op = rebuild(old, self.use, same, self.region)
            else:
                op = with_operands(old, self.env)
            new = self.change(op, old)
            if new is None:
                ops.append(op)
            else:
                ops += new
        return Region(region.args, tuple(ops))


def follow(env: Mapping[int, Value]) -> dict[int, Value]:
    """The same replacements, where none leads to a value that is replaced itself."""
    return {name: last_of(env, value) for name, value in env.items()}


def last_of(env: Mapping[int, Value], value: Value) -> Value:
    """What a value is replaced by in the end."""
    while value.id in env:
        value = env[value.id]
    return value


@record
class Renaming:
    """Gives every value that is defined in the ops it goes through a new one, made by `fresh`.

    The ops keep their numbers, unless they are copies of ops that stay.
    """

    fresh: Map
    is_copy: bool = False
    names: dict[int, Value] = field(default_factory=dict[int, Value])

    def use(self, value: Value) -> Value:
        return self.names.get(value.id, value)

    def define(self, value: Value) -> Value:
        new = self.names[value.id] = self.fresh(value)
        return new

    def op(self, op: Op) -> Op:
        renamed = rebuild(op, self.use, self.define, self.region)
        return replace(renamed, number=ir.next_number()) if self.is_copy else renamed

    def region(self, region: Region) -> Region:
        args = _each(region.args, self.define)
        return Region(args, tuple([self.op(op) for op in region.ops]))


def renumber(f: Function) -> Function:
    """The same function with the ids 0, 1, 2, ... in the order of the text."""
    numbers = count()

    def fresh(value: Value) -> Value:
        number = next(numbers)
        return value if value.id == number else Value(number, value.ty, value.hint)

    names = Renaming(fresh)
    params = tuple([replace(param, value=names.define(param.value)) for param in f.params])
    return replace(f, params=params, body=names.region(f.body))


def first_free_id(f: Function) -> int:
    """One more than the greatest id in use."""
    used = [param.value.id for param in f.params]
    _collect_ids(f.body, used)
    return max(used, default=-1) + 1


def _collect_ids(region: Region, used: list[int]) -> None:
    used += [value.id for value in region.args]
    for op in region.ops:
        for value in results_of(op):
            used.append(value.id)
        for inner in regions_of(op):
            _collect_ids(inner, used)


def builder_for(f: Function) -> Builder:
    """A builder whose values are new to the function."""
    return Builder(next_id=first_free_id(f))


def falls_through(region: Region) -> bool:
    """Whether the end of a region can be reached, as far as its structure shows."""
    return isinstance(region.terminator, ir.Yield | ir.Condition) and not ends_dead(region.ops[:-1])


def ends_dead(ops: Sequence[Op]) -> bool:
    """Whether the last of these ops is an `If` that nothing comes after."""
    return bool(ops) and isinstance(ops[-1], ir.If) and is_dead_end(ops[-1])


def is_dead_end(op: ir.If) -> bool:
    return not falls_through(op.then) and not falls_through(op.orelse)


def end_dead(build: Builder, ops: Sequence[Op], last: ir.If, terminator: Op) -> list[Op]:
    """Ops that end in an `If` that nothing comes after, with a terminator as they had before."""
    assert isinstance(terminator, ir.Terminator)
    build.ops, build.loc = [*ops], terminator.loc
    end = with_values(terminator, [zero(build, value) for value in terminator.values])
    if isinstance(end, ir.Condition):
        end = replace(end, condition=zero(build, end.condition))
    return [*build.ops, _without_results(last), end]


def _without_results(op: ir.If) -> ir.If:
    then, orelse = (
        Region((), (*region.ops[:-1], with_values(region.terminator, ())))
        if isinstance(region.terminator, ir.Yield)
        else region
        for region in (op.then, op.orelse)
    )
    return replace(op, then=then, orelse=orelse, results=())


def zero(build: Builder, like: Value, value: bool = False) -> Value:
    """A zero of a value's type, or a bool."""
    dtype = like.ty.dtype
    scalar = build.constant(value if dtype.is_bool else 0, dtype)
    return build.compute("splat", scalar, shape=like.shape) if like.shape else scalar


def carried_by(loop: ir.Loop) -> tuple[Value, ...]:
    """The values that a loop carries from trip to trip."""
    return loop.body.args[1:] if isinstance(loop, ir.For) else loop.test.args


def loop_exits(body: Region) -> Iterator[ir.Break | ir.Continue]:
    """The `Break`s and `Continue`s that belong to the loop with this body."""
    for op in body.ops:
        yield from exits_through(op)


def exits_through(op: Op) -> Iterator[ir.Break | ir.Continue]:
    """The `Break`s and `Continue`s in an op, or the op itself, that leave a loop around it."""
    match op:
        case ir.Compute() | ir.Constant():
            pass
        case ir.Break() | ir.Continue():
            yield op
        case ir.For() | ir.While():
            yield from loop_exits(op.orelse)
        case _:
            for region in regions_of(op):
                yield from loop_exits(region)

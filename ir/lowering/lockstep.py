"""Runs divergent control flow in lockstep, by predication.

A lane is a thread, or one iteration of a thread's loop over elements, and executes divergent code
independently of the others. That is wrong where an effect belongs to several lanes at once (a store
of a scalar in a branch that some lanes take happens once), and where one lane reads or overwrites
what another one writes. There the control flow becomes uniform: ops are predicated by a mask of the
active lanes, and a loop runs as long as one lane is active.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Assert,
    Atomic,
    Break,
    Compute,
    Condition,
    Continue,
    For,
    Function,
    If,
    Load,
    Op,
    Print,
    Region,
    Store,
    Terminator,
    Value,
    While,
    Yield,
    operands_of,
    regions_of,
    walk,
)
from eas.ir.ops.record import Attr
from eas.ir.passes.cse import merge_common
from eas.ir.passes.dead import remove_dead
from eas.ir.passes.fold import fold
from eas.ir.rewrite import (
    builder_for,
    carried_by,
    last_of,
    loop_exits,
    rebuild,
    renumber,
    same,
    zero,
)
from eas.ir.types import BOOL, DTYPES, DType, Shape, count
from eas.support.records import field, record, replace

Control = If | For | While
Values = tuple[Value, ...]


def in_lockstep(
    function: Function, chosen: set[int], masked: AbstractSet[int] = frozenset()
) -> Function:
    """The function with the control ops of these numbers as uniform, predicated control flow.

    The pure ops of the numbers in `masked` are run for active lanes only: they may have faults.
    """
    if not chosen:
        return function
    changed = _Regions(chosen, masked, builder_for(function))
    body = changed.region(function.body)
    simpler = merge_common(fold(replace(function, body=body)))
    return renumber(remove_dead(simpler, keeps_faults=False))


@record
class _Regions:
    """Rewrites the regions around the chosen ops; `env` replaces their results."""

    chosen: set[int]
    masked: AbstractSet[int]
    build: Builder
    env: dict[int, Value] = field(default_factory=dict[int, Value])

    def region(self, region: Region) -> Region:
        ops: list[Op] = []
        for op in region.ops:
            if isinstance(op, Control) and op.number in self.chosen:
                self.build.ops = ops
                _Lockstep(self.build, self.env, _split_shape(op), self.masked).whole(op)
            else:
                ops.append(rebuild(op, self.use, same, self.region))
        return Region(region.args, tuple(ops))

    def use(self, value: Value) -> Value:
        return last_of(self.env, value)


def _split_shape(op: Control) -> Shape:
    """The shape by which all conditions inside of an op split its lanes."""
    shapes = [shape for shape in _conditions(op) if shape]
    return tuple(max(extents) for extents in zip(*shapes, strict=True))


def _conditions(op: Op) -> Iterator[Shape]:
    for inner in (op, *(each for region in regions_of(op) for each in walk(region))):
        match inner:
            case If() | Condition():
                yield inner.condition.shape
            case For():
                yield inner.start.shape
            case _:
                pass


@record
class _Path:
    """The lanes on one path, with the values that they pass; no `lanes` if there are none yet."""

    likes: Values
    lanes: Value | None = None
    values: list[Value] = field(default_factory=list[Value])


@record
class _Frame:
    """A loop that is being rewritten: the lanes that break out of it, and those that continue."""

    broken: _Path
    continued: _Path

    def state(self, build: Builder, like: Value) -> list[Value]:
        """The frame as a list of values, with masks like a given one."""
        values: list[Value] = []
        for path in (self.broken, self.continued):
            if path.lanes is None:
                path.lanes = zero(build, like)
                path.values = [zero(build, each) for each in path.likes]
            values += [path.lanes, *path.values]
        return values

    def take(self, values: Sequence[Value]) -> None:
        """Sets the frame from such a list of values."""
        cut = 1 + len(self.broken.likes)
        self.broken.lanes, *self.broken.values = values[:cut]
        self.continued.lanes, *self.continued.values = values[cut:]


@record
class _Lockstep:
    """Emits ops that run under a mask of the shape `shape`; `frames` are the loops around."""

    build: Builder
    env: dict[int, Value]
    shape: Shape
    masked: AbstractSet[int]
    frames: list[_Frame] = field(default_factory=list[_Frame])

    def use(self, value: Value) -> Value:
        return last_of(self.env, value)

    def uses(self, values: Sequence[Value]) -> list[Value]:
        return [self.use(value) for value in values]

    def bind(self, values: Sequence[Value], new: Sequence[Value]) -> None:
        for value, other in zip(values, new, strict=True):
            self.env[value.id] = other

    def compute(self, name: str, *operands: Value, **attrs: Attr) -> Value:
        return self.build.compute(name, *operands, **attrs)

    def whole(self, op: Control) -> None:
        """An op that all lanes reach."""
        self.build.loc = op.loc
        all_lanes = self.spread(self.build.constant(True, BOOL), self.shape)
        self.op(op, all_lanes)

    def spread(self, value: Value, shape: Shape) -> Value:
        """A scalar or a smaller block as a block of some shape."""
        if value.shape == shape:
            return value
        return self.compute("broadcast" if value.shape else "splat", value, shape=shape)

    def fit(self, mask: Value, shape: Shape) -> Value:
        """A mask for values of some shape: true where any lane behind an element is active."""
        if not shape or all(n == 1 for n in shape):
            return self.spread(self.compute("reduce_any", mask, axis=None), shape)
        for axis, (extent, wanted) in enumerate(zip(mask.shape, shape, strict=True)):
            if wanted == 1 < extent:
                mask = self.compute("reduce_any", mask, axis=axis)
                mask = self.compute("expand_dims", mask, axis=axis)
        return self.spread(mask, shape)

    def and_(self, a: Value, b: Value | None) -> Value:
        return a if b is None else self.compute("and", a, b)

    def choose(self, lanes: Value, values: Sequence[Value], others: Sequence[Value]) -> list[Value]:
        """The values in some lanes, the others in the rest."""
        return [
            a if a == b else self.compute("select", self.fit(lanes, a.shape), a, b)
            for a, b in zip(values, others, strict=True)
        ]

    def join(self, path: _Path, lanes: Value, values: Sequence[Value]) -> None:
        """Adds lanes to a path."""
        if path.lanes is None:
            path.lanes, path.values = lanes, list(values)
        else:
            path.values = self.choose(lanes, values, path.values)
            path.lanes = self.compute("or", path.lanes, lanes)

    def ops(self, region: Region, lanes: Value) -> Value | None:
        """Emits a region; gives the lanes that reach its end, None if none can."""
        going: Value | None = lanes
        for op in region.ops:
            if going is None:
                break
            self.build.loc = op.loc
            going = self.op(op, going)
        return going

    def op(self, op: Op, lanes: Value) -> Value | None:
        match op:
            case If():
                return self.branch(op, lanes)
            case For() | While():
                return self.loop(op, lanes)
            case Break():
                self.join(self.frames[-1].broken, lanes, self.uses(op.values))
                return None
            case Continue():
                self.join(self.frames[-1].continued, lanes, self.uses(op.values))
                return None
            case Yield() | Condition():
                return lanes
            case Compute() if op.number in self.masked:
                self.run_masked(rebuild(op, self.use), self.fit(lanes, op.result.shape))
                return lanes
            case _:
                self.effect(rebuild(op, self.use), lanes)
                return lanes

    def run_masked(self, op: Op, mask: Value) -> None:
        """A pure op in the lanes of a mask, and zero in the others."""
        assert isinstance(op, Compute)
        own, idle = replace(op, result=self.build.value(op.result.ty)), zero(self.build, op.result)
        then = Region((), (own, Yield((own.result,), op.loc)))
        orelse = Region((), (Yield((idle,), op.loc),))
        self.build.emit(If(mask, then, orelse, (op.result,), op.loc))

    def effect(self, op: Op, lanes: Value) -> None:
        """An effect, predicated by the active lanes."""
        build = self.build
        match op:
            case Load():
                mask = self.and_(self.fit(lanes, op.offset.shape), op.mask)
                other = op.other or zero(build, op.result)
                build.emit(replace(op, mask=mask, other=other))
            case Store() | Atomic():
                mask = self.and_(self.fit(lanes, op.offset.shape), op.mask)
                build.emit(replace(op, mask=mask))
            case Assert():
                idle = self.compute("not", self.fit(lanes, op.condition.shape))
                build.emit(replace(op, condition=self.compute("or", op.condition, idle)))
            case Print():
                shape = max((v.shape for v in operands_of(op)), key=count, default=())
                mask = self.fit(lanes, shape)
                then = Region((), (op, Yield((), op.loc)))
                build.emit(If(mask, then, Region((), (Yield((), op.loc),)), (), op.loc))
            case _:
                build.emit(op)

    def branch(self, op: If, lanes: Value) -> Value | None:
        condition = self.use(op.condition)
        mask = self.spread(condition, self.shape)
        yes = self.compute("and", lanes, mask)
        no = self.compute("and", lanes, self.compute("not", mask))
        after_then, after_else = self.ops(op.then, yes), self.ops(op.orelse, no)
        if after_then is None or after_else is None:
            if after_then is not None or after_else is not None:
                self.bind(op.results, self.yielded(op.orelse if after_then is None else op.then))
            return after_then or after_else
        results = [
            a if a == b else self.compute("select", self.spread(condition, a.shape), a, b)
            for a, b in zip(self.yielded(op.then), self.yielded(op.orelse), strict=True)
        ]
        self.bind(op.results, results)
        is_whole = after_then is yes and after_else is no
        return lanes if is_whole else self.compute("or", after_then, after_else)

    def yielded(self, region: Region) -> list[Value]:
        end = region.terminator
        assert isinstance(end, Terminator)
        return self.uses(end.values)

    def loop(self, op: For | While, lanes: Value) -> Value:
        """A loop that runs while any lane is active; the values of the other lanes stay."""
        results = [zero(self.build, value) for value in op.results]
        frame = self.frames[-1] if any(True for _ in loop_exits(op.orelse)) else None
        outer = [] if frame is None else frame.state(self.build, lanes)
        state = self.begin(op)
        sizes = [1, len(state), len(results), len(outer)]
        inits = [lanes, *state, *results, *outer]
        args = [self.build.value(value.ty, value.hint) for value in inits]
        args[0] = replace(args[0], hint="active")
        around, self.build.ops = self.build.ops, []
        going = self.trip(op, _cut(args, sizes), frame)
        body = Region(tuple(args), (*self.build.ops, Yield(tuple(going), op.loc)))
        self.build.ops = around
        _, _, results, outer = _cut(self.emit_loop(op, inits, body), sizes)
        self.bind(op.results, results)
        if frame is None:
            return lanes
        frame.take(outer)
        return self.without(lanes, frame)

    def without(self, lanes: Value, frame: _Frame) -> Value:
        """The lanes without those that took an exit of a loop around."""
        for path in (frame.broken, frame.continued):
            assert path.lanes is not None
            lanes = self.compute("and", lanes, self.compute("not", path.lanes))
        return lanes

    def begin(self, op: For | While) -> list[Value]:
        """What a loop begins with; a `For` also with whether it is entered, and its counter."""
        if isinstance(op, While):
            return self.uses(op.inits)
        start, stop, step = self.uses((op.start, op.stop, op.step))
        nothing = zero(self.build, step)
        up = self.compute("gt", step, nothing)
        down = self.and_(self.compute("gt", start, stop), self.compute("lt", step, nothing))
        is_entered = self.compute("or", self.and_(self.compute("lt", start, stop), up), down)
        return [is_entered, start, *self.uses(op.inits)]

    def emit_loop(self, op: For | While, inits: list[Value], body: Region) -> Values:
        """`while any(active)`, with a given body."""

        def fresh() -> Values:
            return tuple(self.build.value(value.ty, value.hint) for value in body.args)

        tested, left, results = fresh(), fresh(), fresh()
        around, self.build.ops = self.build.ops, []
        any_lane = self.compute("reduce_any", tested[0], axis=None)
        test = Region(tested, (*self.build.ops, Condition(any_lane, tested, op.loc)))
        self.build.ops = around
        orelse = Region(left, (Yield(left, op.loc),))
        self.build.emit(While(tuple(inits), test, body, orelse, results, op.loc))
        return results

    def trip(self, op: For | While, parts: list[list[Value]], frame: _Frame | None) -> list[Value]:
        """One trip: the test, the `orelse` for lanes that are done, the body for the others.

        The `orelse` runs here because later the carried scalars are those of other lanes.
        """
        (lanes,), state, results, outer = parts
        condition = self.spread(self.test(op, state, lanes), self.shape)
        staying = self.compute("and", lanes, condition)
        done = self.compute("and", lanes, self.compute("not", condition))
        if frame is not None:
            frame.take(outer)
        after = self.ops(op.orelse, done)
        if after is not None:
            results = self.choose(after, self.yielded(op.orelse), results)
        going, state, results = self.body(op, state, results, staying)
        outer = [] if frame is None else frame.state(self.build, lanes)
        return [going, *state, *results, *outer]

    def test(self, op: For | While, state: list[Value], lanes: Value) -> Value:
        if isinstance(op, For):
            self.bind(op.body.args, state[1:])
            self.bind(op.orelse.args, state[2:])
            return state[0]
        self.bind(op.test.args, state)
        self.ops(op.test, lanes)
        end = op.test.terminator
        assert isinstance(end, Condition)
        values = self.uses(end.values)
        self.bind(op.body.args, values)
        self.bind(op.orelse.args, values)
        return self.use(end.condition)

    def body(
        self, op: For | While, state: list[Value], results: list[Value], lanes: Value
    ) -> tuple[Value, list[Value], list[Value]]:
        """Emits the body; gives the lanes of the next trip, what they carry, and the results."""
        frame = _Frame(_Path(op.results), _Path(carried_by(op)))
        self.frames.append(frame)
        after = self.ops(op.body, lanes)
        self.frames.pop()
        broken, again = frame.broken, frame.continued
        if broken.lanes is not None:
            results = self.choose(broken.lanes, broken.values, results)
        if after is not None:
            self.join(again, after, self.yielded(op.body))
        if again.lanes is None:
            return zero(self.build, lanes), state, results
        advanced = self.advance(op, state[1]) if isinstance(op, For) else []
        return again.lanes, self.keep(again.lanes, [*advanced, *again.values], state), results

    def keep(self, lanes: Value, values: list[Value], old: list[Value]) -> list[Value]:
        """New values for active lanes; those of the others stay, so that they never overflow."""
        return [
            self.compute("select", lanes, a, b) if a.shape == self.shape and a != b else a
            for a, b in zip(values, old, strict=True)
        ]

    def advance(self, op: For, counter: Value) -> list[Value]:
        """Whether a `For` has another trip, and its next counter; exact at any width."""
        stop, step = self.uses((op.stop, op.step))
        one = self.spread(self.build.constant(1, counter.ty.dtype), counter.shape)
        ahead = self.distance(stop, one, counter)
        more = self.compute("ge", ahead, self.as_unsigned(step))
        if counter.ty.dtype.is_signed:
            back = self.as_unsigned(self.compute("neg", step))
            down = self.compute("ge", self.distance(counter, one, stop), back)
            up = self.compute("gt", step, zero(self.build, step))
            more = self.compute("select", up, more, down)
        return [more, self.compute("add", counter, step)]

    def distance(self, high: Value, one: Value, low: Value) -> Value:
        """`high - 1 - low`, which is not negative, without a sign."""
        below = self.compute("sub", high, one)
        return self.as_unsigned(self.compute("sub", below, low))

    def as_unsigned(self, value: Value) -> Value:
        dtype = _unsigned(value.ty.dtype)
        return (
            value if dtype == value.ty.dtype else self.build.compute("bitcast", value, dtype=dtype)
        )


def _cut(values: Sequence[Value], sizes: Sequence[int]) -> list[list[Value]]:
    """A list in pieces."""
    left = iter(values)
    return [list(islice(left, size)) for size in sizes]


def _unsigned(dtype: DType) -> DType:
    return DTYPES[dtype.name.replace("i", "u")]

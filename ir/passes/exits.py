"""Removes every `Scope` and `Leave`: leaving becomes plain `If`s, or a `Break` out of a loop.

The code after an exit moves to the other branch, if only one path leads to it:
`if c {leave a}; rest` becomes `if c {yield a} else {rest}`, and after a loop it moves to the
`orelse`. Where several paths lead to it, they yield a flag that says which lanes left, and the
values they left with; the code after them moves to the `orelse` of an `If` on that flag. A value
that is never read is a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.analysis import cover_all, covers, divergence, exhaustion
from eas.ir.builder import Builder
from eas.ir.nodes import (
    Break,
    Compute,
    Exit,
    For,
    Function,
    If,
    Leave,
    Loop,
    Op,
    Pure,
    Region,
    Scope,
    Terminator,
    Value,
    While,
    Yield,
    regions_of,
    results_of,
    walk,
)
from eas.ir.rewrite import (
    Renaming,
    builder_for,
    end_dead,
    ends_dead,
    falls_through,
    follow,
    is_dead_end,
    last_of,
    loop_exits,
    rebuild,
    substitute,
    with_values,
    zero,
)
from eas.ir.types import BOOL, Shape, make_type
from eas.support.location import Loc
from eas.support.records import field, frozen, record, replace

Values = tuple[Value, ...]
Finish = Callable[[Values, "_Ending"], Values]


def lower_exits(f: Function) -> Function:
    """The function without `Scope` and `Leave`, which mean the same as plain `If`s and `Break`s."""
    if not any(isinstance(op, Scope) for op in walk(f.body)):
        return f
    state = _State(builder_for(f))
    ops = state.flatten(f.body.ops)
    return replace(f, body=Region(f.body.args, substitute(ops, follow(state.bound))))


@record
class _State:
    """What is shared by all scopes of a function; `bound` holds the results that are gone."""

    build: Builder
    bound: dict[int, Value] = field(default_factory=dict[int, Value])

    def flatten(self, ops: Sequence[Op]) -> list[Op]:
        """The ops without the scopes in them and in their regions, the inner ones first."""
        flat: list[Op] = []
        for op in ops:
            inner = rebuild(op, inner=self._flat_region) if regions_of(op) else op
            *body, terminator = self._lower(inner) if isinstance(inner, Scope) else (inner, None)
            if body and isinstance(body[-1], If) and is_dead_end(body[-1]):
                return end_dead(self.build, [*flat, *body[:-1]], body[-1], ops[-1])
            flat += body
            if isinstance(terminator, Exit):
                return [*flat, terminator]
        return flat

    def _lower(self, scope: Scope) -> list[Op]:
        return _ScopeLowering.of(self, scope).lower()

    def _flat_region(self, region: Region) -> Region:
        return Region(region.args, tuple(self.flatten(region.ops)))

    def bind(self, results: Sequence[Value], values: Sequence[Value]) -> None:
        for result, value in zip(results, values, strict=True):
            self.bound[result.id] = value


@frozen
class _Ending:
    """What a region yields in the end.

    At the end of the scope itself (`flag` is None) that is the scope's results. Elsewhere it is the
    region's own values, a flag of the shape `flag`, and the scope's results for lanes that left.
    `differing` are the indices of those values that differ between the paths to the end.
    """

    own: Values
    differing: tuple[int, ...]
    flag: Shape | None = None

    def pick(self, values: Values) -> Values:
        return tuple(values[place] for place in self.differing)


@frozen
class _Jumps:
    """What the exits of a loop become: its own `Break`s, and the `Leave`s unless they stay."""

    on_break: Callable[[Values, Loc], list[Op]]
    on_leave: Callable[[Values, Loc], list[Op]] | None


@record
class _ScopeLowering:
    """Removes one scope, whose body holds no other."""

    state: _State
    scope: Scope
    ending: _Ending

    @staticmethod
    def of(state: _State, scope: Scope) -> _ScopeLowering:
        """Results that are the same value on every path need no join."""
        end = scope.body.terminator
        inner = [op for op in walk(scope.body) if isinstance(op, Leave)]
        leaves = [op.values for op in inner if op.label == scope.label]
        differing: list[int] = []
        for place, result in enumerate(scope.results):
            value = last_of(state.bound, end.values[place]) if isinstance(end, Yield) else None
            if any(last_of(state.bound, values[place]) != value for values in leaves):
                differing.append(place)
            elif value is not None:
                state.bound[result.id] = value
        own = tuple(scope.results[place] for place in differing)
        return _ScopeLowering(state, scope, _Ending(own, tuple(differing)))

    def lower(self) -> list[Op]:
        """The ops that stand for the scope, and a terminator: a `Yield` if its end is reached."""
        ops = self._finish(self.scope.body.ops, self.ending)
        if isinstance(ops[-1], Yield):
            self.state.bind(self.ending.own, ops[-1].values)
        return ops

    def _is_left(self, region: Region) -> bool:
        """Whether a region holds a `Leave` of this scope."""
        return any(self._is_own(op) for op in walk(region))

    def _is_left_in(self, op: Op) -> bool:
        return any(self._is_left(region) for region in regions_of(op))

    def _leave_split(self, op: If | Loop) -> Shape:
        """The shape by which lanes diverge at the `Leave`s of this scope in an op."""
        diverged = divergence(op)
        leaves = [each for each in diverged.exits if self._is_own(each[0])]
        split = cover_all(diverged.inside, leaves)
        for region in regions_of(op):
            for inner in walk(region):
                # it is left after its end, where lanes that took another exit in it are gone
                if isinstance(inner, Loop) and self._is_left_in(inner):
                    split = cover_all(split, divergence(inner).exits)
        return split.shape if split else ()

    def _is_own(self, op: Op) -> bool:
        return isinstance(op, Leave) and op.label == self.scope.label

    def _finish(self, ops: Sequence[Op], ending: _Ending) -> list[Op]:
        """The ops of a region without a `Leave`, with a terminator as the ending asks."""
        for place, op in enumerate(ops):
            if self._is_left_in(op):
                before, rest = ops[:place], ops[place + 1 :]
                after = self._split_at_if if isinstance(op, If) else self._split_at_loop
                return [*before, *after(op, rest, ending)]
        return self._end(ops, ending)

    def _end(self, ops: Sequence[Op], ending: _Ending) -> list[Op]:
        """The ops with the values that the ending asks for, and a terminator that yields them."""
        *before, last = ops
        if isinstance(last, Yield):
            finish = self._nowhere if ends_dead(before) else self._stay
            values, constants = self._at(last.loc, finish, last.values, ending)
        elif isinstance(last, Leave) and last.label == self.scope.label:
            values, constants = self._at(
                last.loc, self._leave, self.ending.pick(last.values), ending
            )
        else:
            return [*ops]
        place = len(before) - ends_dead(before)
        return [*before[:place], *constants, *before[place:], Yield(values, last.loc)]

    def _at(
        self, loc: Loc, finish: Finish, values: Values, ending: _Ending
    ) -> tuple[Values, list[Op]]:
        """What the lanes of this path yield, and the constants for it."""
        self.state.build.ops, self.state.build.loc = [], loc
        return finish(values, ending), self.state.build.ops

    def _stay(self, values: Values, ending: _Ending) -> Values:
        if ending.flag is None:
            return ending.pick(values)
        left = [zero(self.state.build, value) for value in self.ending.own]
        return (*ending.pick(values), self._flag(ending.flag, False), *left)

    def _nowhere(self, values: Values, ending: _Ending) -> Values:
        """At an end that no lane reaches: any values will do, those of the region may be others."""
        own = tuple(zero(self.state.build, value) for value in ending.own)
        if ending.flag is None:
            return own
        left = [zero(self.state.build, value) for value in self.ending.own]
        return (*own, self._flag(ending.flag, False), *left)

    def _leave(self, values: Values, ending: _Ending) -> Values:
        if ending.flag is None:
            return values
        own = [zero(self.state.build, value) for value in ending.own]
        return (*own, self._flag(ending.flag, True), *values)

    def _flag(self, shape: Shape, value: bool) -> Value:
        return zero(self.state.build, Value(-1, make_type(BOOL, shape)), value)

    def _fresh(self, values: Values) -> Values:
        return tuple(self.state.build.value(value.ty, value.hint) for value in values)

    def _results(self, ending: _Ending) -> Values:
        """New values for what a region with this ending yields."""
        if ending.flag is None:
            return self._fresh(ending.own)
        flag, left = self._flag_and_left(ending)
        return (*self._fresh(ending.own), flag, *left)

    def _flag_and_left(self, ending: _Ending) -> tuple[Value, Values]:
        flag = self.state.build.value(make_type(BOOL, ending.flag or ()), "left")
        return flag, self._fresh(self.ending.own)

    def _split_at_if(self, op: Op, rest: Sequence[Op], ending: _Ending) -> list[Op]:
        assert isinstance(op, If)
        goes_on = [falls_through(op.then), falls_through(op.orelse)]
        if all(goes_on) and _is_short(rest):
            branches = [self._with_end(r, op.results, rest[-1]) for r in regions_of(op)]
            return [*rest[:-1], *self._choose(op, branches, ending)]
        if not all(goes_on):
            branches = [
                self._then(region, op.results, rest) if on else region.ops
                for region, on in zip(regions_of(op), goes_on, strict=True)
            ]
            return self._choose(op, branches, ending)
        split = self._leave_split(op)
        if self._can_join(op, split):
            return self._flag_if(op, rest, ending, self._inner(op, split))
        # A scalar cannot be joined with the values of the lanes that left.
        copied = self._copy_after(op.orelse, op.results, rest)
        return self._choose(op, [self._then(op.then, op.results, rest), copied], ending)

    def _choose(self, op: If, branches: Sequence[Sequence[Op]], ending: _Ending) -> list[Op]:
        results = self._results(ending)
        then, orelse = (Region((), tuple(self._finish(ops, ending))) for ops in branches)
        return [If(op.condition, then, orelse, results, op.loc), Yield(results, op.loc)]

    def _with_end(self, region: Region, results: Values, terminator: Op) -> list[Op]:
        """A region's ops, and a terminator that comes after it."""
        assert isinstance(region.terminator, Yield) and isinstance(terminator, Terminator)
        return [*region.ops[:-1], self._renamed(terminator, results, region.terminator.values)]

    def _renamed(self, terminator: Terminator, results: Values, values: Values) -> Terminator:
        """A terminator that uses the values instead of the results."""
        names = {result.id: value for result, value in zip(results, values, strict=True)}
        used = [last_of(self.state.bound, value) for value in terminator.values]
        return with_values(terminator, [names.get(value.id, value) for value in used])

    def _then(self, region: Region, results: Values, rest: Sequence[Op]) -> list[Op]:
        """A region's ops, and what comes after it, with the results bound to what it yields."""
        assert isinstance(region.terminator, Yield)
        self.state.bind(results, region.terminator.values)
        return [*region.ops[:-1], *rest]

    def _copy_after(self, region: Region, results: Values, rest: Sequence[Op]) -> list[Op]:
        """The same with a copy of what comes after."""
        assert isinstance(region.terminator, Yield)
        names = Renaming(lambda value: self.state.build.value(value.ty, value.hint), is_copy=True)
        names.names = {
            result.id: value
            for result, value in zip(results, region.terminator.values, strict=True)
        }
        resolved = substitute(rest, follow(self.state.bound))
        return [*region.ops[:-1], *(names.op(op) for op in resolved)]

    def _flag_if(self, op: If, rest: Sequence[Op], ending: _Ending, inner: _Ending) -> list[Op]:
        flag, left = self._flag_and_left(inner)
        then, orelse = (
            Region((), tuple(self._finish(region.ops, inner))) for region in regions_of(op)
        )
        flagged = If(op.condition, then, orelse, (*inner.own, flag, *left), op.loc)
        return [flagged, *self._after_flag(flag, left, rest, ending, op.loc)]

    def _can_join(self, op: If | Loop, split: Shape) -> bool:
        """Whether the results can differ between the lanes that leave and those that stay."""
        shared = self._shared(op)
        return all(v.id in shared or covers(v.shape, split) for v in op.results)

    def _inner(self, op: If | Loop, split: Shape) -> _Ending:
        """The ending of an op that gets a flag. A result that is equal on all paths is bound."""
        if not self._can_join(op, split):
            raise ValueError(f"{op.loc}: lanes leave in different trips, but a result is a scalar")
        shared = self._shared(op)
        self.state.bound.update(shared)
        differing = [place for place, result in enumerate(op.results) if result.id not in shared]
        return _Ending(tuple(op.results[place] for place in differing), tuple(differing), split)

    def _shared(self, op: If | Loop) -> dict[int, Value]:
        """The results, by id, that are one value from outside of the op on every path."""
        end, inside = op.orelse.terminator, _defined_in(op.orelse)
        others = [op.then.terminator] if isinstance(op, If) else _breaks(op)
        paths = [each.values for each in (end, *others) if isinstance(each, Yield | Break)]
        if not isinstance(end, Yield) or len(paths) != 1 + len(others):
            return {}
        shared: dict[int, Value] = {}
        for place, result in enumerate(op.results):
            value, *rest = (last_of(self.state.bound, values[place]) for values in paths)
            if value.id not in inside and all(other == value for other in rest):
                shared[result.id] = value
        return shared

    def _after_flag(
        self, flag: Value, left: Values, rest: Sequence[Op], ending: _Ending, loc: Loc
    ) -> list[Op]:
        results = self._results(ending)
        values, gone = self._at(loc, self._leave, left, ending)
        then = Region((), (*gone, Yield(values, loc)))
        orelse = Region((), tuple(self._finish(rest, ending)))
        return [If(flag, then, orelse, results, loc), Yield(results, loc)]

    def _split_at_loop(self, op: Op, rest: Sequence[Op], ending: _Ending) -> list[Op]:
        assert isinstance(op, Loop)
        if not _breaks(op) and not exhaustion(op):
            # If lanes got there in several trips, a scalar op in `rest` would happen several times.
            orelse = op.orelse.ops
            if falls_through(op.orelse):
                orelse = self._then(op.orelse, op.results, rest)
            return self._end_in_loop(op, orelse, None, ending)
        if _is_short(rest) and isinstance(rest[-1], Yield):
            orelse = op.orelse.ops
            if falls_through(op.orelse):
                orelse = self._with_end(op.orelse, op.results, rest[-1])
            return [*rest[:-1], *self._end_in_loop(op, orelse, rest[-1], ending)]
        return self._flag_loop(op, rest, ending)

    def _end_in_loop(
        self, op: Loop, orelse: Sequence[Op], end: Yield | None, ending: _Ending
    ) -> list[Op]:
        """The loop as the last op: its results are the ending's. `end` came after it."""

        def on_break(values: Values, loc: Loc) -> list[Op]:
            assert end is not None
            renamed = self._renamed(end, op.results, values)
            return self._break(self._stay, renamed.values, ending, loc)

        results = self._results(ending)
        body = self._in_loop(op.body, _Jumps(on_break, self._leave_by_break(ending)))
        after = Region(op.orelse.args, tuple(self._finish(orelse, ending)))
        return [_with_parts(op, body, after, results), Yield(results, op.loc)]

    def _flag_loop(self, op: Loop, rest: Sequence[Op], ending: _Ending) -> list[Op]:
        split = self._leave_split(op)
        if not _loop_split(op) and not self._can_join(op, split):
            return self._finish([*self._take_apart(op), *rest], ending)
        inner = self._inner(op, split)
        orelse = Region(op.orelse.args, tuple(self._finish(op.orelse.ops, inner)))
        flag, left = self._flag_and_left(inner)
        loop = self._flagged(op, orelse, inner, (*inner.own, flag, *left))
        return [loop, *self._after_flag(flag, left, rest, ending, op.loc)]

    def _take_apart(self, op: Loop) -> list[Op]:
        """A loop that all lanes end in the same trip, and then its `orelse` in an `If`."""
        build = self.state.build
        own, carried, args = (self._fresh(v) for v in (op.results, op.inits, op.inits))
        is_over = build.value(make_type(BOOL, ()), "is_over")

        def on_break(values: Values, loc: Loc) -> list[Op]:
            build.ops, build.loc = [], loc
            given = (*values, *(zero(build, v) for v in carried), self._flag((), False))
            return [*build.ops, Break(given, loc)]

        build.ops, build.loc = [], op.loc
        ended = (*(zero(build, v) for v in own), *args, self._flag((), True))
        end = Region(args, (*build.ops, Yield(ended, op.loc)))
        body = self._in_loop(op.body, _Jumps(on_break, None))
        self.state.bind(op.orelse.args, carried)
        broken = Region((), (Yield(own, op.loc),))
        return [
            _with_parts(op, body, end, (*own, *carried, is_over)),
            If(is_over, Region((), op.orelse.ops), broken, op.results, op.loc),
        ]

    def _flagged(self, op: Loop, orelse: Region, inner: _Ending, results: Values) -> Op:
        """The loop, with a flag and the scope's results added to its own."""

        def on_break(values: Values, loc: Loc) -> list[Op]:
            return self._break(self._stay, values, inner, loc)

        body = self._in_loop(op.body, _Jumps(on_break, self._leave_by_break(inner)))
        return _with_parts(op, body, orelse, results)

    def _leave_by_break(self, ending: _Ending) -> Callable[[Values, Loc], list[Op]]:
        def on_leave(values: Values, loc: Loc) -> list[Op]:
            return self._break(self._leave, values, ending, loc)

        return on_leave

    def _break(self, finish: Finish, values: Values, ending: _Ending, loc: Loc) -> list[Op]:
        given, constants = self._at(loc, finish, values, ending)
        return [*constants, Break(given, loc)]

    def _in_loop(self, region: Region, jumps: _Jumps) -> Region:
        """A region of a loop's body, in which a `Leave` becomes a `Break`."""
        ops: list[Op] = []
        for op in region.ops:
            match op:
                case Break():
                    ops += jumps.on_break(op.values, op.loc)
                case Leave(label=self.scope.label) if jumps.on_leave:
                    ops += jumps.on_leave(self.ending.pick(op.values), op.loc)
                case If():
                    ops.append(rebuild(op, inner=lambda inner: self._in_loop(inner, jumps)))
                case For() | While():
                    ops += self._loop_in_loop(op, jumps)
                case _:
                    ops.append(op)
        return Region(region.args, tuple(ops))

    def _loop_in_loop(self, op: Loop, jumps: _Jumps) -> list[Op]:
        # The `orelse` is outside of its loop, so its exits are those of the loop around.
        orelse = self._in_loop(op.orelse, jumps)
        if not jumps.on_leave or not self._is_left(op.body):
            return [_with_parts(op, op.body, orelse, op.results)]
        inner = self._inner(op, _loop_split(op))
        after = Region(orelse.args, tuple(self._end(orelse.ops, inner)))
        flag, left = self._flag_and_left(inner)
        loop = self._flagged(op, after, inner, (*inner.own, flag, *left))
        gone = Region((), tuple(jumps.on_leave(left, op.loc)))
        return [loop, If(flag, gone, Region((), (Yield((), op.loc),)), (), op.loc)]


def _loop_split(loop: Loop) -> Shape:
    """The shape by which lanes end a loop in different trips, on any path."""
    split = divergence(loop).inside
    return split.shape if split else ()


def _is_short(rest: Sequence[Op]) -> bool:
    """Whether nothing but a terminator follows, and constants for it."""
    constants: set[int] = set()
    for op in rest[:-1]:
        if not isinstance(op, Pure):
            return False
        if isinstance(op, Compute) and any(v.id not in constants for v in op.operands):
            return False
        constants.add(op.result.id)
    return True


def _breaks(loop: Loop) -> list[Break]:
    return [jump for jump in loop_exits(loop.body) if isinstance(jump, Break)]


def _defined_in(region: Region) -> set[int]:
    """The values that a region defines itself, which its terminator may use."""
    return {v.id for v in region.args} | {v.id for op in region.ops for v in results_of(op)}


def _with_parts(op: Loop, body: Region, orelse: Region, results: Values) -> Loop:
    if isinstance(op, For):
        return For(op.start, op.stop, op.step, op.inits, body, orelse, results, op.loc, op.number)
    return While(op.inits, op.test, body, orelse, results, op.loc, op.number)

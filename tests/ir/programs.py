"""Writes random functions full of exits, which keep every rule of the IR's contract.

A program has the scalar variables `s0 s1` and the block variables `b0 b1`; a store marks each place
that a lane may come by. Every choice is made by `pick(n)`, a number below `n`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Break,
    Condition,
    Continue,
    For,
    Function,
    If,
    Leave,
    Op,
    Param,
    Region,
    Scope,
    Terminator,
    Value,
    While,
    Yield,
)
from eas.ir.types import I32, Pointer, Scalar
from eas.support.location import NOWHERE, SourceName

Pick = Callable[[int], int]
LANES = 4
SCALARS = ("s0", "s1")
BLOCKS = ("b0", "b1")
ALL = (*SCALARS, *BLOCKS)


@dataclass(eq=False)
class Target:
    """A loop or a scope that is being built. `names` are the variables that get out of it.

    In a free target lanes may diverge: scalars then stay inside. `is_split` is set once some lanes
    are gone to it, so that the code after is run by the others only.
    """

    label: int | None
    names: tuple[str, ...]
    carried: tuple[str, ...]
    is_free: bool
    depth: int
    is_split: bool = False
    next: Value | None = None


@dataclass
class Branch:
    """A region that is built: its ops, the variables at its end, and whether that is reached."""

    args: tuple[Value, ...]
    ops: list[Op]
    env: dict[str, Value]
    goes_on: bool

    def close(self, names: Sequence[str], first: tuple[Value, ...] = ()) -> Region:
        """The region, ended by a `Yield` unless it ends in an exit.

        Behind an `If` whose branches both end in exits any values do.
        """
        if not self.ops or not isinstance(self.ops[-1], Terminator):
            self.ops.append(Yield((*first, *(self.env[name] for name in names)), NOWHERE))
        return Region(self.args, tuple(self.ops))


@dataclass
class Writer:
    pick: Pick
    build: Builder = field(default_factory=Builder)
    env: dict[str, Value] = field(default_factory=dict[str, Value])
    targets: list[Target] = field(default_factory=list[Target])
    splits: int = 0
    labels: int = 0
    marks: int = 0
    faults: bool = False

    @contextmanager
    def region(self) -> Generator[list[Op], None, None]:
        """Ops made inside go to a list of their own; assignments are forgotten after it."""
        ops, env = self.build.ops, self.env
        self.build.ops, self.env = [], dict(env)
        yield self.build.ops
        self.build.ops, self.env = ops, env

    def values(self, names: Sequence[str]) -> tuple[Value, ...]:
        return tuple(self.env[name] for name in names)

    def fresh(self, names: Sequence[str]) -> tuple[Value, ...]:
        made = tuple(self.build.value(self.env[name].ty, name) for name in names)
        self.env.update(zip(names, made, strict=True))
        return made

    def statements(self, depth: int) -> bool:
        """Writes some statements; whether the code after them is reached."""
        return all(self.statement(depth) for _ in range(1 + self.pick(3)))

    def statement(self, depth: int) -> bool:
        kinds: list[Callable[[int], bool]] = [self.mark, self.assign, self.exit]
        if depth > 0:
            kinds += [self.branch, self.branch, self.loop_for, self.loop_while, self.scope]
        return kinds[self.pick(len(kinds))](depth)

    def mark(self, depth: int) -> bool:
        del depth
        self.marks += 1
        offset = self.build.constant(self.marks % 64, I32)
        value = self.env[ALL[self.pick(len(ALL))]]
        if value.shape:
            offset = self.build.compute("splat", offset, shape=(LANES,))
        self.build.store(self.env["out"], offset, value)
        return True

    def assign(self, depth: int) -> bool:
        del depth
        name = ALL[self.pick(len(ALL))]
        left = self.env[name]
        right = self.operand(left)
        ops = ("add", "sub", "mul", "maximum", "xor")
        if self.faults:
            ops = (*ops, "floordiv", "mod", "and", "shl")
        self.env[name] = self.build.compute(ops[self.pick(len(ops))], left, right)
        return True

    def operand(self, like: Value) -> Value:
        """A variable or a small constant, with the shape of another value."""
        names = ALL if like.shape else SCALARS
        place = self.pick(len(names) + 2)
        if place < len(names):
            value = self.env[names[place]]
        else:
            value = self.build.constant(self.pick(4) - 1, I32)
        if like.shape and not value.shape:
            value = self.build.compute("splat", value, shape=(LANES,))
        return value

    def condition(self, scalar: bool) -> Value:
        names = SCALARS if scalar else BLOCKS
        left = self.env[names[self.pick(len(names))]]
        compare = ("lt", "gt", "eq", "ne")[self.pick(4)]
        return self.build.compute(compare, left, self.operand(left))

    def branch(self, depth: int) -> bool:
        condition = self.condition(scalar=self.pick(2) == 0)
        self.splits += bool(condition.shape)
        branches = [self.branch_of(depth - 1) for _ in range(2)]
        self.splits -= bool(condition.shape)
        live = sum(branch.goes_on for branch in branches)
        # Scalars of two branches cannot be joined where lanes diverge.
        names = () if live == 0 else BLOCKS if condition.shape and live == 2 else ALL
        then, orelse = (branch.close(names) for branch in branches)
        self.build.emit(If(condition, then, orelse, self.fresh(names), NOWHERE))
        return live > 0

    def branch_of(self, depth: int, args: tuple[Value, ...] = ()) -> Branch:
        with self.region() as ops:
            return Branch(args, ops, self.env, self.statements(depth))

    def exit(self, depth: int) -> bool:
        del depth
        exits = [*self.breaks(), *self.leaves()]
        if not exits:
            return True
        target, again = exits[self.pick(len(exits))]
        target.is_split = self.is_split(target)
        values = self.values(target.carried if again else target.names)
        if again and target.next is not None:
            values = (target.next, *values)
        if target.label is not None:
            self.build.emit(Leave(target.label, values, NOWHERE))
        else:
            self.build.emit((Continue if again else Break)(values, NOWHERE))
        return False

    def is_split(self, target: Target) -> bool:
        """Whether only some of the lanes that are in a target may be here.

        Exits further down may make the lanes of a free loop diverge before its next trip.
        """
        inside = self.targets[self.targets.index(target) + 1 :]
        diverged = any(t.is_split or (t.is_free and t.label is None) for t in inside)
        return diverged or target.is_split or self.splits > target.depth

    def may_leave(self, target: Target) -> bool:
        place = self.targets.index(target)
        return not self.is_split(target) or all(t.is_free for t in self.targets[place:])

    def breaks(self) -> list[tuple[Target, bool]]:
        for target in reversed(self.targets):
            if target.label is None:
                exits = [(target, False)] if self.may_leave(target) else []
                # What some lanes pass to the next trip must not differ from the others' scalars.
                if not self.is_split(target) or not set(SCALARS) & set(target.carried):
                    exits.append((target, True))
                return exits
        return []

    def leaves(self) -> list[tuple[Target, bool]]:
        return [(t, False) for t in self.targets if t.label is not None and self.may_leave(t)]

    @contextmanager
    def inside(self, target: Target) -> Generator[None, None, None]:
        self.targets.append(target)
        yield
        self.targets.pop()

    def target(self, label: int | None = None) -> Target:
        is_free = self.pick(3) > 0
        names = BLOCKS if is_free else ALL
        # In a free loop scalars are carried, unless lanes may diverge by `continue`.
        carried = ALL if self.pick(2) else names
        return Target(label, names, carried, is_free, self.splits)

    def scope(self, depth: int) -> bool:
        self.labels += 1
        label = self.labels
        target = self.target(label)
        with self.inside(target):
            body = self.branch_of(depth - 1).close(target.names)
        self.build.emit(Scope(label, body, self.fresh(target.names), NOWHERE))
        return True

    def loop_for(self, depth: int) -> bool:
        target = self.target()
        start, stop, step = (self.build.constant(n, I32) for n in (0, self.pick(4), 1))
        inits = self.values(target.carried)
        with self.region() as ops:
            args = (self.build.value(Scalar(I32), "i"), *self.fresh(target.carried))
            body = self.body(depth, target, args, ops)
        orelse = self.orelse(depth, target, (), target.is_split)
        results = self.fresh(target.names)
        self.build.emit(For(start, stop, step, inits, body, orelse, results, NOWHERE))
        return True

    def loop_while(self, depth: int) -> bool:
        target = self.target()
        limit = self.build.constant(self.pick(4), I32)
        inits = (self.build.constant(0, I32), *self.values(target.carried))
        test, parts = self.test(target, limit)
        self.splits += parts
        with self.region() as ops:
            args = (self.build.value(Scalar(I32), "n"), *self.fresh(target.carried))
            target.next = self.build.compute("add", args[0], self.build.constant(1, I32))
            body = self.body(depth, target, args, ops)
        self.splits -= parts
        counter = self.build.value(Scalar(I32), "n")
        orelse = self.orelse(depth, target, (counter,), parts or target.is_split)
        results = self.fresh(target.names)
        self.build.emit(While(inits, test, body, orelse, results, NOWHERE))
        return True

    def test(self, target: Target, limit: Value) -> tuple[Region, bool]:
        """The test of a `While`, and whether lanes diverge at it."""
        with self.region() as ops:
            args = (self.build.value(Scalar(I32), "n"), *self.fresh(target.carried))
            goes_on = self.build.compute("lt", args[0], limit)
            if self.pick(2):
                other = self.condition(scalar=not target.is_free or self.pick(2) == 0)
                if other.shape:
                    goes_on = self.build.compute("splat", goes_on, shape=(LANES,))
                goes_on = self.build.compute("and", goes_on, other)
            ops.append(Condition(goes_on, args, NOWHERE))
            return Region(args, tuple(ops)), bool(goes_on.shape)

    def body(self, depth: int, target: Target, args: tuple[Value, ...], ops: list[Op]) -> Region:
        first = () if target.next is None else (target.next,)
        with self.inside(target):
            region = Branch(args, ops, self.env, self.statements(depth - 1))
        return region.close(target.carried, first)

    def orelse(
        self, depth: int, target: Target, first: tuple[Value, ...], is_split: bool
    ) -> Region:
        self.splits += is_split
        with self.region() as ops:
            args = (*first, *self.fresh(target.carried))
            goes_on = self.pick(2) == 0 or self.statements(depth - 1)
            region = Branch(args, ops, self.env, goes_on)
        self.splits -= is_split
        return region.close(target.names)


def write_function(pick: Pick, depth: int = 3, faults: bool = False) -> Function:
    """A function `out, s0, s1` that ends in stores of all its variables."""
    writer = Writer(pick, faults=faults)
    out = writer.build.value(Pointer(I32), "out")
    params = [out, *(writer.build.value(Scalar(I32), name) for name in SCALARS)]
    writer.env = {value.hint: value for value in params}
    lanes = writer.build.compute("arange", start=0, size=LANES)
    writer.env["b0"] = lanes
    writer.env["b1"] = writer.build.compute("splat", params[1], shape=(LANES,))
    for _ in range(1 + writer.pick(3)):
        writer.statement(depth)
    for name in ALL:
        place = writer.build.constant(63, I32)
        if name in BLOCKS:
            place = writer.build.compute("splat", place, shape=(LANES,))
        writer.build.store(out, place, writer.env[name])
    writer.build.emit(Yield((), NOWHERE))
    body = Region((), tuple(writer.build.ops))
    return Function("random", tuple(Param(v) for v in params), body, SourceName("random.py"))

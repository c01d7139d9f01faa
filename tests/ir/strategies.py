"""Random functions that keep the contract and can be run: for properties of text, passes, backends.

    @given(functions())
    def test_...(f: Function) -> None: ...

or, without hypothesis, `random_function(Random(seed), size)`. Every loop ends, no access leaves its
array and nothing faults, for any one-dimensional grid, if the arguments have these sizes:

    a: *f32, x: *i32      read only, SIZE elements
    counts: *i32          SIZE elements, added to by atomics
    out: *f32, outs: *i32 `programs * MAX_LANES` elements; each lane reads and writes its own only
    totals: *i32          `programs` elements, one for each program
    n: i32, s: f32        any value
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from hypothesis import strategies as st

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Assert,
    Barrier,
    Break,
    Condition,
    Continue,
    For,
    Function,
    If,
    Leave,
    Op,
    Param,
    Print,
    Region,
    Scope,
    Value,
    While,
    Yield,
)
from eas.ir.types import (
    BOOL,
    F32,
    I32,
    I64,
    U8,
    Block,
    DType,
    Pointer,
    Scalar,
    Shape,
    Type,
    count,
    make_type,
)
from eas.support.location import NOWHERE, Loc, SourceName

SIZES = st.integers(0, 60)
SIZE = 64
MAX_LANES = 8
PARAMS: dict[str, Type] = {
    "a": Pointer(F32),
    "x": Pointer(I32),
    "counts": Pointer(I32),
    "out": Pointer(F32),
    "outs": Pointer(I32),
    "totals": Pointer(I32),
    "n": Scalar(I32),
    "s": Scalar(F32),
}
DTYPES = (BOOL, I32, I32, I32, F32, F32, F32, I64, U8)
SHAPES: tuple[Shape, ...] = ((1,), (5,), (8,), (2, 3), (1, 4), (2, 2, 2))
HINTS = ("", "", "", "acc", "x2", "größe", "two words", 'a "quote"', "dotted.name")
FLOATS = (0.0, -0.0, 0.1, 1.5, -2.0, 1e-30, 3.4e38, math.inf, -math.inf, math.nan)
COUNTER = Scalar(I32)
SOURCE = SourceName("random.py")
SOURCES = (SOURCE, SOURCE, SourceName("helpers.py"), SourceName("<stdin>"))


def functions() -> st.SearchStrategy[Function]:
    """Random functions, with parts of all kinds."""
    seeds = st.integers(0, 2**32 - 1)
    return st.builds(lambda size, seed: random_function(Random(seed), size), SIZES, seeds)


def random_function(random: Random, size: int) -> Function:
    """A function of about so many statements, made from nothing but the random numbers."""
    threads = random.choice((None, None, None, 1, 8))
    shape = (threads,) if threads else random.choice(SHAPES)
    maker = _Maker(random, shape, _Builder(random=random), threads is not None)
    params = tuple(Param(maker.param(name, ty)) for name, ty in PARAMS.items())
    body = maker.body(size)
    constants = random.choice(((), (("BLOCK", "256"), ("ACT", "lambda x: 'x'"))))
    return Function(
        random.choice(("kernel", "add", "a b")),
        params,
        body,
        SOURCE,
        threads,
        random.random() < 0.2,
        constants,
    )


@dataclass
class _Builder(Builder):
    """Gives values random hints."""

    random: Random = field(default_factory=Random)

    def value(self, ty: Type, hint: str = "") -> Value:
        return Builder.value(self, ty, hint or self.random.choice(HINTS))


@dataclass(frozen=True)
class _Target:
    """A loop or scope that exits may leave.

    `depth` counts the splits around its inside. Some lanes may leave it without the others if
    `parts`, and go on to the next trip without the others if `skips`. Each trip passes `counter`
    on.
    """

    kind: Literal["loop", "scope"]
    results: tuple[Type, ...]
    carried: tuple[Type, ...]
    depth: int
    parts: bool
    skips: bool
    label: int = 0
    counter: tuple[Value, ...] = ()

    def allows(self, depth: int) -> bool:
        """Whether an exit at some depth may leave this, or something around it."""
        return self.parts or depth == self.depth


@dataclass
class _Maker:
    """Writes statements at random. `pool` are the values that can be used here."""

    random: Random
    shape: Shape
    build: _Builder
    has_threads: bool
    pool: list[Value] = field(default_factory=list[Value])
    arrays: dict[str, Value] = field(default_factory=dict[str, Value])
    targets: list[_Target] = field(default_factory=list[_Target])
    depth: int = 0
    nesting: int = 0
    labels: int = 0
    budget: int = 0
    own: Value | None = None
    program: Value | None = None

    def param(self, name: str, ty: Type) -> Value:
        value = self.build.value(ty, name)
        if isinstance(ty, Pointer):
            self.arrays[name] = value
        else:
            self.pool.append(value)
        return value

    def body(self, size: int) -> Region:
        self.budget = size
        self.build.ops = []
        self.positions()
        if self.has_threads:
            self.arrays["shared"] = self.build.alloc(self.shape[0], I32)
        while self.budget > 0:
            self.statement()
        self.place()
        self.build.emit(Yield((), self.random.choice((NOWHERE, self.build.loc))))
        return Region((), tuple(self.build.ops))

    def positions(self) -> None:
        """The program, the lane, and the elements of arrays that belong to the lane."""
        build = self.build
        self.place()
        self.program = build.compute("program_id", axis=0)
        size = count(self.shape)
        if self.has_threads:
            lane = build.compute("thread_index", size=size)
        else:
            lane = build.compute("arange", start=0, size=size)
        if len(self.shape) > 1:
            lane = build.compute("reshape", lane, shape=self.shape)
        start = build.compute("mul", self.program, build.constant(MAX_LANES, I32))
        self.own = build.compute("add", self.splat(start), lane)
        self.pool += [self.program, lane]
        for axis in range(len(self.shape) if len(self.shape) > 1 else 0):
            self.pool.append(self.row(axis))

    def row(self, axis: int) -> Value:
        """0, 1, ... along one axis of the lanes, with an extent of 1 along the others."""
        value = self.build.compute("arange", start=0, size=self.shape[axis])
        for other in range(len(self.shape)):
            if other != axis:
                value = self.build.compute("expand_dims", value, axis=other)
        return value

    def place(self) -> None:
        """Moves to some other place in the source."""
        self.build.loc = self.loc(2)

    def loc(self, calls: int) -> Loc:
        random = self.random
        if self.chance(0.2):
            return NOWHERE
        line, column = random.randint(1, 99), random.randint(0, 20)
        end_line = line + random.choice((0, 0, 0, 2))
        caller = self.loc(calls - 1) if calls and self.chance(0.3) else None
        source = random.choice(SOURCES)
        return Loc(source, line, column, end_line, random.randint(21, 40), caller)

    def shapes(self) -> list[Shape]:
        return [(), self.shape, *sorted({v.shape for v in self.pool} - {(), self.shape})]

    def type(self, whole: bool = False) -> Type:
        """Some type; with `whole`, a block with a value for each lane."""
        dtype = self.random.choice(DTYPES)
        return make_type(dtype, self.shape if whole else self.random.choice(self.shapes()))

    def types(self, most: int, whole: bool = False) -> tuple[Type, ...]:
        return tuple(self.type(whole) for _ in range(self.random.randint(0, most)))

    def pick(self, ty: Type) -> Value:
        """A value of a type: one that is there, or a new one."""
        found = [v for v in self.pool if v.ty == ty]
        if found and self.chance(0.85):
            return self.random.choice(found)
        scalars = [v for v in self.pool if v.ty == Scalar(ty.dtype)]
        if isinstance(ty, Block) and scalars and self.chance(0.5):
            return self.splat(self.random.choice(scalars), ty.shape)
        constant = self.build.constant(self.literal(ty.dtype), ty.dtype)
        return self.splat(constant, ty.shape) if isinstance(ty, Block) else constant

    def picks(self, types: tuple[Type, ...]) -> tuple[Value, ...]:
        return tuple(self.pick(ty) for ty in types)

    def literal(self, dtype: DType) -> bool | int | float:
        if dtype.is_bool:
            return self.chance(0.5)
        if dtype.is_float:
            return self.random.choice(FLOATS)
        return self.random.choice((0, 1, 2, 7, max(-3, dtype.min), dtype.min, dtype.max))

    def splat(self, value: Value, shape: Shape | None = None) -> Value:
        return self.build.compute("splat", value, shape=shape or self.shape)

    def constant(self, value: int, ty: Type) -> Value:
        """A small integer as a scalar or block."""
        scalar = self.build.constant(value, ty.dtype)
        return self.splat(scalar, ty.shape) if isinstance(ty, Block) else scalar

    def statement(self) -> bool:
        """Adds a statement; False if nothing can follow it."""
        self.budget -= 1
        self.place()
        simple = [self.arithmetic] * 8 + [self.load] * 2 + [self.store] * 2 + [self.effect]
        if self.depth == 0:
            simple += [self.reduce]
        if self.depth == 0 and self.has_threads:
            simple += [self.exchange]
        nested = [self.branch] * 3 + [self.loop_for, self.loop_while, self.scope]
        if self.nesting < 4 and self.budget > 0 and self.chance(0.3):
            return self.random.choice(nested)()
        self.random.choice(simple)()
        return True

    def arithmetic(self) -> None:
        ty = self.type()
        a, b = self.pick(ty), self.pick(ty)
        names = ["eq", "ne", "cast", "select"]
        if ty.dtype.is_int:
            names += ["add", "sub", "mul", "and", "or", "minimum", "lt", "floordiv", "mod", "shl"]
        elif ty.dtype.is_float:
            names += ["add", "sub", "mul", "div", "maximum", "ge", "neg", "sqrt", "fma", "isnan"]
        else:
            names += ["and", "or", "xor", "not"]
        self.pool.append(self.compute(self.random.choice(names), a, b))

    def compute(self, name: str, a: Value, b: Value) -> Value:
        build = self.build
        match name:
            case "cast":
                targets = [d for d in DTYPES if d.is_float or not a.ty.dtype.is_float]
                return build.compute("cast", a, dtype=self.random.choice(targets))
            case "select":
                return build.compute("select", self.pick(make_type(BOOL, a.shape)), a, b)
            case "floordiv" | "mod":
                small = build.compute("and", b, self.constant(7, b.ty))
                return build.compute(name, a, build.compute("or", small, self.constant(1, b.ty)))
            case "shl":
                return build.compute(name, a, build.compute("and", b, self.constant(7, b.ty)))
            case "neg" | "sqrt" | "not" | "isnan":
                return build.compute(name, a)
            case "fma":
                return build.compute(name, a, b, a)
            case _:
                return build.compute(name, a, b)

    def offset(self) -> Value:
        """An offset inside of an array of `SIZE` elements."""
        ty = make_type(I32, self.random.choice(self.shapes()))
        return self.build.compute("and", self.pick(ty), self.constant(SIZE - 1, ty))

    def mask(self, shape: Shape) -> Value | None:
        return self.pick(make_type(BOOL, shape)) if self.chance(0.5) else None

    def load(self) -> None:
        name = self.random.choice(("a", "x", "out", "outs"))
        is_own = name.startswith("out") and self.own is not None
        offset = self.own if is_own and self.own is not None else self.offset()
        pointer, mask = self.arrays[name], self.mask(offset.shape)
        other = None
        if mask is not None:
            other = self.pick(make_type(pointer.ty.dtype, offset.shape))
        self.pool.append(self.build.load(pointer, offset, mask, other))

    def store(self) -> None:
        # the threads of a program would all store to its one total, in no order
        name = self.random.choice(
            ("out", "outs") if self.has_threads else ("out", "outs", "totals")
        )
        offset = self.program if name == "totals" else self.own
        assert offset is not None
        pointer = self.arrays[name]
        value = self.pick(make_type(pointer.ty.dtype, offset.shape))
        self.build.store(pointer, offset, value, self.mask(offset.shape))

    def effect(self) -> None:
        match self.random.choice(("print", "assert", "atomic")):
            case "print":
                parts = ('a "text"\n\u2028\x00🙂', self.pick(self.type()), "")
                self.build.emit(Print(parts, self.build.loc))
            case "assert":
                value = self.pick(make_type(I32, self.random.choice(self.shapes())))
                holds = self.build.compute("eq", value, value)
                self.build.emit(Assert(holds, "größer\tals", self.build.loc))
            case _:
                offset = self.offset()
                value, mask = self.pick(make_type(I32, offset.shape)), self.mask(offset.shape)
                self.build.atomic("add", self.arrays["counts"], offset, value, mask)

    def reduce(self) -> None:
        block = self.pick(Block(self.random.choice((I32, F32)), self.shape))
        name = self.random.choice(("reduce_sum", "reduce_max", "reduce_argmin"))
        if len(self.shape) == 1 or self.chance(0.5):
            self.pool.append(self.build.compute(name, block, axis=None))
            return
        axis = self.random.randrange(len(self.shape))
        partial = self.build.compute(name, block, axis=axis)
        self.pool.append(self.build.compute("expand_dims", partial, axis=axis))

    def exchange(self) -> None:
        """Each thread gives a value to its neighbour."""
        build, shared = self.build, self.arrays["shared"]
        thread = build.compute("thread_index", size=self.shape[0])
        build.store(shared, thread, self.pick(Block(I32, self.shape)))
        build.emit(Barrier(build.loc))
        following = build.compute("add", thread, self.constant(1, thread.ty))
        neighbour = build.compute("mod", following, self.constant(self.shape[0], thread.ty))
        self.pool.append(build.load(shared, neighbour))
        build.emit(Barrier(build.loc))

    def region(
        self, args: tuple[Value, ...], splits: bool, end: Callable[[], Op], most: int = 6
    ) -> Region:
        """Statements, then a terminator."""
        ops, pool = self.build.ops, len(self.pool)
        self.build.ops = []
        self.pool += args
        self.nesting += 1
        self.depth += splits
        # What the terminator takes is made before an `if` that nothing may follow.
        dead_end = [] if self.statements(self.random.randint(0, most)) else [self.build.ops.pop()]
        terminator = end()
        made = Region(args, (*self.build.ops, *dead_end, terminator))
        self.depth -= splits
        self.nesting -= 1
        del self.pool[pool:]
        self.build.ops = ops
        return made

    def statements(self, most: int) -> bool:
        """Adds statements; False if nothing can follow them."""
        return all(self.statement() for _ in range(most) if self.budget > 0)

    def arguments(self, types: tuple[Type, ...]) -> tuple[Value, ...]:
        return tuple(self.build.value(ty) for ty in types)

    def define(self, types: tuple[Type, ...]) -> tuple[Value, ...]:
        results = self.arguments(types)
        self.pool += results
        return results

    def yields(
        self, types: tuple[Type, ...], loc: Loc, first: tuple[Value, ...] = ()
    ) -> Callable[[], Op]:
        """A `Yield` at the place of the op around it, or at another."""

        def end() -> Op:
            values = (*first, *self.picks(types))
            return Yield(values, self.random.choice((loc, self.build.loc)))

        return end

    def exits(self, depth: int) -> list[Callable[[], Op]]:
        """The exits that are allowed at some depth."""
        found: list[Callable[[], Op]] = []
        has_loop = False
        for target in reversed(self.targets):
            if target.kind == "loop" and not has_loop:
                found += self.loop_exits(target, depth)
                has_loop = True
            if not target.allows(depth):
                break
            if target.kind == "scope":
                found.append(self.leaving(target))
        return found

    def loop_exits(self, loop: _Target, depth: int) -> list[Callable[[], Op]]:
        def breaks() -> Op:
            return Break(self.picks(loop.results), self.build.loc)

        def continues() -> Op:
            return Continue((*loop.counter, *self.picks(loop.carried)), self.build.loc)

        found: list[Callable[[], Op]] = []
        if loop.allows(depth):
            found.append(breaks)
        if loop.skips or depth == loop.depth:
            found.append(continues)
        return found

    def leaving(self, scope: _Target) -> Callable[[], Op]:
        return lambda: Leave(scope.label, self.picks(scope.results), self.build.loc)

    def branch(self) -> bool:
        loc, shape = self.build.loc, self.random.choice(self.shapes())
        condition = self.pick(make_type(BOOL, shape))
        can_leave = bool(self.exits(self.depth + bool(shape)))
        leaves = [can_leave and self.chance(0.3) for _ in range(2)]
        results = () if all(leaves) else self.types(2, whole=bool(shape) and not any(leaves))
        same = () if any(leaves) or self.chance(0.7) else tuple(self.pool[-1:])
        then, orelse = (self.side(leave, shape, results, same, loc) for leave in leaves)
        joined = self.define((*results, *(v.ty for v in same)))
        self.build.emit(If(condition, then, orelse, joined, loc))
        return not all(leaves)

    def side(
        self,
        leave: bool,
        shape: Shape,
        results: tuple[Type, ...],
        same: tuple[Value, ...],
        loc: Loc,
    ) -> Region:
        """One branch: it leaves something, or yields some values and the same as the other."""

        def end() -> Op:
            if leave:
                return self.random.choice(self.exits(self.depth))()
            values = (*self.picks(results), *same)
            return Yield(values, self.random.choice((loc, self.build.loc)))

        return self.region((), bool(shape), end)

    def scope(self) -> bool:
        loc, parts = self.build.loc, self.chance(0.5)
        results = self.types(2, whole=parts)
        self.labels += 1
        target = _Target("scope", results, (), self.depth + parts, parts, False, self.labels)
        self.targets.append(target)
        body = self.region((), parts, self.yields(results, loc))
        self.targets.pop()
        self.build.emit(Scope(target.label, body, self.define(results), loc))
        return True

    def loop_for(self) -> bool:
        loc, skips, is_block = self.build.loc, self.chance(0.3), self.chance(0.3)
        parts = skips or is_block or self.chance(0.5)
        bound = make_type(self.random.choice((I32, I64)), self.shape if is_block else ())
        start, stop = self.bound(bound), self.bound(bound)
        step = self.constant(self.random.choice((1, 1, 2, -1)), bound)
        carried = self.types(2, whole=skips)
        results = self.results(carried, parts, skips)
        inits = self.picks(carried)
        target = _Target("loop", results, carried, self.depth + parts, parts, skips)
        args = self.arguments((bound, *carried))
        body = self.loop_body(target, args, loc)
        orelse = self.orelse(target, loc)
        self.build.emit(For(start, stop, step, inits, body, orelse, self.define(results), loc))
        return True

    def results(self, carried: tuple[Type, ...], parts: bool, skips: bool) -> tuple[Type, ...]:
        """The types of a loop's results: often those of the carried values."""
        fits = skips or not parts
        return carried if fits and self.chance(0.5) else self.types(2, whole=parts)

    def loop_body(self, target: _Target, args: tuple[Value, ...], loc: Loc) -> Region:
        self.targets.append(target)
        end = self.yields(target.carried, loc, target.counter)
        body = self.region(args, target.parts, end)
        self.targets.pop()
        return body

    def orelse(self, target: _Target, loc: Loc) -> Region:
        args = self.arguments((*(v.ty for v in target.counter), *target.carried))
        if target.carried == target.results and self.chance(0.7):
            return Region(args, (Yield(args[len(target.counter) :], loc),))
        return self.region(args, target.parts, self.yields(target.results, loc), most=2)

    def bound(self, ty: Type) -> Value:
        """A small number."""
        if isinstance(ty, Scalar):
            return self.constant(self.random.randint(-2, 3), ty)
        return self.build.compute("and", self.pick(ty), self.constant(3, ty))

    def loop_while(self) -> bool:
        loc, skips = self.build.loc, self.chance(0.3)
        shape = self.random.choice((*self.shapes(), ()))
        parts = skips or bool(shape) or self.chance(0.5)
        carried = self.types(2, whole=skips)
        results = self.results(carried, parts, skips)
        inits = (self.constant(self.random.randint(0, 3), COUNTER), *self.picks(carried))
        test = self.test(carried, shape, parts)
        args = self.arguments((COUNTER, *carried))
        target = _Target(
            "loop", results, carried, self.depth + parts, parts, skips, counter=args[:1]
        )
        body = self.loop_body(target, args, loc)
        orelse = self.orelse(target, loc)
        self.build.emit(While(inits, test, body, orelse, self.define(results), loc))
        return True

    def test(self, carried: tuple[Type, ...], shape: Shape, splits: bool) -> Region:
        """Counts the first carried value down, so that the loop ends."""
        args = self.arguments((COUNTER, *carried))

        def end() -> Op:
            left = self.build.compute("sub", args[0], self.constant(1, COUNTER))
            goes_on = self.build.compute("gt", args[0], self.constant(0, COUNTER))
            if shape:
                more = self.pick(Block(BOOL, shape))
                goes_on = self.build.compute("and", self.splat(goes_on, shape), more)
            return Condition(goes_on, (left, *self.picks(carried)), self.build.loc)

        targets, self.targets = self.targets, []
        made = self.region(args, splits, end, most=2)
        self.targets = targets
        return made

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

"""Writes random functions: nested branches and loops with all exits, over scalars and blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from random import Random

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Break,
    Condition,
    Continue,
    For,
    Function,
    If,
    Param,
    Print,
    Region,
    Value,
    While,
    Yield,
)
from eas.ir.types import I32, Block, Pointer, Scalar, Type
from eas.support.location import NOWHERE, SourceName
from eas.support.records import field, frozen, record

LANES = (6,)
BLOCK = Block(I32, LANES)
SCALAR = Scalar(I32)


@frozen
class _Loop:
    """The loop around the code being written.

    `is_split` allows exits that only some lanes take. `steps` are the scalars for the next trip:
    all paths to it must pass the same ones, since lanes that go on agree on them.
    """

    is_split: bool
    carried: tuple[Type, ...]
    results: tuple[Type, ...]
    steps: tuple[Value, ...]


@record
class Writer(Builder):
    """`known` are the values in scope; `split` says whether some lanes may be off."""

    random: Random = field(default_factory=Random)
    known: list[Value] = field(default_factory=list[Value])
    loop: _Loop | None = None
    split: bool = False

    def function(self) -> Function:
        """A function that stores blocks to its arrays at the end."""
        arrays = [Param(self.value(Pointer(I32), name)) for name in ("x", "y", "z")]
        program, lane = self.compute("program_id", axis=0), self.compute("arange", start=0, size=6)
        self.known += [program, lane, self.number(3), self.spread(self.number(-7))]
        self.statements(depth=3, most=5)
        count = self.number(LANES[0])
        offset = self.compute("add", self.spread(self.compute("mul", program, count)), lane)
        for param in arrays:
            self.store(param.value, offset, self.any_of(BLOCK))
        body = Region((), (*self.ops, Yield((), NOWHERE)))
        return Function("random", tuple(arrays), body, SourceName("random.py"))

    def number(self, value: int) -> Value:
        return self.constant(value, I32)

    def spread(self, scalar: Value) -> Value:
        return self.compute("splat", scalar, shape=LANES)

    def any_of(self, ty: Type) -> Value:
        """Some value of that type, perhaps a new one."""
        found = [v for v in self.known if v.ty == ty]
        if ty == BLOCK and (not found or self.random.random() < 0.2):
            return self.spread(self.any_of(SCALAR))
        return self.random.choice(found) if found else self.number(self.random.randrange(-9, 9))

    def any_type(self) -> Type:
        return self.random.choice((SCALAR, BLOCK))

    def small(self, ty: Type, mask: int) -> Value:
        limit = self.number(mask)
        return self.compute("and", self.any_of(ty), self.spread(limit) if ty == BLOCK else limit)

    def condition(self, ty: Type) -> Value:
        name = self.random.choice(("lt", "ge", "eq", "ne"))
        return self.compute(name, self.small(ty, 7), self.small(ty, 5))

    def statements(self, depth: int, most: int) -> None:
        kinds: list[Callable[[int], None]] = [self.arithmetic, self.arithmetic, self.show]
        if depth:
            kinds += [self.branch, self.branch, self.counted, self.repeated]
        for _ in range(self.random.randint(1, most)):
            self.random.choice(kinds)(depth)

    def arithmetic(self, depth: int) -> None:
        del depth
        ty = self.any_type()
        name = self.random.choice(("add", "sub", "mul", "xor", "minimum", "maximum"))
        self.known.append(self.compute(name, self.any_of(ty), self.any_of(ty)))

    def show(self, depth: int) -> None:
        del depth
        program, lane = self.known[:2]
        parts = (program, " ", lane, " ", self.any_of(BLOCK), " ", self.any_of(SCALAR))
        self.emit(Print(parts, NOWHERE))

    def branch(self, depth: int) -> None:
        ty = self.any_type()
        condition = self.condition(ty)
        types = [
            BLOCK if ty == BLOCK else self.any_type() for _ in range(self.random.randint(0, 2))
        ]
        leaves = self.may_leave(ty == BLOCK) and self.random.random() < 0.5
        regions: list[Region] = []
        for has_exit in self.random.sample((leaves, False), 2):
            with self.region((), split=self.split or ty == BLOCK) as draft:
                self.statements(depth - 1, 3)
                self.leave() if has_exit else self.yields(types)
            regions.append(draft())
        results = self.results(types)
        self.emit(If(condition, regions[0], regions[1], results, NOWHERE))
        self.split = self.split or (leaves and ty == BLOCK)
        self.known += results

    def may_leave(self, is_split: bool) -> bool:
        """Whether an exit may stand below a condition here."""
        return self.loop is not None and (self.loop.is_split or not (is_split or self.split))

    def leave(self) -> None:
        assert self.loop is not None
        if self.random.random() < 0.5:
            self.emit(Break(tuple(self.any_of(ty) for ty in self.loop.results), NOWHERE))
        else:
            self.emit(Continue(self.next_values(self.loop), NOWHERE))

    def yields(self, types: list[Type]) -> None:
        self.emit(Yield(tuple(self.any_of(ty) for ty in types), NOWHERE))

    def next_values(self, loop: _Loop) -> tuple[Value, ...]:
        blocks = [self.any_of(ty) for ty in loop.carried if ty == BLOCK]
        return (*loop.steps, *blocks)

    def loop_types(self, is_split: bool) -> tuple[list[Type], list[Type]]:
        """The carried types, scalars first, of which the first counts trips; and the results'."""
        carried: list[Type] = [SCALAR, *[SCALAR] * self.random.randint(0, 1)]
        carried += [BLOCK] * self.random.randint(0, 2)
        count = self.random.randint(0, 2)
        return carried, [BLOCK if is_split else self.any_type() for _ in range(count)]

    def counted(self, depth: int) -> None:
        bound = self.any_type()
        is_split = bound == BLOCK or self.random.random() < 0.5
        carried, types = self.loop_types(is_split)
        step = self.number(self.random.choice((1, 2, 3, -1, -2)))
        bounds = (self.small(bound, 7), self.small(bound, 7))
        if bound == BLOCK:
            step = self.spread(step)
        inits = tuple(self.any_of(ty) for ty in carried)
        body = self.body([bound, *carried], carried, types, is_split, bound == BLOCK, depth)
        orelse = self.orelse(carried, types, is_split, depth)
        results = self.results(types)
        self.emit(For(*bounds, step, inits, body, orelse, results, NOWHERE))
        self.known += results

    def repeated(self, depth: int) -> None:
        tested = self.any_type()
        is_split = tested == BLOCK or self.random.random() < 0.5
        carried, types = self.loop_types(is_split)
        inits = (self.number(0), *(self.any_of(ty) for ty in carried[1:]))
        with self.region(tuple(carried), split=self.split) as draft:
            more = self.compute("lt", self.known[-len(carried)], self.number(5))
            both = self.spread(more) if tested == BLOCK else more
            args = self.known[-len(carried) :]
            condition = self.compute("and", both, self.condition(tested))
            self.emit(Condition(condition, tuple(args), NOWHERE))
        test = draft()
        body = self.body(carried, carried, types, is_split, tested == BLOCK, depth)
        orelse = self.orelse(carried, types, is_split, depth)
        results = self.results(types)
        self.emit(While(inits, test, body, orelse, results, NOWHERE))
        self.known += results

    def body(
        self,
        args: list[Type],
        carried: list[Type],
        results: list[Type],
        is_split: bool,
        diverges: bool,
        depth: int,
    ) -> Region:
        with self.region(tuple(args), split=self.split or diverges) as draft:
            scalars = self.known[-len(carried) :][: carried.count(SCALAR)]
            steps = tuple(self.compute("add", v, self.number(1)) for v in scalars)
            outer, self.loop = self.loop, _Loop(is_split, tuple(carried), tuple(results), steps)
            if is_split:
                self.split = True
            self.statements(depth - 1, 4)
            self.emit(Yield(self.next_values(self.loop), NOWHERE))
            self.loop = outer
        return draft()

    def orelse(self, carried: list[Type], types: list[Type], is_split: bool, depth: int) -> Region:
        with self.region(tuple(carried), split=self.split or is_split) as draft:
            self.statements(0 if is_split else depth - 1, 2)
            self.yields(types)
        return draft()

    @contextmanager
    def region(self, types: tuple[Type, ...], split: bool) -> Generator[Callable[[], Region]]:
        """What is written inside goes to a region; call what it gives for the region."""
        args = tuple(self.value(ty) for ty in types)
        ops, self.ops = self.ops, []
        known, self.known = self.known, [*self.known, *args]
        was_split, self.split = self.split, split
        inner = self.ops
        yield lambda: Region(args, tuple(inner))
        self.ops, self.known, self.split = ops, known, was_split

    def results(self, types: list[Type]) -> tuple[Value, ...]:
        return tuple(self.value(ty) for ty in types)


def random_function(seed: int) -> Function:
    return Writer(random=Random(seed)).function()

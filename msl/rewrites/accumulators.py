"""Finds sums of products that can stay in fragments.

A sum has many versions: what a `dot` makes of it, what a loop carries, what a loop or branch gives
back. All of them but the last live in the same fragments, if nothing else looks at one. To find
out, a sum is followed through the text from what it begins with on: at each place where its version
is used it becomes the next one, on every way that the program can take, or the sum ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from eas.ir.nodes import (
    Break,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    Function,
    If,
    Op,
    Region,
    Terminator,
    Value,
    While,
    Yield,
    regions_of,
    values_in,
    walk,
)
from eas.ir.types import F32
from eas.msl.analysis.outline import Outline, outline
from eas.support.records import field, frozen, record, replace

Fits = Callable[[Compute], bool]


@frozen
class Link:
    """A product that makes a new version of a sum, perhaps again and again in a loop.

    The sum may be multiplied before by `factor`: a number, or one for each row.
    """

    dot: Compute
    is_looped: bool
    factor: Value | None


@frozen
class Sum:
    """What a sum begins with, the first and the last op of its region, and what that gives."""

    slot: int
    init: Value
    first: Op
    last: Op
    result: Value
    links: tuple[Link, ...]


@record
class Sums:
    """The sums that stay in fragments.

    `versions` are no values any more, nor is what is `absorbed`: the product that is added to it
    does it. `dropped` has the places at which terminators, by `id()`, pass a version on.
    """

    outline: Outline
    sums: list[Sum] = field(default_factory=list[Sum])
    versions: set[Value] = field(default_factory=set[Value])
    absorbed: set[Value] = field(default_factory=set[Value])
    dropped: dict[int, set[int]] = field(default_factory=dict[int, "set[int]"])

    def is_zero(self, value: Value) -> bool:
        maker = self.outline.makers.get(value)
        if isinstance(maker, Compute) and maker.op.name in ("splat", "broadcast"):
            return self.is_zero(maker.operands[0])
        return isinstance(maker, Constant) and maker.value == 0

    def is_flipped(self, value: Value) -> bool:
        """Whether a matrix is another one, transposed."""
        maker = self.outline.makers.get(value)
        if not isinstance(maker, Compute) or maker.op.name != "permute":
            return False
        *first, a, b = range(len(value.shape))
        return maker.attr("axes") == (*first, b, a)

    def unflipped(self, value: Value) -> Value:
        maker = self.outline.makers.get(value)
        return maker.operands[0] if self.is_flipped(value) and isinstance(maker, Compute) else value

    def factor_of_rows(self, value: Value) -> Value | None:
        """What a block has in each row: a number, an element of a smaller block; else None."""
        wide = self.outline.makers.get(value)
        if not isinstance(wide, Compute) or wide.op.name not in ("splat", "broadcast"):
            return None
        column = wide.operands[0]
        if not column.shape:
            return column
        maker = self.outline.makers.get(column)
        if not isinstance(maker, Compute) or maker.op.name != "expand_dims":
            return None
        rows = maker.operands[0]
        is_factor = rows.shape == value.shape[:-1] and column.shape == (*rows.shape, 1)
        return rows if is_factor else None


def find_sums(function: Function, fits: Fits) -> Sums:
    finder = _Finder(Sums(outline(function)), fits)
    finder.region(function.body)
    return finder.sums


class _NotASum(Exception):
    """A version of a sum is used for something that fragments cannot do."""


_End = tuple[Terminator, Value | None]
"""A way out of a region, and the version that is there; None if it is never reached."""


@record
class _Trial:
    """A sum as far as it has been followed: how often it uses its versions, what makes them.

    `factors` are those of versions that have been multiplied, and wait for a product.
    """

    uses: dict[Value, int] = field(default_factory=dict[Value, int])
    links: tuple[Link, ...] = ()
    absorbed: frozenset[Value] = frozenset()
    dropped: tuple[tuple[Terminator, int], ...] = ()
    factors: dict[Value, Value] = field(default_factory=dict[Value, Value])
    loops: int = 0

    def use(self, value: Value) -> None:
        if value in self.factors:
            raise _NotASum
        self.uses[value] = self.uses.get(value, 0) + 1

    def carry(self, value: Value) -> Value:
        """Notes a version that a region is entered with, which it may not use."""
        self.uses.setdefault(value, 0)
        return value

    def copy(self) -> _Trial:
        return replace(self, uses=dict(self.uses), factors=dict(self.factors))

    def take(self, other: _Trial) -> None:
        self.uses, self.links, self.factors = other.uses, other.links, other.factors
        self.absorbed, self.dropped = other.absorbed, other.dropped


@record
class _Finder:
    sums: Sums
    fits: Fits

    @property
    def outline(self) -> Outline:
        return self.sums.outline

    def region(self, region: Region) -> None:
        """Notes the sums of a region, then those inside of it."""
        for number, op in enumerate(region.ops):
            for init in self.beginnings(op):
                self.note(init, region.ops[number:])
        for op in region.ops:
            for inner in regions_of(op):
                self.region(inner)

    def beginnings(self, op: Op) -> Iterator[Value]:
        """The values that a sum whose first op is this one could begin with."""
        match op:
            case Compute():
                if self.is_product(op):
                    yield op.operands[2]
            case For() | While():
                yield from filter(_may_be_sum, op.inits)
            case If():
                inside = {value for region in regions_of(op) for value in values_in(region)}
                inner = [each for region in regions_of(op) for each in walk(region)]
                plain = [each for each in inner if not isinstance(each, If)]
                found = [init for each in plain for init in self.beginnings(each)]
                yield from dict.fromkeys(init for init in found if init not in inside)
            case _:
                pass

    def note(self, init: Value, ops: Sequence[Op]) -> None:
        """Notes the sum that begins with a value, if there is something to keep."""
        trial, version, found = _Trial(), init, None
        for op in ops:
            if not self.outline.is_user(op, version):
                continue
            longer = trial.copy()
            try:
                after = self.through(op, version, [], longer)
            except _NotASum:
                break
            if after is None or not self.is_closed(longer, init):
                break
            if len(longer.links) > len(trial.links):
                found = longer, op, after
            trial, version = longer, after
        if found is not None:
            self.keep(init, ops[0], *found)

    def keep(self, init: Value, first: Op, trial: _Trial, last: Op, result: Value) -> None:
        if len(trial.links) < 2 and not any(link.is_looped for link in trial.links):
            return
        sums = self.sums
        sums.sums.append(Sum(len(sums.sums) + 1, init, first, last, result, trial.links))
        sums.versions |= {value for value in trial.uses if value != init}
        sums.absorbed |= trial.absorbed
        for end, place in trial.dropped:
            sums.dropped.setdefault(id(end), set()).add(place)

    def is_closed(self, trial: _Trial, init: Value) -> bool:
        """Whether nothing but the sum itself uses its versions; what it begins with is no such."""
        others = ((value, times) for value, times in trial.uses.items() if value != init)
        return all(self.outline.counts.get(value, 0) == times for value, times in others)

    def through(self, op: Op, version: Value, exits: list[_End], trial: _Trial) -> Value | None:
        """The version after an op that uses one; None if nothing comes after it.

        `exits` collects the ways that leave the loop around it, or begin its next trip.
        """
        match op:
            case Compute():
                return self.through_compute(op, version, trial)
            case If() if not op.condition.shape:
                return self.through_branches(op, version, exits, trial)
            case For() | While():
                return self.through_loop(op, version, exits, trial)
            case _:
                raise _NotASum

    def through_compute(self, op: Compute, version: Value, trial: _Trial) -> Value:
        if op.result in self.sums.versions or any(op.result == s.result for s in self.sums.sums):
            raise _NotASum
        if not self.is_product(op) or op.operands[2] != version:
            return self.multiplied(op, version, trial)
        factor = trial.factors.pop(version, None)
        if factor is not None and self.outline.regions[version] != self.outline.regions[op.result]:
            raise _NotASum
        trial.use(version)
        trial.links += (Link(op, trial.loops > 0, factor),)
        return op.result

    def is_product(self, op: Compute) -> bool:
        return op.op.name == "dot" and self.fits(op)

    def multiplied(self, op: Compute, version: Value, trial: _Trial) -> Value:
        """A version times a factor for each row: the product that is added next does that too."""
        others = [value for value in op.operands if value != version]
        factor = self.sums.factor_of_rows(others[0]) if len(others) == 1 else None
        if op.op.name != "mul" or op.result.ty.dtype != F32 or factor is None:
            raise _NotASum
        trial.use(version)
        trial.factors[op.result] = factor
        trial.absorbed |= {op.result}
        return op.result

    def follow(self, region: Region, version: Value, exits: list[_End], trial: _Trial) -> _End:
        """The end of a region that is entered with a version."""
        end, now = region.terminator, version
        assert isinstance(end, Terminator)
        for op in region.ops[:-1]:
            if self.outline.is_user(op, now):
                after = self.through(op, now, exits, trial)
                if after is None:
                    return end, None
                now = after
        return end, now

    def through_branches(
        self, op: If, version: Value, exits: list[_End], trial: _Trial
    ) -> Value | None:
        ends = [self.follow(region, version, exits, trial) for region in regions_of(op)]
        yields = _part(ends, exits)
        reached = [(end, now) for end, now in yields if now is not None]
        if not reached:
            return None
        if all(now == version and version not in end.values for end, now in reached):
            return version
        return op.results[self.pass_on(yields, trial)]

    def through_loop(
        self, op: For | While, version: Value, exits: list[_End], trial: _Trial
    ) -> Value | None:
        """Through one of the values that a loop carries: two sums may both begin with zeros."""
        for place, init in enumerate(op.inits):
            attempt, leaving = trial.copy(), list[_End]()
            attempt.loops = trial.loops
            try:
                if init == version:
                    found = self.through_carried(op, place, leaving, attempt)
                    trial.take(attempt)
                    exits += leaving
                    return found
            except _NotASum:
                continue
        raise _NotASum

    def through_carried(
        self, op: For | While, place: int, exits: list[_End], trial: _Trial
    ) -> Value | None:
        if isinstance(op, For) and any(bound.shape for bound in (op.start, op.stop, op.step)):
            raise _NotASum
        trial.use(op.inits[place])
        ends, own = list[_End](), list[_End]()
        trial.loops += 1
        if isinstance(op, While):
            ends.append(self.follow(op.test, trial.carry(op.test.args[place]), own, trial))
        carried = trial.carry(op.body.args[place - len(op.inits)])
        ends.append(self.follow(op.body, carried, own, trial))
        trial.loops -= 1
        trial.carry(op.orelse.args[place])
        ways = [*ends, *own]
        left = [each for each in ways if isinstance(each[0], Break)]
        self.pass_on([each for each in ways if each not in left], trial, place)
        left += _part([self.exhausted(op, place, exits, trial)], exits)
        if all(now is None for _, now in left):
            return None
        return op.results[self.pass_on(left, trial)]

    def exhausted(self, op: For | While, place: int, exits: list[_End], trial: _Trial) -> _End:
        """The end of a loop that is not broken off; a `while True` never comes to it."""
        test = op.test.terminator if isinstance(op, While) else None
        always = self.outline.makers.get(test.condition) if isinstance(test, Condition) else None
        if isinstance(always, Constant) and always.value:
            assert isinstance(op.orelse.terminator, Terminator)
            return op.orelse.terminator, None
        return self.follow(op.orelse, op.orelse.args[place], exits, trial)

    def pass_on(self, ends: Sequence[_End], trial: _Trial, place: int | None = None) -> int:
        """The place at which all ways pass on the version that they have, or the one given."""
        places = {place} if place is not None else set(range(len(ends[0][0].values)))
        for end, now in ends:
            if isinstance(end, Condition) and end.condition.shape:
                raise _NotASum
            if now is not None:
                trial.use(now)
                places &= {n for n, value in enumerate(end.values) if value == now}
        if not places:
            raise _NotASum
        found = min(places)
        trial.dropped += tuple((end, found) for end, _ in ends)
        return found


def _part(ends: Sequence[_End], exits: list[_End]) -> list[_End]:
    """The ways that go on behind an op; the others leave the loop around it."""
    exits += [each for each in ends if isinstance(each[0], Break | Continue)]
    return [each for each in ends if isinstance(each[0], Yield)]


def _may_be_sum(value: Value) -> bool:
    return len(value.shape) >= 2 and value.ty.dtype == F32

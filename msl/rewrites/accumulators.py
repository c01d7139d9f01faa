"""Finds blocks that can be accumulators: registers to which a program only adds products.

An accumulator has many versions: what a `dot` makes of it, what a loop carries, what a loop or a
branch gives back. All of them but the last live in the same registers, if nothing else uses one. To
find out, an accumulator is followed through the text from its initial value on: each op that uses
its version makes the next one, on every path through the program, or the accumulator ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from eas.ir.aliasing.in_place import is_transpose, without_transpose
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
from eas.msl.analysis.nesting import Nesting, nesting_of
from eas.support.records import field, frozen, record, replace

Fits = Callable[[Compute], bool]


@frozen
class Update:
    """A product that makes a new version of an accumulator, perhaps in every trip of a loop.

    The accumulator may be multiplied before by `factor`: a number, or one for each row.
    """

    dot: Compute
    is_looped: bool
    factor: Value | None


@frozen
class Accumulator:
    """An accumulator: its initial value, the first and the last op that use it, its last version.

    Both ops are of one region; `number` distinguishes it from others.
    """

    number: int
    init: Value
    first: Op
    last: Op
    result: Value
    updates: tuple[Update, ...]


@record
class Accumulators:
    """The accumulators of a function.

    `versions` stop being values, and so do `absorbed` ones: an `Update` multiplies by their factor.
    `dropped` has the positions at which terminators, by number, pass a version on.
    """

    nesting: Nesting
    found: list[Accumulator] = field(default_factory=list[Accumulator])
    versions: set[Value] = field(default_factory=set[Value])
    absorbed: set[Value] = field(default_factory=set[Value])
    dropped: dict[int, set[int]] = field(default_factory=dict[int, "set[int]"])

    def is_zero(self, value: Value) -> bool:
        maker = self.nesting.makers.get(value)
        if isinstance(maker, Compute) and maker.op.repeats:
            return self.is_zero(maker.operands[0])
        return isinstance(maker, Constant) and maker.value == 0

    def is_transposed(self, value: Value) -> bool:
        """Whether a matrix is another one, transposed."""
        return is_transpose(self.nesting.makers.get(value))

    def without_transpose(self, value: Value) -> Value:
        return without_transpose(value, self.nesting.makers.get)

    def factor_of_rows(self, value: Value) -> Value | None:
        """The number, or the block with a number for each row, that a block repeats; else None."""
        wide = self.nesting.makers.get(value)
        if not isinstance(wide, Compute) or not wide.op.repeats:
            return None
        column = wide.operands[0]
        if not column.shape:
            return column
        maker = self.nesting.makers.get(column)
        if not isinstance(maker, Compute) or maker.op.name != "expand_dims":
            return None
        rows = maker.operands[0]
        is_factor = rows.shape == value.shape[:-1] and column.shape == (*rows.shape, 1)
        return rows if is_factor else None


def find_accumulators(function: Function, fits: Fits) -> Accumulators:
    """The accumulators of the products that are fit for fragments."""
    finder = _Finder(Accumulators(nesting_of(function)), fits)
    finder.region(function.body)
    return finder.accumulators


class _NotAccumulatorError(Exception):
    """A version is used for something that is not done to an accumulator."""


_End = tuple[Terminator, Value | None]
"""An end of a region, and the version that it is reached with; None if it is never reached."""


@record
class _Trial:
    """An accumulator as far as it has been followed: how often it uses each version, its updates.

    `factors` are those of versions that have been multiplied, for the product that follows.
    """

    uses: dict[Value, int] = field(default_factory=dict[Value, int])
    updates: tuple[Update, ...] = ()
    absorbed: frozenset[Value] = frozenset()
    dropped: tuple[tuple[Terminator, int], ...] = ()
    factors: dict[Value, Value] = field(default_factory=dict[Value, Value])
    loops: int = 0

    def use(self, value: Value) -> None:
        if value in self.factors:
            raise _NotAccumulatorError
        self.uses[value] = self.uses.get(value, 0) + 1

    def carry(self, value: Value) -> Value:
        """Notes a version that a region is entered with, which it may not use."""
        self.uses.setdefault(value, 0)
        return value

    def copy(self) -> _Trial:
        return replace(self, uses=dict(self.uses), factors=dict(self.factors))

    def take(self, other: _Trial) -> None:
        self.uses, self.updates, self.factors = other.uses, other.updates, other.factors
        self.absorbed, self.dropped = other.absorbed, other.dropped


@record
class _Finder:
    accumulators: Accumulators
    fits: Fits

    @property
    def nesting(self) -> Nesting:
        return self.accumulators.nesting

    def region(self, region: Region) -> None:
        """Notes the accumulators of a region, then those inside of it."""
        for number, op in enumerate(region.ops):
            for init in self.inits(op):
                self.note(init, region.ops[number:])
        for op in region.ops:
            for inner in regions_of(op):
                self.region(inner)

    def inits(self, op: Op) -> Iterator[Value]:
        """The initial values of accumulators whose first op could be this one."""
        match op:
            case Compute():
                if self.is_product(op):
                    yield op.operands[2]
            case For() | While():
                yield from filter(_may_accumulate, op.inits)
            case If():
                inside = {value for region in regions_of(op) for value in values_in(region)}
                inner = [each for region in regions_of(op) for each in walk(region)]
                plain = [each for each in inner if not isinstance(each, If)]
                found = [init for each in plain for init in self.inits(each)]
                yield from dict.fromkeys(init for init in found if init not in inside)
            case _:
                pass

    def note(self, init: Value, ops: Sequence[Op]) -> None:
        """Notes the accumulator with an initial value, if it has more than one update."""
        trial, version, found = _Trial(), init, None
        for op in ops:
            if not self.nesting.is_user(op, version):
                continue
            longer = trial.copy()
            try:
                after = self.through(op, version, [], longer)
            except _NotAccumulatorError:
                break
            if after is None or not self.is_closed(longer, init):
                break
            if len(longer.updates) > len(trial.updates):
                found = longer, op, after
            trial, version = longer, after
        if found is not None:
            self.add(init, ops[0], *found)

    def add(self, init: Value, first: Op, trial: _Trial, last: Op, result: Value) -> None:
        updates = trial.updates
        if len(updates) < 2 and not any(update.is_looped for update in updates):
            return
        known = self.accumulators
        number = len(known.found) + 1
        known.found.append(Accumulator(number, init, first, last, result, updates))
        known.versions |= {value for value in trial.uses if value != init}
        known.absorbed |= trial.absorbed
        for end, position in trial.dropped:
            known.dropped.setdefault(end.number, set()).add(position)

    def is_closed(self, trial: _Trial, init: Value) -> bool:
        """Whether nothing else uses the versions; the initial value is none of them."""
        others = ((value, times) for value, times in trial.uses.items() if value != init)
        return all(self.nesting.counts.get(value, 0) == times for value, times in others)

    def through(self, op: Op, version: Value, exits: list[_End], trial: _Trial) -> Value | None:
        """The version after an op that uses one; None if nothing comes after it.

        `exits` collects the ends that leave the loop around it, or begin its next trip.
        """
        match op:
            case Compute():
                return self.through_compute(op, version, trial)
            case If() if not op.condition.shape:
                return self.through_branches(op, version, exits, trial)
            case For() | While():
                return self.through_loop(op, version, exits, trial)
            case _:
                raise _NotAccumulatorError

    def through_compute(self, op: Compute, version: Value, trial: _Trial) -> Value:
        known = self.accumulators
        if op.result in known.versions or any(op.result == each.result for each in known.found):
            raise _NotAccumulatorError
        if not self.is_product(op) or op.operands[2] != version:
            return self.multiplied(op, version, trial)
        factor = trial.factors.pop(version, None)
        if factor is not None and self.nesting.regions[version] != self.nesting.regions[op.result]:
            raise _NotAccumulatorError
        trial.use(version)
        trial.updates += (Update(op, trial.loops > 0, factor),)
        return op.result

    def is_product(self, op: Compute) -> bool:
        return op.op.name == "dot" and self.fits(op)

    def multiplied(self, op: Compute, version: Value, trial: _Trial) -> Value:
        """A version times a factor, or one for each row: the next update does that too."""
        others = [value for value in op.operands if value != version]
        factor = self.accumulators.factor_of_rows(others[0]) if len(others) == 1 else None
        if op.op.name != "mul" or op.result.ty.dtype != F32 or factor is None:
            raise _NotAccumulatorError
        trial.use(version)
        trial.factors[op.result] = factor
        trial.absorbed |= {op.result}
        return op.result

    def follow(self, region: Region, version: Value, exits: list[_End], trial: _Trial) -> _End:
        """The end of a region that is entered with a version."""
        end, now = region.terminator, version
        assert isinstance(end, Terminator)
        for op in region.ops[:-1]:
            if self.nesting.is_user(op, now):
                after = self.through(op, now, exits, trial)
                if after is None:
                    return end, None
                now = after
        return end, now

    def through_branches(
        self, op: If, version: Value, exits: list[_End], trial: _Trial
    ) -> Value | None:
        ends = [self.follow(region, version, exits, trial) for region in regions_of(op)]
        yields = _split_ends(ends, exits)
        reached = [(end, now) for end, now in yields if now is not None]
        if not reached:
            return None
        if all(now == version and version not in end.values for end, now in reached):
            return version
        return op.results[self.pass_on(yields, trial)]

    def through_loop(
        self, op: For | While, version: Value, exits: list[_End], trial: _Trial
    ) -> Value | None:
        """Through a value that a loop carries: two accumulators may have one initial value."""
        for position, init in enumerate(op.inits):
            attempt, leaving = trial.copy(), list[_End]()
            attempt.loops = trial.loops
            try:
                if init == version:
                    found = self.through_carried(op, position, leaving, attempt)
                    trial.take(attempt)
                    exits += leaving
                    return found
            except _NotAccumulatorError:
                continue
        raise _NotAccumulatorError

    def through_carried(
        self, op: For | While, position: int, exits: list[_End], trial: _Trial
    ) -> Value | None:
        if isinstance(op, For) and any(bound.shape for bound in (op.start, op.stop, op.step)):
            raise _NotAccumulatorError
        trial.use(op.inits[position])
        ends, own = list[_End](), list[_End]()
        trial.loops += 1
        if isinstance(op, While):
            ends.append(self.follow(op.test, trial.carry(op.test.args[position]), own, trial))
        carried = trial.carry(op.body.args[position - len(op.inits)])
        ends.append(self.follow(op.body, carried, own, trial))
        trial.loops -= 1
        trial.carry(op.orelse.args[position])
        paths = [*ends, *own]
        left = [each for each in paths if isinstance(each[0], Break)]
        self.pass_on([each for each in paths if each not in left], trial, position)
        left += _split_ends([self.exhausted(op, position, exits, trial)], exits)
        if all(now is None for _, now in left):
            return None
        return op.results[self.pass_on(left, trial)]

    def exhausted(self, op: For | While, position: int, exits: list[_End], trial: _Trial) -> _End:
        """The end of a loop without a `break`; a `while True` never reaches it."""
        test = op.test.terminator if isinstance(op, While) else None
        always = self.nesting.makers.get(test.condition) if isinstance(test, Condition) else None
        if isinstance(always, Constant) and always.value:
            assert isinstance(op.orelse.terminator, Terminator)
            return op.orelse.terminator, None
        return self.follow(op.orelse, op.orelse.args[position], exits, trial)

    def pass_on(self, ends: Sequence[_End], trial: _Trial, position: int | None = None) -> int:
        """The position at which all ends pass on the version that they have, or the one given."""
        positions = {position} if position is not None else set(range(len(ends[0][0].values)))
        for end, now in ends:
            if isinstance(end, Condition) and end.condition.shape:
                raise _NotAccumulatorError
            if now is not None:
                trial.use(now)
                positions &= {n for n, value in enumerate(end.values) if value == now}
        if not positions:
            raise _NotAccumulatorError
        found = min(positions)
        trial.dropped += tuple((end, found) for end, _ in ends)
        return found


def _split_ends(ends: Sequence[_End], exits: list[_End]) -> list[_End]:
    """The ends that go on behind an op; the others leave the loop around it."""
    exits += [each for each in ends if isinstance(each[0], Break | Continue)]
    return [each for each in ends if isinstance(each[0], Yield)]


def _may_accumulate(value: Value) -> bool:
    return len(value.shape) >= 2 and value.ty.dtype == F32

"""Assigns values of control flow to variables, so that `x = x + 1` is one variable in MSL too.

Carried values and results of control flow live in variables. A result reuses the variable of a
value that it continues (`if c: x = ...`), or of the carried value that it becomes, if the old value
is dead.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import For, If, Op, Region, Value, While, Yield, regions_of
from eas.msl.analysis.facts import Control, Facts, breaks_of, carried_by, is_trivial, left_with
from eas.msl.layout.layout import Layout
from eas.support.records import field, record

Targets = Sequence["int | None"]


@record
class Storage:
    """The number of the variable that each carried value and each result lives in."""

    facts: Facts
    layout: Layout
    numbers: dict[Value, int] = field(default_factory=dict[Value, int])
    holders: dict[int, list[Value]] = field(default_factory=dict[int, list[Value]])

    def assign(self, value: Value, number: int | None) -> None:
        """Assigns a value to a variable, a new one for None."""
        if number is None:
            number = len(self.holders)
        self.numbers[value] = number
        self.holders.setdefault(number, []).append(value)

    def fits(self, value: Value, number: int) -> bool:
        return all(holder.ty == value.ty for holder in self.holders[number])

    def is_apart(self, op: Control) -> bool:
        """Whether an op has a loop over elements of its own, and variables that are local to it."""
        domain = self.layout.domains.get(op.number)
        return domain is not None and not self.layout.is_even(domain.extent)

    def is_free(self, number: int, op: Op, inside: bool) -> bool:
        """Whether the values in a variable are dead after an op (and inside of it)."""
        facts = self.facts
        last = facts.positions[op.number] if inside else facts.ends[op.number]
        return all(
            use.position <= last
            for holder in self.holders[number]
            if self._is_before(holder, op)
            for use in facts.uses_of(holder)
        )

    def _is_before(self, value: Value, op: Op) -> bool:
        """Whether a value is defined before an op, and not by an op around it."""
        facts, place = self.facts, self.facts.positions[op.number]
        around = facts.definition(value)
        if (
            around is not None
            and facts.positions[around.number] < place <= facts.ends[around.number]
        ):
            return False
        is_argument = value in facts.owners
        return facts.born[value] < place or (is_argument and facts.born[value] == place)


def assign_storage(layout: Layout) -> Storage:
    storage = Storage(layout.facts, layout)
    _region(layout.facts.function.body, (), storage)
    return storage


def _region(region: Region, targets: Targets, storage: Storage) -> None:
    """Visits a region whose yielded values are assigned to variables."""
    wanted: dict[Value, int] = {}
    if isinstance(region.terminator, Yield) and targets:
        for value, target in zip(region.terminator.values, targets, strict=True):
            if target is not None:
                wanted.setdefault(storage.facts.resolve(value), target)
    here = set(region.args)
    for op in region.ops:
        if not isinstance(op, Control):
            continue
        if storage.is_apart(op):
            _control(op, {}, set(), storage)
        else:
            _control(op, wanted, here, storage)
            here.update(op.results)


def _control(op: Control, wanted: dict[Value, int], here: set[Value], storage: Storage) -> None:
    if isinstance(op, If):
        _branch(op, wanted, here, storage)
    else:
        _loop(op, wanted, here, storage)


def _branch(op: If, wanted: dict[Value, int], here: set[Value], storage: Storage) -> None:
    taken: set[int] = set()
    for place, result in enumerate(op.results):
        if result in storage.facts.aliases:
            continue
        choices = [*_continued(op, place, here, storage), *_destination(result, wanted, storage)]
        number = next((n for n in choices if _may_take(n, result, op, taken, storage)), None)
        storage.assign(result, number)
        taken.add(storage.numbers[result])
    targets = [storage.numbers.get(result) for result in op.results]
    for region in regions_of(op):
        _region(region, targets, storage)


def _may_take(number: int, result: Value, op: If, taken: set[int], storage: Storage) -> bool:
    if number in taken or not storage.fits(result, number):
        return False
    return storage.is_free(number, op, inside=False)


def _continued(op: If, place: int, here: set[Value], storage: Storage) -> list[int]:
    """The variables of values that a branch yields unchanged."""
    ends = [r.terminator for r in regions_of(op) if isinstance(r.terminator, Yield)]
    values = [storage.facts.resolve(end.values[place]) for end in ends]
    return [storage.numbers[v] for v in values if v in here and v in storage.numbers]


def _destination(result: Value, wanted: dict[Value, int], storage: Storage) -> list[int]:
    """The variable that a result is yielded to, if that is its only use."""
    number = wanted.get(result)
    if number is None or len(storage.facts.uses_of(result)) != 1:
        return []
    return [number]


def _loop(op: For | While, wanted: dict[Value, int], here: set[Value], storage: Storage) -> None:
    carried = carried_by(op)
    results = _results_by_carried(op, storage.facts)
    taken: set[int] = set()
    for place, value in enumerate(carried):
        choices = _initial(op, place, here, storage)
        if place in results:
            choices += _destination(results[place], wanted, storage)
        number = next((n for n in choices if _may_carry(n, value, op, taken, storage)), None)
        storage.assign(value, number)
        taken.add(storage.numbers[value])
    own = [storage.numbers[value] for value in carried]
    for argument, value in left_with(op):
        storage.assign(argument, storage.numbers[value])
    for result in op.results:
        if result not in storage.facts.aliases:
            place = next((p for p, r in results.items() if r is result), None)
            storage.assign(result, None if place is None else own[place])
    if isinstance(op, While):
        _region(op.test, (), storage)
    _region(op.body, own, storage)
    _region(op.orelse, [storage.numbers.get(result) for result in op.results], storage)


def _results_by_carried(op: For | While, facts: Facts) -> dict[int, Value]:
    """The results that are carried values, by position, unless a break gives another value."""
    end = op.orelse.terminator
    found: dict[int, Value] = {}
    if not isinstance(end, Yield) or (breaks_of(op) and not is_trivial(op.orelse)):
        return found
    carried, last = carried_by(op), dict(left_with(op))
    for result, value in zip(op.results, end.values, strict=True):
        if value in last and result not in facts.aliases:
            found.setdefault(carried.index(last[value]), result)
    return found


def _initial(op: For | While, place: int, here: set[Value], storage: Storage) -> list[int]:
    """The variable of the initial value of a carried value."""
    value = storage.facts.resolve(op.inits[place])
    return [storage.numbers[value]] if value in here and value in storage.numbers else []


def _may_carry(
    number: int, value: Value, op: For | While, taken: set[int], storage: Storage
) -> bool:
    if number in taken or not storage.fits(value, number):
        return False
    return storage.is_free(number, op, inside=True)

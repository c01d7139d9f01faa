"""The nesting of the ops of a function: their regions, loops and order."""

from __future__ import annotations

from eas.ir.nodes import (
    For,
    Function,
    Op,
    Region,
    Value,
    While,
    operands_of,
    regions_of,
    results_of,
)
from eas.ir.rewrite import exits_through
from eas.support.records import field, frozen, record


@frozen
class Place:
    """The position of an op in the text, the number of its region, and the owner of the region."""

    position: int
    region: int
    owner: Op | None


@record
class Nesting:
    """`makers` has the op that defines a value, `regions` the number of the region that does.

    `counts` has the number of uses of each value, `users` the ops that use it themselves or in
    their regions. `leaving` has, for each region, the ops in it that may leave the loop around it.
    """

    makers: dict[Value, Op] = field(default_factory=dict[Value, Op])
    regions: dict[Value, int] = field(default_factory=dict[Value, int])
    places: dict[int, Place] = field(default_factory=dict[int, Place])
    counts: dict[Value, int] = field(default_factory=dict[Value, int])
    users: dict[Value, set[int]] = field(default_factory=dict[Value, "set[int]"])
    leaving: dict[int, list[Op]] = field(default_factory=dict[int, "list[Op]"])

    def is_user(self, op: Op, value: Value) -> bool:
        """Whether an op, or one in its regions, uses a value."""
        return op.number in self.users.get(value, ())

    def position(self, op: Op) -> int:
        return self.places[op.number].position

    def around(self, op: Op, region: int) -> list[Op]:
        """An op and those around it, from the inside out, up to the one that lies in a region."""
        chain = [op]
        while self.places[chain[-1].number].region != region:
            owner = self.places[chain[-1].number].owner
            assert owner is not None, "the op is in no region of that one"
            chain.append(owner)
        return chain

    def may_leave_between(self, first: Op, last: Op) -> bool:
        """Whether the loop around two ops of a region may be left between them."""
        places = map(self.position, self.leaving.get(self.places[first.number].region, ()))
        return any(self.position(first) < place < self.position(last) for place in places)


def nesting_of(function: Function) -> Nesting:
    found = Nesting()
    _survey(found, function.body, ())
    return found


def _survey(found: Nesting, region: Region, owners: tuple[Op, ...]) -> None:
    number, owner = region.number, owners[-1] if owners else None
    found.regions |= dict.fromkeys(region.args, number)
    for op in region.ops:
        found.places[op.number] = Place(len(found.places), number, owner)
        around = (*owners, op)
        numbers = [each.number for each in around]
        for value in operands_of(op):
            found.counts[value] = found.counts.get(value, 0) + 1
            found.users.setdefault(value, set()).update(numbers)
        for value in results_of(op):
            found.makers[value] = op
            found.regions[value] = number
        if any(True for _ in exits_through(op)):
            found.leaving.setdefault(region.number, []).append(op)
        for inner in regions_of(op):
            _survey(found, inner, around)


def is_loop(op: Op) -> bool:
    return isinstance(op, For | While)

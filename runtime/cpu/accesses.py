"""Which arrays a loop over lanes touches, and what must not share the loop with it."""

from __future__ import annotations

from eas.ir.nodes import Atomic, Load, Op, Region, Store, Value, regions_of
from eas.ir.records import field, record


@record
class Accesses:
    """By the array's id: the offsets that are read, and those that are written."""

    reads: dict[int, set[Value]] = field(default_factory=dict[int, set[Value]])
    writes: dict[int, set[Value]] = field(default_factory=dict[int, set[Value]])

    def add(self, op: Op) -> None:
        for each in accesses_of(op):
            place = self.reads if isinstance(each, Load) else self.writes
            place.setdefault(each.pointer.id, set()).add(each.offset)

    def conflicts(self, op: Op) -> bool:
        """Whether a lane of `op` could meet another lane's access here.

        Two accesses with one and the same offset are each lane's own.
        """
        return any(self._conflicts(each) for each in accesses_of(op))

    def _conflicts(self, op: Load | Store | Atomic) -> bool:
        array = op.pointer.id
        others = set(self.writes.get(array, ()))
        if not isinstance(op, Load):
            others |= self.reads.get(array, set())
        return bool(others - ({op.offset} if op.offset.shape else set()))


def accesses_of(op: Op) -> list[Load | Store | Atomic]:
    """All accesses of an op and of its regions."""
    if isinstance(op, Load | Store | Atomic):
        return [op]
    return [each for region in regions_of(op) for each in _inside(region)]


def _inside(region: Region) -> list[Load | Store | Atomic]:
    return [each for op in region.ops for each in accesses_of(op)]

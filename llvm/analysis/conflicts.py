"""The memory accesses of a loop over lanes, and which other accesses conflict with them."""

from __future__ import annotations

from eas.ir.aliasing.conflicts import (
    Access,
    Guards,
    Touch,
    access_of,
    accesses_in,
    conflict,
)
from eas.ir.aliasing.lane_domains import Domain
from eas.ir.nodes import Atomic, Load, Op, Region, Store, regions_of
from eas.ir.types import Shape
from eas.llvm.analysis.facts import Facts
from eas.support.records import field, record, replace


@record
class Accesses:
    """The accesses of the lanes of a shape, by the array's id."""

    shape: Shape
    facts: Facts
    found: dict[int, list[Access]] = field(default_factory=dict[int, list[Access]])

    def add(self, op: Op) -> None:
        for each in accesses_of(op):
            self.found.setdefault(each.pointer.id, []).append(self._access(each))

    def conflicts(self, op: Op) -> bool:
        """Whether an access in `op` may conflict with another lane's access in this loop."""
        return any(map(self._conflicts, accesses_of(op)))

    def _conflicts(self, op: Load | Store | Atomic) -> bool:
        before = self.found.get(op.pointer.id)
        if before is None:
            return False
        access = self._access(op)
        return any(conflict(each, access, self.facts) for each in before)

    def _access(self, op: Load | Store | Atomic) -> Access:
        """An access. Atomics count as writes: a program's effects happen in order."""
        access = access_at(op, self.shape, self.facts)
        return replace(access, kind="write") if access.kind == "atomic" else access


def access_at(op: Load | Store | Atomic, shape: Shape, facts: Facts, guards: Guards = ()) -> Access:
    """The access of each lane of a shape. For one of another rank nothing is known."""
    lanes, offsets = Domain(shape), Domain(op.offset.shape)
    if offsets.extent != lanes.extent and len(offsets.shape) not in (0, len(shape)):
        found = access_of(op, offsets.indices, offsets.extent, facts)
        return replace(found, thread=None, form=None)
    return access_of(op, lanes.indices_of(offsets.shape), lanes.extent, facts, guards)


def touches_of(op: Op, shape: Shape, facts: Facts) -> list[Touch]:
    """The accesses in an op by the lanes of a shape, each with the loops around it."""
    return [
        Touch(each, access_at(each, shape, facts, around.guards), around.loops)
        for each, around in accesses_in(op)
    ]


def accesses_of(op: Op) -> list[Load | Store | Atomic]:
    """All accesses of an op and of its regions."""
    if isinstance(op, Load | Store | Atomic):
        return [op]
    return [each for region in regions_of(op) for each in _inside(region)]


def _inside(region: Region) -> list[Load | Store | Atomic]:
    return [each for op in region.ops for each in accesses_of(op)]

"""The order of a thread's programs: those that write to neighbouring memory follow each other."""

from __future__ import annotations

from eas.ir.nodes import Compute, Store, Value
from eas.llvm.analysis.facts import Facts
from eas.support.records import field, record


def is_along_y(facts: Facts) -> bool:
    """Whether neighbours along y write to neighbouring memory, and neighbours along x do not.

    A distance that is only known at launch, such as that of two rows of an array, counts as far.
    """
    stores = [op.offset for op in facts.ops.values() if isinstance(op, Store) and op.offset.shape]
    x, y = _Distances(facts, 0), _Distances(facts, 1)
    return bool(stores) and all(x.of(offset) is None and y.of(offset) for offset in stores)


@record
class _Distances:
    """By how much integers differ from those of the next program along an axis, where known."""

    facts: Facts
    axis: int
    found: dict[int, int | None] = field(default_factory=dict[int, "int | None"])

    def of(self, value: Value) -> int | None:
        if value.id not in self.found:
            op = self.facts.definitions.get(value.id)
            self.found[value.id] = self._of(op) if isinstance(op, Compute) else 0
        return self.found[value.id]

    def _of(self, op: Compute) -> int | None:
        name = op.op.name
        if name == "program_id":
            return int(op.attr("axis") == self.axis)
        parts = [self.of(operand) for operand in op.operands]
        if all(part == 0 for part in parts):
            return 0
        match name, parts:
            case "add", [int(a), int(b)]:
                return a + b
            case "sub", [int(a), int(b)]:
                return a - b
            case "mul", [int(a), int(b)]:
                factors = [self.facts.constant(operand) for operand in op.operands]
                known = [n * part for n, part in zip(factors, (b, a), strict=True) if n is not None]
                return int(known[0]) if known else None
            case _:
                return parts[0] if op.op.view or name in ("cast", "index") else None

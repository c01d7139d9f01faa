"""The order of a thread's programs: those that write to neighbouring memory follow each other."""

from __future__ import annotations

from eas.ir.aliasing.affine_forms import own_indices
from eas.ir.nodes import Compute, Store, Value
from eas.llvm.analysis.facts import Facts


def is_along_y(facts: Facts) -> bool:
    """Whether neighbours along y write to neighbouring memory, and neighbours along x do not.

    A distance that is only known at launch, such as that of two rows of an array, counts as far.
    """
    stores = [op.offset for op in facts.ops.values() if isinstance(op, Store) and op.offset.shape]
    x, y = _Distances(facts, 0), _Distances(facts, 1)
    return bool(stores) and all(x.of(offset) is None and y.of(offset) for offset in stores)


class _Distances:
    """By how much integers differ from those of the next program along an axis, where known."""

    def __init__(self, facts: Facts, axis: int) -> None:
        self.facts, self.axis = facts, axis
        self.forms = facts.distances
        self.found: dict[int, int | None] = {}

    def of(self, value: Value) -> int | None:
        """The sum of what the symbols of its affine form contribute."""
        form, total = self.forms.of(value, own_indices(value.shape)), 0
        symbols = [*form.shared.items(), *((v, times) for (v, _), times in form.unknown.items())]
        for symbol, times in symbols:
            distance = self._of_symbol(symbol)
            if distance is None:
                return None
            total += times * distance
        return total

    def _of_symbol(self, symbol: Value) -> int | None:
        if symbol.id not in self.found:
            op = self.facts.definitions.get(symbol.id)
            self.found[symbol.id] = self._of_op(op) if isinstance(op, Compute) else 0
        return self.found[symbol.id]

    def _of_op(self, op: Compute) -> int | None:
        if op.op.name == "program_id":
            return int(op.attr("axis") == self.axis)
        return 0 if all(self.of(operand) == 0 for operand in op.operands) else None

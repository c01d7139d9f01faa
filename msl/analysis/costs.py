"""The cost of rematerializing a value at another element."""

from __future__ import annotations

from eas.ir.nodes import Compute, Constant, Load, Value
from eas.msl.analysis.facts import Facts, is_pure
from eas.support.records import field, record

CHEAP = 16
INDEX = 8
_LOAD = 4
_EXPENSIVE = 16
_OTHERS = {"div": 4, "floordiv": 6, "mod": 6, "truncdiv": 6, "truncmod": 6, "clamp": 2, "fma": 2}
_BY_CONSTANT = {"floordiv": 3, "mod": 3, "truncdiv": 2, "truncmod": 2}
_LIGHT = {
    "add", "sub", "mul", "neg", "abs", "minimum", "maximum", "and", "or", "xor", "not", "shl",
    "shr", "lt", "le", "gt", "ge", "eq", "ne", "select", "index", "cast", "bitcast", "ceil",
    "floor", "round", "trunc", "isnan", "isinf", "isfinite",
}  # fmt: skip


def cost_of(op: Compute | Load, facts: Facts) -> int:
    """The cost of an op without its operands."""
    if isinstance(op, Load):
        return _LOAD
    name = op.op.name
    if op.op.view or op.op.position:
        return 0
    if name in _BY_CONSTANT and is_constant(op.operands[1], facts):
        return _BY_CONSTANT[name]
    return 1 if name in _LIGHT else _OTHERS.get(name, _EXPENSIVE)


def is_constant(value: Value, facts: Facts) -> bool:
    """A literal, or a block of equal literals."""
    op = facts.definition(facts.resolve(value))
    if isinstance(op, Compute) and op.op.view:
        return is_constant(op.operands[0], facts)
    return isinstance(op, Constant)


def operands_of_pure(op: Compute | Load) -> tuple[Value, ...]:
    """The operands that the result of a pure op depends on; of a load, not the pointer."""
    if isinstance(op, Compute):
        return op.operands
    return tuple(v for v in (op.offset, op.mask, op.other) if v is not None)


@record
class Costs:
    """`prices` has the cost of each block that can be rematerialized: of its whole tree of ops.

    Blocks that read memory which the kernel writes, and results of control flow, are missing.
    `loaded` has the blocks that read memory.
    """

    prices: dict[Value, int] = field(default_factory=dict[Value, int])
    loaded: set[Value] = field(default_factory=set[Value])

    def add(self, op: Compute | Load, facts: Facts) -> None:
        """Adds the result of an op; its operands have been added before."""
        operands = [facts.resolve(v) for v in operands_of_pure(op)]
        blocks = [v for v in operands if v.shape]
        if not is_pure(op, facts) or any(v not in self.prices for v in blocks):
            return
        self.prices[op.result] = cost_of(op, facts) + sum(self.prices[v] for v in blocks)
        if isinstance(op, Load) or any(v in self.loaded for v in blocks):
            self.loaded.add(op.result)

    def is_cheap(self, value: Value) -> bool:
        return self.prices.get(value, CHEAP + 1) <= CHEAP

    def is_index(self, value: Value) -> bool:
        """Whether a block is index arithmetic: a few ops on positions and uniform values."""
        return self.prices.get(value, INDEX + 1) <= INDEX and value not in self.loaded

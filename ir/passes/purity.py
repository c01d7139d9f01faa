"""What is known of an op before it runs: whether it is a constant, and whether it can fault."""

from __future__ import annotations

from collections.abc import Mapping

from eas.ir.nodes import Compute, Constant, Op

Literal = bool | int | float


def note_literal(op: Op, known: dict[int, Literal]) -> None:
    """Adds the op's result to the known literals, if it is one, or a block that repeats one."""
    if isinstance(op, Constant):
        known[op.result.id] = op.value
    elif isinstance(op, Compute) and op.op.view and op.operands[0].id in known:
        known[op.result.id] = known[op.operands[0].id]


def can_fault(op: Compute, known: Mapping[int, Literal]) -> bool:
    """Whether some operands make the op fault, as far as the known literals show."""
    fault = op.op.fault
    if fault is None:
        return False
    if not op.op.can_fault([value.ty for value in op.operands], dict(op.attrs)):
        return False
    if not fault.of_second or op.operands[1].id not in known:
        return True
    return fault.happens_for(known[op.operands[1].id], op.result.ty.dtype)

"""All-reduces: a reduction along an axis whose result every lane of that axis gets.

There is one for each reduction of `eas.ir.ops.reduce`, of the same kind (`OpDef.reduction`). The
result has the shape of the operand. `eas.msl.rewrites.all_reduce` makes them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.ir.nodes import Compute, Op
from eas.ir.ops.record import Array, Attrs, Meaning, OpDef, RuleError, TypeRule
from eas.ir.ops.reduce import REDUCE
from eas.ir.types import Type, make_type, shape_of
from eas.support.records import replace


def _typing(plain: OpDef) -> TypeRule:
    def rule(operands: Sequence[Type], attrs: Attrs) -> Type:
        if attrs["axis"] is None:
            raise RuleError("reduces one axis, not the whole block")
        return make_type(plain.typing(operands, attrs).dtype, shape_of(operands[0]))

    return rule


def _meaning(plain: OpDef) -> Meaning:
    def all_reduce(a: Array, *, axis: int) -> Array:
        reduced = np.expand_dims(plain.meaning(a, axis=axis), axis + 1)
        return np.broadcast_to(reduced, a.shape)

    return all_reduce


def _record(plain: OpDef) -> OpDef:
    return replace(
        plain,
        name=f"all_{plain.name}",
        typing=_typing(plain),
        meaning=_meaning(plain),
        doc=f"{plain.doc} along an axis, for every lane of it",
    )


ALL_REDUCE: dict[str, OpDef] = {plain.reduction: _record(plain) for plain in REDUCE}
"""The all-reduces by their kind."""

_RECORDS = frozenset(ALL_REDUCE.values())


def is_all_reduce(op: Op | None) -> bool:
    return isinstance(op, Compute) and op.op in _RECORDS

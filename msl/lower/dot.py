"""Products of matrices that simdgroups cannot do: each lane computes its element."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Compute
from eas.ir.types import F32
from eas.msl.cxx.spelling import converted
from eas.msl.cxx.tree import Node, Variable
from eas.msl.layout.layout import dot_indices, dot_symbol
from eas.msl.lower.lowering import Lowering
from eas.msl.ops.text import Text, call


def dot_lane(op: Compute, low: Lowering) -> Node:
    """Each lane adds up the products of its row and its column."""
    left, right, own = dot_indices(op, low.domain.indices_of(op.result.shape))
    total = Variable(op.result.hint or "sum", F32)
    low.declare(total, low.value(op.operands[2], own), op.loc)
    with low.counting(dot_symbol(op), loc=op.loc):
        factors = [
            _as_float(low.value(value, indices), low)
            for value, indices in zip(op.operands[:2], (left, right), strict=True)
        ]
        operands = [*factors, low.read(total)]
        low.assign([(total, low.node(F32, _fma, operands, scope=low.block))], op.loc)
    return low.read(total)


def _fma(texts: Sequence[Text]) -> Text:
    return call("fma", *texts)


def _as_float(node: Node, low: Lowering) -> Node:
    if node.dtype == F32:
        return node
    return low.node(F32, lambda texts: converted(texts[0], node.dtype, F32), [node])

"""The table of pure ops, one record each, by family."""

from __future__ import annotations

from collections.abc import Mapping

from eas.ir.ops.arithmetic import ARITHMETIC
from eas.ir.ops.math import MATH
from eas.ir.ops.matrix import MATRIX
from eas.ir.ops.random import RANDOM
from eas.ir.ops.record import OpDef, RuleError, TargetOpDef
from eas.ir.ops.reduce import REDUCE
from eas.ir.ops.shape import SHAPE
from eas.ir.ops.simdgroup import SIMDGROUP

OPS: dict[str, OpDef] = {
    op.name: op for op in (*ARITHMETIC, *MATH, *SHAPE, *REDUCE, *MATRIX, *RANDOM, *SIMDGROUP)
}

OpTable = Mapping[str, OpDef | TargetOpDef]
"""The ops that are legal somewhere, by name: `OPS`, or those and a target's own."""

__all__ = ["OPS", "OpDef", "OpTable", "RuleError", "TargetOpDef"]

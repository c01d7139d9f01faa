"""Which dtypes an op takes: its own record is asked."""

from __future__ import annotations

from typing import Any

from eas.ir.ops import OPS, OpDef, RuleError
from eas.ir.ops.matrix import sum_dtype
from eas.ir.types import BOOL, DTYPES, I32, Block, DType, Scalar, Type

# A block that suits every op but `dot`: whole simdgroups of threads.
_SHAPE = (32,)
_ATTRS: dict[str, Any] = {
    "axis": 0,
    "start": 0,
    "size": 32,
    "word": 0,
    "array": "a",
    "shape": (32,),
    "axes": (0,),
    "starts": (0,),
    "sizes": (32,),
    "steps": (1,),
}
# Operands whose dtype is not the op's to choose.
_FIXED = {"condition": BOOL, "lane": I32, "mask": I32}


def accepts(name: str, dtype: DType, target: DType | None = None) -> bool:
    """Whether the rule of an op holds for blocks of a dtype; a cast has a target as well."""
    op = OPS[name]
    attrs = {attr: _ATTRS.get(attr, target or dtype) for attr in op.attrs}
    try:
        op.typing(_operands(op, dtype), attrs)
    except RuleError:
        return False
    return True


def accepted(name: str) -> tuple[DType, ...]:
    return tuple(dtype for dtype in DTYPES.values() if accepts(name, dtype))


def _operands(op: OpDef, dtype: DType) -> list[Type]:
    if op.name == "dot":
        return [Block(dtype, (8, 8)), Block(dtype, (8, 8)), Block(sum_dtype(dtype), (8, 8))]
    if op.name == "splat":
        return [Scalar(dtype)]
    return [Block(_FIXED.get(operand, dtype), _SHAPE) for operand in op.operands]

"""The dtypes and shapes of element-wise expressions; the rules of each operation."""

from __future__ import annotations

from collections.abc import Mapping

from eas.ir.types import BOOL, I32, DType
from eas.septran.flat.affine import ONE, Affine
from eas.septran.flat.nodes import (
    Binary,
    BinaryKind,
    Buffer,
    Cast,
    Column,
    Const,
    Expr,
    Index,
    Iota,
    Operand,
    Select,
    Unary,
)

COMPARISONS: frozenset[BinaryKind] = frozenset(("lt", "le", "eq", "ne", "gt", "ge"))
_LOGICAL: frozenset[BinaryKind] = frozenset(("and", "or"))
_OF_FLOATS = frozenset(
    ("div", "pow", "exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "gelu",
     "sigmoid", "floor")
)  # fmt: skip


class OperandError(Exception):
    """Operands that do not go together."""


def dtype_of(expr: Expr, buffers: Mapping[str, Buffer]) -> DType:
    """The dtype of an expression; raises `OperandError` if its operands are of others."""
    match expr:
        case Operand() | Column():
            return buffers[expr.view.buffer].dtype
        case Const():
            return expr.dtype
        case Index() | Iota():
            return I32
        case Unary():
            return _unary_dtype(expr, dtype_of(expr.operand, buffers))
        case Binary():
            left, right = dtype_of(expr.left, buffers), dtype_of(expr.right, buffers)
            return _binary_dtype(expr.kind, left, right)
        case Select():
            _require(dtype_of(expr.condition, buffers).is_bool, "`select` wants a condition")
            yes, no = dtype_of(expr.yes, buffers), dtype_of(expr.no, buffers)
            _require(yes == no, f"`select` between {yes} and {no}")
            return yes
        case Cast():
            dtype_of(expr.operand, buffers)
            return expr.dtype


def shape_of(expr: Expr, target: tuple[Affine, ...]) -> tuple[Affine, ...]:
    """The shape of an atom of an expression, which is broadcast to the destination's."""
    match expr:
        case Operand():
            return expr.view.shape
        case Column():
            _require(expr.view.rank == 1, "`column` wants a view of one axis")
            return (*expr.view.shape, ONE)
        case Iota():
            _require(expr.axis < len(target), f"there is no axis {expr.axis} to count along")
            return ()
        case _:
            return ()


def _unary_dtype(expr: Unary, dtype: DType) -> DType:
    if expr.kind == "not":
        _require(dtype.is_bool, f"`not` of {dtype}")
    else:
        _require(not dtype.is_bool, f"`{expr.kind}` of bool")
        _require(dtype.is_float or expr.kind not in _OF_FLOATS, f"`{expr.kind}` of {dtype}")
    return dtype


def _binary_dtype(kind: BinaryKind, left: DType, right: DType) -> DType:
    _require(left == right, f"`{kind}` of {left} and {right}")
    if kind in _LOGICAL:
        _require(left.is_bool, f"`{kind}` of {left}")
        return BOOL
    if kind in COMPARISONS:
        return BOOL
    _require(not left.is_bool, f"`{kind}` of bool")
    _require(left.is_float or kind not in _OF_FLOATS, f"`{kind}` of {left}")
    return left


def _require(is_met: bool, message: str) -> None:
    if not is_met:
        raise OperandError(message)

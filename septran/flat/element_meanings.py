"""What element-wise expressions and reductions mean, in NumPy: the reference for every target."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any, TypeAlias

import numpy as np

from eas.ir.types import F32, DType
from eas.septran.flat.affine import Affine
from eas.septran.flat.nodes import (
    Binary,
    BinaryKind,
    Cast,
    Column,
    Const,
    Expr,
    Index,
    Iota,
    Operand,
    ReduceKind,
    Select,
    Unary,
    UnaryKind,
)

Array: TypeAlias = np.ndarray[Any, Any]


class ShapeError(Exception):
    """Shapes that do not fit together."""


def compute(
    expr: Expr,
    shape: tuple[int, ...],
    read: Callable[[Operand | Column], Array],
    evaluate: Callable[[Affine], int],
) -> Array:
    """The elements of an expression, to be broadcast to the shape of the destination."""

    def visit(expr: Expr) -> Array:
        match expr:
            case Operand() | Column():
                return read(expr)
            case Const():
                return np.asarray(expr.value, expr.dtype.numpy)
            case Index():
                return np.asarray(evaluate(expr.value), np.int32)
            case Iota():
                along = np.arange(shape[expr.axis], dtype=np.int32)
                return along.reshape((-1,) + (1,) * (len(shape) - expr.axis - 1))
            case Unary():
                return _rounded(UNARY[expr.kind], visit(expr.operand))
            case Binary():
                return _rounded(BINARY[expr.kind], visit(expr.left), visit(expr.right))
            case Select():
                return np.where(visit(expr.condition), visit(expr.yes), visit(expr.no))
            case Cast():
                return convert(visit(expr.operand), expr.dtype)

    with np.errstate(all="ignore"):
        return visit(expr)


def convert(values: Array, dtype: DType) -> Array:
    """Values in another dtype, rounded; floats lose their fraction on the way to integers."""
    with np.errstate(all="ignore"):
        return values.astype(dtype.numpy)


def padded(source: Array, shape: tuple[int, ...], fill: float | int | None, dtype: DType) -> Array:
    """What a copy to a shape writes: the source, and the fill beyond the source's extents."""
    moved = convert(source, dtype)
    if moved.shape == shape:
        return moved
    fits = all(have <= want for have, want in zip(moved.shape, shape, strict=True))
    if fill is None or not fits:
        raise ShapeError(f"copies a shape of {moved.shape} to one of {shape}")
    filled: Array = np.full(shape, fill, dtype.numpy)
    filled[tuple(slice(extent) for extent in moved.shape)] = moved
    return filled


def multiply(held: Array, left: Array, right: Array, transposed: str, dtype: DType) -> Array:
    """The destination of a product: what it held, and the product of two matrices."""
    left = left.T if "a" in transposed else left
    right = right.T if "b" in transposed else right
    if (left.shape[0], right.shape[1]) != held.shape or left.shape[1] != right.shape[0]:
        shapes = f"{left.shape} @ {right.shape}"
        raise ShapeError(f"adds a product of {shapes} to a shape of {held.shape}")
    wide = accumulator(dtype).numpy
    product = left.astype(wide) @ right.astype(wide)
    return (held.astype(wide) + product).astype(dtype.numpy)


def reduce_along(kind: ReduceKind, held: Array, source: Array, axis: int, dtype: DType) -> Array:
    """The destination of a reduction: what it held, and all elements along an axis."""
    wide = accumulator(dtype).numpy
    values = source.astype(wide)
    keeps_axis = held.ndim == source.ndim
    nothing = identity(kind, dtype)  # of an axis without elements
    total = _REDUCE[kind].reduce(
        values, axis=axis, keepdims=keeps_axis, dtype=wide, initial=nothing
    )
    return _REDUCE[kind](held.astype(wide), total).astype(dtype.numpy)


def accumulator(dtype: DType) -> DType:
    """What products and sums are accumulated in."""
    return F32 if dtype.is_float and dtype.bits == 16 else dtype


def _rounded(function: Callable[..., Array], *operands: Array) -> Array:
    """A function of 16-bit floats is computed in f32 and rounded once."""
    dtype = operands[0].dtype
    if dtype.kind not in "fV" or dtype.itemsize != 2:
        return function(*operands)
    result = function(*(operand.astype(np.float32) for operand in operands))
    return result if result.dtype == np.bool_ else result.astype(dtype)


def _erf(values: Array) -> Array:
    flat = [erf(float(value)) for value in values.ravel()]
    return np.asarray(flat, values.dtype).reshape(values.shape)


def _gelu(values: Array) -> Array:
    half, one = values.dtype.type(0.5), values.dtype.type(1)
    return half * values * (one + _erf(values * values.dtype.type(0.5**0.5)))


def _sigmoid(values: Array) -> Array:
    one = values.dtype.type(1)
    return one / (one + np.exp(-values))


def _rsqrt(values: Array) -> Array:
    return values.dtype.type(1) / np.sqrt(values)


UNARY: dict[UnaryKind, Callable[[Array], Array]] = {
    "neg": np.negative,
    "not": np.logical_not,
    "abs": np.abs,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "erf": _erf,
    "gelu": _gelu,
    "sigmoid": _sigmoid,
    "floor": np.floor,
}
BINARY: dict[BinaryKind, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "pow": np.power,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "and": np.logical_and,
    "or": np.logical_or,
}
_REDUCE: dict[ReduceKind, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
IDENTITY: dict[ReduceKind, float] = {"add": 0.0, "mul": 1.0, "max": -np.inf, "min": np.inf}


def identity(kind: ReduceKind, dtype: DType) -> float | int:
    """What a reduction begins with: of integers the extreme ones, which have no infinity."""
    if dtype.is_float:
        return IDENTITY[kind]
    return {"add": 0, "mul": 1, "max": dtype.min, "min": dtype.max}[kind]

"""What an expression of a leaf can be: blocks, products, tensors; and how blocks go together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from eas.ir.rounding import fits
from eas.ir.types import F32, DType, from_numpy
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import (
    Binary,
    Cast,
    Column,
    Const,
    Expr,
    Iota,
    Operand,
    Select,
    Transposed,
    Unary,
    View,
    views_in,
)
from eas.septran.flat.ranges import is_same
from eas.support.records import frozen


class BlockError(Exception):
    """Blocks that do not go together; whoever reads the expression says where."""

    def __init__(self, message: str, *help: str) -> None:
        super().__init__(message)
        self.help = help


@frozen
class LeafTensor:
    """A tensor argument of a leaf: where it lies, and what it holds."""

    view: View
    dtype: DType


LeafArgument: TypeAlias = LeafTensor | Affine | float


@frozen
class Block:
    """An expression over a block: its elements, their dtype (None for a literal), its shape."""

    expr: Expr
    dtype: DType | None
    shape: tuple[Affine, ...] = ()


@frozen
class Product:
    """`A @ B`, which only a statement can hold: it is added to a tile."""

    left: View
    right: View
    transposed: Transposed
    dtypes: tuple[DType, DType]
    shape: tuple[Affine, ...]


@frozen
class Transposed2D:
    """`A.T`, in front of or behind an `@`."""

    tensor: LeafTensor


def promote(left: Block, right: Block) -> DType | None:
    """The dtype of two operands: a literal takes the other's, a float wins, the wider wins."""
    if left.dtype is None or right.dtype is None:
        literal, dtype = (left, right.dtype) if left.dtype is None else (right, left.dtype)
        is_fraction = isinstance(literal.expr, Const) and isinstance(literal.expr.value, float)
        return F32 if is_fraction and dtype is not None and dtype.is_int else dtype
    return promote_dtypes(left.dtype, right.dtype)


def promote_dtypes(left: DType, right: DType) -> DType:
    """The dtype that holds what two others hold; of integers and floats, the float."""
    if left is right:
        return left
    if left.is_float != right.is_float:
        return left if left.is_float else right
    if left.is_float:
        return F32 if left.bits == right.bits == 16 else max(left, right, key=lambda d: d.bits)
    common = from_numpy(np.promote_types(left.numpy, right.numpy))
    if common is None or common.is_float:
        raise BlockError(f"no integer holds what {left} and {right} hold")
    return common


def convert(block: Block, dtype: DType) -> Block:
    """A block as one of another dtype; a literal must be one of its numbers."""
    if block.dtype is dtype:
        return block
    if isinstance(block.expr, Const):
        return Block(Const(literal_as(block.expr.value, dtype), dtype), dtype, block.shape)
    if block.dtype is None and dtype is F32:
        return Block(block.expr, dtype, block.shape)
    return Block(Cast(dtype, block.expr), dtype, block.shape)


def literal_as(value: float | int | bool, dtype: DType) -> float | int | bool:
    """A literal as a number of a dtype."""
    if dtype.is_float:
        if not fits(value, dtype):
            raise BlockError(f"{value} does not fit into {dtype}")
        return float(value)
    if value != value or abs(value) == float("inf") or value != int(value):
        raise BlockError(f"{value} is no number of {dtype}")
    if not dtype.min <= int(value) <= dtype.max:
        raise BlockError(f"{value} does not fit into {dtype}")
    return bool(value) if dtype.is_bool else int(value)


def check_storable(dtype: DType | None, target: DType) -> None:
    """Elements that would lose more than rounding are not stored: floats as integers."""
    if dtype is None or dtype is target or target.is_float:
        return
    if dtype.is_float or target.is_bool:
        help = "say how with `mk.cast(x, mk.i32)`"
        raise BlockError(f"{dtype} is stored in a tensor of {target}", help)


def check_product(target: DType, left: DType, right: DType) -> None:
    """The factors of a product hold the same, and so does its sum: floats, or integers."""
    if left is not right:
        raise BlockError(f"the factors of a product hold {left} and {right}")
    if left.is_bool or left.is_float != target.is_float:
        wanted = "f32" if left.is_float else "i32"
        raise BlockError(
            f"a product of {left} is stored in a tensor of {target}",
            f'add it to a tensor of {wanted}: an argument, or `task.local("sum", shape,'
            f' dtype="{wanted}")` of the task that launches this one',
        )


def broadcast(a: tuple[Affine, ...], b: tuple[Affine, ...]) -> tuple[Affine, ...]:
    """The shape of two blocks together, as in NumPy."""
    rank, one = max(len(a), len(b)), affine(1)
    first, second = (one,) * (rank - len(a)) + a, (one,) * (rank - len(b)) + b
    for left, right in zip(first, second, strict=True):
        if not is_same(left, right) and one not in (left, right):
            message = f"blocks of {shown(a)} and {shown(b)} do not broadcast"
            raise BlockError(message, *_about_columns(a, b))
    return tuple(r if left == one else left for left, r in zip(first, second, strict=True))


def _about_columns(a: tuple[Affine, ...], b: tuple[Affine, ...]) -> tuple[str, ...]:
    """What to write if one block has an element for each row of the other."""
    vector, block = sorted((a, b), key=len)
    if len(vector) != 1 or len(block) != 2 or not is_same(vector[0], block[0]):
        return ()
    return (f"write `x[:, None]` for the block of {shown(vector)}: an element for each row",)


def reads_buffer(expr: Expr, buffer: str) -> bool:
    return any(view.buffer == buffer for view in views_in(expr))


def shown(shape: tuple[Affine, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def as_column(expr: Expr) -> Expr:
    """An expression over one axis, as one over rows: its axis is the next to last."""
    match expr:
        case Operand(view) if view.rank == 1:
            return Column(view)
        case Iota():
            return Iota(-2)
        case _:
            return _rebuilt(expr, as_column)


def column_of(vector: Block) -> Block:
    """`v[:, None]`: an element for each row."""
    return Block(as_column(vector.expr), vector.dtype, (*vector.shape, affine(1)))


def row_of(block: Block) -> Block:
    """`v[None, :]`: the same for each index of a new first axis."""
    return Block(block.expr, block.dtype, (affine(1), *block.shape))


def with_axes(expr: Expr, rank: int) -> Expr:
    """An expression whose positions count the axes of the destination."""
    if isinstance(expr, Iota):
        return Iota(expr.axis + rank if expr.axis < 0 else expr.axis)
    return _rebuilt(expr, lambda each: with_axes(each, rank))


def _rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    match expr:
        case Unary(kind, operand):
            return Unary(kind, change(operand))
        case Cast(dtype, operand):
            return Cast(dtype, change(operand))
        case Binary(kind, left, right):
            return Binary(kind, change(left), change(right))
        case Select(condition, yes, no):
            return Select(change(condition), change(yes), change(no))
        case _:
            return expr

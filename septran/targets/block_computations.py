"""What a block program computes: copies, maps, reductions and products of tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import le

from eas.ir import nodes as ir
from eas.ir.types import I32
from eas.septran.flat.affine import affine
from eas.septran.flat.element_meanings import accumulator, identity
from eas.septran.flat.nodes import (
    Binary,
    BinaryKind,
    Cast,
    Column,
    Const,
    Copy,
    Expr,
    Fill,
    Index,
    Iota,
    Map,
    Mma,
    Operand,
    Reduce,
    ReduceKind,
    Select,
    Start,
    Unary,
    View,
    operands_of,
)
from eas.septran.targets.block_tiles import BlockError, Shape, Tiles
from eas.support.records import replace

_UNARY = frozenset(
    ("neg", "not", "abs", "exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf")
) | {"sigmoid", "floor"}
_BINARY: dict[BinaryKind, str] = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "max": "maximum",
    "min": "minimum",
    "pow": "pow",
    "lt": "lt",
    "le": "le",
    "eq": "eq",
    "ne": "ne",
    "gt": "gt",
    "ge": "ge",
    "and": "and",
    "or": "or",
}
_REDUCE: dict[ReduceKind, tuple[str, str]] = {
    "add": ("reduce_sum", "add"),
    "mul": ("reduce_prod", "mul"),
    "max": ("reduce_max", "maximum"),
    "min": ("reduce_min", "minimum"),
}


def write_copy(tiles: Tiles, stmt: Copy | Start) -> None:
    """A copy, with the fill beyond the source's true extents."""
    fill = stmt.fill or 0.0
    axes = range(stmt.target.rank)
    tile = tiles.common_tile(stmt, stmt.target, [(stmt.source, axes)])
    value = tiles.read(stmt.source, tile, fill, stmt)
    if stmt.source.buffer in tiles.held and stmt.fill is not None:
        value = tiles.inside(value, stmt.source.shape, axes, fill)
    tiles.write(stmt.target, value, stmt)


def write_fill(tiles: Tiles, stmt: Fill) -> None:
    """A number in all elements of a view."""
    tile = tiles.tile(stmt.target)
    number = tiles.constant(stmt.value, tiles.dtypes[stmt.target.buffer])
    tiles.write(stmt.target, tiles.splat(number, tile), stmt)


def write_map(tiles: Tiles, stmt: Map) -> None:
    """An element-wise expression."""
    rank = stmt.target.rank
    uses = [
        (view, [rank - 2] if is_column else range(rank - view.rank, rank))
        for view, is_column in _operands(stmt.value)
    ]
    tile = tiles.common_tile(stmt, stmt.target, uses)
    value = _expression(tiles, stmt.value, tile, stmt)
    tiles.write(stmt.target, tiles.full(value, tile), stmt)


def _expression(tiles: Tiles, expr: Expr, tile: Shape, stmt: Map) -> ir.Value:
    """The value of an expression. What is computed of columns only is computed once for each row,
    as where it is no column: `cse` finds both equal.
    """
    if not _is_of_columns(expr):
        return _value(tiles, expr, tile, stmt)
    rows = _value(tiles, expr, tile, stmt)
    return tiles.with_axes(rows, [len(rows.shape)])


def _is_of_columns(expr: Expr) -> bool:
    match expr:
        case Column():
            return True
        case Operand() | Const() | Index() | Iota():
            return False
        case _:
            parts = [each for each in operands_of(expr) if not isinstance(each, Const)]
            return bool(parts) and all(map(_is_of_columns, parts))


def _value(tiles: Tiles, expr: Expr, tile: Shape, stmt: Map) -> ir.Value:
    part = _value if _is_of_columns(expr) else _expression
    match expr:
        case Operand(view):
            axes = range(len(tile) - view.rank, len(tile))
            return tiles.read(view, _operand_tile(tiles, view, axes, tile, stmt), 0.0, stmt)
        case Column(view):
            axes = [len(tile) - 2]
            return tiles.read(view, _operand_tile(tiles, view, axes, tile, stmt), 0.0, stmt)
        case Const(value, dtype):
            return tiles.build.constant(value, dtype)
        case Index(value):
            return tiles.cast(tiles.scalar(value), I32)
        case Iota(axis):
            return tiles.cast(tiles.along(tile, axis), I32)
        case Cast(dtype, operand):
            return tiles.cast(part(tiles, operand, tile, stmt), dtype)
        case Unary(kind, operand):
            return _unary(tiles, kind, part(tiles, operand, tile, stmt))
        case Binary(kind, left, right):
            a, b = (part(tiles, each, tile, stmt) for each in (left, right))
            return tiles.build.compute(_BINARY[kind], *_same_shape(tiles, a, b))
        case Select(condition, yes, no):
            parts = [part(tiles, each, tile, stmt) for each in (condition, yes, no)]
            return tiles.build.compute("select", *_same_shape(tiles, *parts))


def _operand_tile(
    tiles: Tiles, view: View, axes: Sequence[int], tile: Shape, stmt: Map | Reduce
) -> Shape:
    """The tile of an operand: along an axis of the target's extent, the target's."""
    own = tiles.tile(view)
    if view.buffer in tiles.held:
        return own
    target = stmt.target.shape
    return tuple(
        tile[axis] if 0 <= axis < len(target) and extent == target[axis] else full
        for axis, extent, full in zip(axes, view.shape, own, strict=True)
    )


def _same_shape(tiles: Tiles, *values: ir.Value) -> list[ir.Value]:
    rank = max(len(value.shape) for value in values)
    shapes = [(1,) * (rank - len(value.shape)) + value.shape for value in values]
    shape = tuple(map(max, *shapes)) if rank else ()
    return [tiles.full(value, shape) for value in values]


def _unary(tiles: Tiles, kind: str, value: ir.Value) -> ir.Value:
    if kind in _UNARY:
        return tiles.build.compute(kind, value)
    assert kind == "gelu"

    def number(x: float) -> ir.Value:
        return tiles.splat(tiles.build.constant(x, value.ty.dtype), value.shape)

    inner = tiles.build.compute("mul", value, number(math.sqrt(0.5)))
    grown = tiles.build.compute("add", tiles.build.compute("erf", inner), number(1.0))
    half = tiles.build.compute("mul", number(0.5), value)
    return tiles.build.compute("mul", half, grown)


def write_reduction(tiles: Tiles, stmt: Reduce) -> None:
    """A reduction along an axis, combined with what the target holds."""
    keeps_axis = stmt.target.rank == stmt.source.rank
    after = 0 if keeps_axis else 1
    axes = [n - (after if n > stmt.axis else 0) for n in range(stmt.source.rank)]
    axes[stmt.axis] = -1  # the target has no extent of it
    target_tile = tiles.common_tile(stmt, stmt.target, [(stmt.source, axes)])
    tile = _operand_tile(tiles, stmt.source, axes, target_tile, stmt)
    begin = identity(stmt.kind, tiles.dtypes[stmt.source.buffer])
    source = tiles.read(stmt.source, tile, begin, stmt)
    dtype = accumulator(source.ty.dtype)
    wide = tiles.cast(source, dtype)
    wide = tiles.inside(wide, stmt.source.shape, [stmt.axis], begin)
    name, combine = _REDUCE[stmt.kind]
    total = tiles.cast(tiles.build.compute(name, wide, axis=stmt.axis), dtype)
    if total.shape != target_tile:
        total = tiles.build.compute("reshape", total, shape=target_tile)
    held = tiles.cast(tiles.read(stmt.target, target_tile, 0.0, stmt), dtype)
    tiles.write(stmt.target, tiles.build.compute(combine, held, total), stmt)


def write_product(tiles: Tiles, stmt: Mma) -> None:
    """A matrix product, added to what the target holds."""
    outer = [
        (stmt.left, (-1, 0) if "a" in stmt.transposed else (0, -1)),
        (stmt.right, (1, -1) if "b" in stmt.transposed else (-1, 1)),
    ]
    m, n = target_tile = tiles.common_tile(stmt, stmt.target, outer)
    sides = ((stmt.left, "a" in stmt.transposed, 1), (stmt.right, "b" in stmt.transposed, 0))
    depths = [
        tiles.tile(view)[1 - axis if is_transposed else axis] for view, is_transposed, axis in sides
    ]
    fixed = [
        depth for depth, side in zip(depths, sides, strict=True) if side[0].buffer in tiles.held
    ]
    k = fixed[0] if fixed else max(depths)
    if any(each != k for each in fixed):
        raise BlockError(f"factors in registers have tiles of depth {fixed}", stmt)
    left = _factor(tiles, stmt, stmt.left, sides[0][1], (m, k), 1)
    right = _factor(tiles, stmt, stmt.right, sides[1][1], (k, n), 0)
    wide = accumulator(left.ty.dtype)
    held = tiles.cast(tiles.read(stmt.target, target_tile, 0.0, stmt), wide)
    if left.ty.dtype != right.ty.dtype:
        left, right = tiles.cast(left, wide), tiles.cast(right, wide)
    tiles.write(stmt.target, tiles.build.compute("dot", left, right, held), stmt)


def _factor(
    tiles: Tiles, stmt: Mma, view: View, is_transposed: bool, wanted: Shape, depth_axis: int
) -> ir.Value:
    """A factor of a product, with zeros beyond the depth that is summed over."""
    axis = 1 - depth_axis if is_transposed else depth_axis
    tile = wanted[::-1] if is_transposed else wanted
    room = tiles.shapes[view.buffer]
    if tiles.padded.get(view.buffer) == view.shape and all(map(le, tile, room)):
        view = replace(view, extents=tuple(map(affine, tile)))  # zeros are there already
    value = tiles.read(view, tile, 0.0, stmt)
    if view.buffer in tiles.held:
        value = tiles.inside(value, view.shape, [axis], 0.0)
    return tiles.build.compute("permute", value, axes=(1, 0)) if is_transposed else value


def _operands(expr: Expr) -> list[tuple[View, bool]]:
    """The views that an expression reads, and whether each is a column."""
    match expr:
        case Operand(view):
            return [(view, False)]
        case Column(view):
            return [(view, True)]
        case Cast(operand=operand) | Unary(operand=operand):
            return _operands(operand)
        case Binary(left=left, right=right):
            return [*_operands(left), *_operands(right)]
        case Select(condition, yes, no):
            return [pair for each in (condition, yes, no) for pair in _operands(each)]
        case Const() | Index() | Iota():
            return []

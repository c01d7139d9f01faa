"""Ops for products of matrices by simdgroups, whose accumulators lie in 8x8 fragments.

`eas.msl.rewrites.dot_to_mma` makes these ops of each `dot` whose extents are multiples of 8. They
work on memory from `Alloc`:

| space | memory | elements |
|---|---|---|
| `register` | an accumulator: the fragments of all simdgroups | a block of f32, row by row |
| `tile` | a matrix in threadgroup memory; one or two buffers of it | a block, row by row |
| `register` | a parity: how many trips have filled double-buffered tiles | one i32 |

An accumulator begins with zeros (`mma_zero`) or with a tile (`mma_load`). `mma_store` writes a
matrix to a tile, `mma` adds the product of two tiles to an accumulator, `mma_epilogue` gives the
block. Where a loop carries a block to which it only adds products, `mma_zero` and `mma_epilogue`
stand around the loop and the accumulator stays in registers. `mma_scaled` multiplies the
accumulator first: by a number, or by one for each row.

**Software pipelining.** In such a loop tiles may be double buffered. A trip loads its matrices to
registers (`mma_prefetch`), adds the product of the tiles that the trip before has filled
(`mma_pipelined`), then fills the other buffers (`mma_store_slot`) and counts (`mma_parity_flip`).
`mma_parity_start` is before the loop. After it, an `mma_pipelined` adds the last product; it adds
nothing if no trip has filled the tiles.

**In place.** A factor that a kernel has in a threadgroup array of its own is not copied to a tile:
`mma_in_place` and `mma_scaled_in_place` take the array, the offset of the matrix in it, and how far
apart its rows are. For a factor in a tile this distance is 0.

How fragments are spread over simdgroups, and how long the rows of a tile are, is not decided here:
layout decides it. A `dot` with other extents stays as it is: each lane computes its element.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from eas.ir.aliasing.affine_forms import Form, own_indices
from eas.ir.nodes import Compute, TargetOp, Value
from eas.ir.ops.record import Array, Attrs, RuleError, TargetOpDef
from eas.ir.types import F32, I32, Block, DType, Pointer, Scalar, Shape, Space, Type
from eas.support.records import frozen

EDGE = 8
"""The rows and the columns of a fragment."""

ROLES = ("left", "right", "factor", "start")
"""What a tile is for: a factor of a product, the factors of rows, the start of an accumulator."""

_STRIP_BYTES = 8192
_PRODUCT = ("shape", "k", "transposed")


def _check(ty: Type, space: Space, dtypes: tuple[DType, ...], what: str) -> None:
    if not isinstance(ty, Pointer) or ty.space != space or ty.dtype not in dtypes:
        names = " or ".join(dtype.name for dtype in dtypes)
        raise RuleError(f"takes {names} in {space} memory as {what}, not {ty}")


def _check_accumulator(ty: Type) -> None:
    _check(ty, "register", (F32,), "the accumulator")


def _check_parity(ty: Type) -> None:
    _check(ty, "register", (I32,), "the parity")


def _check_matrix(tile: Type, a: Type) -> None:
    if not isinstance(a, Block):
        raise RuleError(f"takes a block, not {a}")
    _check(tile, "tile", (a.dtype,), "the tile")


def _zero_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    _shape(attrs)
    _check_accumulator(operands[0])


def _load_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    _zero_rule(operands, attrs)
    _check(operands[1], "tile", (F32,), "the tile")


def _prefetch_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    del attrs
    if not isinstance(operands[0], Block):
        raise RuleError(f"takes a block, not {operands[0]}")


def _store_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    if attrs["role"] not in ROLES:
        raise RuleError(f"has the role {attrs['role']!r}, which is none of {', '.join(ROLES)}")
    _check_matrix(operands[0], operands[1])


def _store_slot_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    _store_rule(operands, attrs)
    _check_parity(operands[2])


def _check_product(operands: Sequence[Type], attrs: Attrs) -> None:
    if len(attrs["transposed"]) != 2 or attrs["k"] % EDGE:
        raise RuleError("takes tiles whose extents are multiples of 8, each transposed or not")
    _zero_rule(operands, attrs)


def _multiply_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    _check_product(operands, attrs)
    left, right = operands[1:3]
    _check(left, "tile", (left.dtype,), "the left factor")
    _check(right, "tile", (left.dtype,), "the right factor")


def _scaled_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    _multiply_rule(operands, attrs)
    _check_scale(operands[3])


def _check_scale(ty: Type) -> None:
    if ty != Scalar(F32):
        _check(ty, "tile", (F32,), "the factors of rows")


def _pipelined_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    _multiply_rule(operands, attrs)
    _check_parity(operands[3])
    if len(attrs["buffers"]) != 2 or not set(attrs["buffers"]) <= {1, 2}:
        raise RuleError("takes tiles of one or two buffers")


def _in_place_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    accumulator, left, _, right, _ = operands[:5]
    _check_product((accumulator, left, right), attrs)
    if len(attrs["lengths"]) != 2 or not any(attrs["lengths"]):
        raise RuleError("takes the lengths of both factors' rows, of which one is not 0")
    for place, length in enumerate(attrs["lengths"]):
        factor, offset = operands[1 + 2 * place : 3 + 2 * place]
        space: Space = "threadgroup" if length else "tile"
        _check(factor, space, (left.dtype,), f"the {ROLES[place]} factor")
        if offset != Scalar(I32):
            raise RuleError(f"takes an i32 as an offset, not {offset}")
        if length and length < _stored_shape(attrs, place)[-1]:
            raise RuleError("takes rows that do not overlap")


def _scaled_in_place_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    _in_place_rule(operands, attrs)
    _check_scale(operands[5])


def _parity_rule(operands: Sequence[Type], attrs: Attrs) -> None:
    del attrs
    _check_parity(operands[0])


def _epilogue_rule(operands: Sequence[Type], attrs: Attrs) -> Type:
    _zero_rule(operands, attrs)
    return Block(F32, _shape(attrs))


def _shape(attrs: Attrs) -> Shape:
    """The shape of an accumulator: that of the block that it becomes."""
    shape: Shape = attrs["shape"]
    if len(shape) not in (2, 3) or any(extent % EDGE for extent in shape[-2:]):
        raise RuleError("takes matrices, or a batch of them, whose extents are multiples of 8")
    return shape


def _stored_shape(attrs: Attrs, place: int) -> Shape:
    """The shape of a factor as it lies in memory: if it is transposed, with its axes swapped."""
    *batch, m, n = _shape(attrs)
    rows, columns = ((m, attrs["k"]), (attrs["k"], n))[place]
    is_transposed = attrs["transposed"][place]
    return (*batch, columns, rows) if is_transposed else (*batch, rows, columns)


def _zero(accumulator: Array, *, shape: Shape) -> Array:
    del shape
    return np.zeros_like(accumulator)


def _load(accumulator: Array, tile: Array, *, shape: Shape) -> Array:
    del accumulator, shape
    return tile


def _prefetch(a: Array) -> None:
    del a


def _store(tile: Array, a: Array, *, role: str) -> Array:
    del role
    return np.broadcast_to(a.reshape(len(a), -1), tile.shape)


def _store_slot(tile: Array, a: Array, parity: Array, *, role: str) -> Array:
    buffers = tile.reshape(len(tile), 2, -1)
    stored = _store(buffers[:, 0], a, role=role)[:, None]
    is_slot = np.arange(2) == parity % 2
    return np.where(is_slot[:, :, None], stored, buffers).reshape(tile.shape)


def _product(left: Array, right: Array, shape: Shape, k: int, transposed: tuple[int, int]) -> Array:
    """The product of two tiles, as an accumulator has it."""
    *batch, m, n = shape
    a = _matrix(left, (*batch, m, k), bool(transposed[0]))
    b = _matrix(right, (*batch, k, n), bool(transposed[1]))
    return np.matmul(a, b).reshape(len(left), -1)


def _matrix(tile: Array, shape: Shape, is_transposed: bool) -> Array:
    """The factor of some shape that lies in a tile, perhaps transposed."""
    *batch, rows, columns = shape
    stored = (columns, rows) if is_transposed else (rows, columns)
    matrix = tile.reshape(len(tile), *batch, *stored).astype(F32.numpy)
    return np.swapaxes(matrix, -1, -2) if is_transposed else matrix


def _multiply(
    accumulator: Array,
    left: Array,
    right: Array,
    *,
    shape: Shape,
    k: int,
    transposed: tuple[int, int],
) -> Array:
    return _product(left, right, shape, k, transposed) + accumulator


def _scaled(
    accumulator: Array,
    left: Array,
    right: Array,
    factor: Array,
    *,
    shape: Shape,
    k: int,
    transposed: tuple[int, int],
) -> Array:
    scaled = _scale_rows(accumulator, factor, shape)
    return _product(left, right, shape, k, transposed) + scaled


def _scale_rows(accumulator: Array, factor: Array, shape: Shape) -> Array:
    rows = accumulator.reshape(len(accumulator), -1, shape[-1])
    return (rows * factor.reshape(len(factor), -1, 1)).reshape(accumulator.shape)


def _in_place(
    accumulator: Array,
    left: Array,
    left_offset: Array,
    right: Array,
    right_offset: Array,
    **attrs: Any,
) -> Array:
    lengths, shapes = attrs["lengths"], [_stored_shape(attrs, place) for place in (0, 1)]
    a = _gather(left, left_offset, lengths[0], shapes[0]) if lengths[0] else left
    b = _gather(right, right_offset, lengths[1], shapes[1]) if lengths[1] else right
    return _product(a, b, attrs["shape"], attrs["k"], attrs["transposed"]) + accumulator


def _scaled_in_place(
    accumulator: Array,
    left: Array,
    left_offset: Array,
    right: Array,
    right_offset: Array,
    factor: Array,
    **attrs: Any,
) -> Array:
    scaled = _scale_rows(accumulator, factor, attrs["shape"])
    return _in_place(scaled, left, left_offset, right, right_offset, **attrs)


def _gather(memory: Array, offset: Array, length: int, shape: Shape) -> Array:
    """A matrix from the memory of each program, row by row, as it would lie in a tile."""
    rows, columns = prod(shape[:-1]), shape[-1]
    places = np.arange(rows)[:, None] * length + np.arange(columns)
    index = offset.reshape(-1, 1).astype(np.int64) + places.reshape(-1)
    index = np.clip(index, 0, memory.shape[1] - 1)  # programs that are not active have any offset
    return np.take_along_axis(memory, np.broadcast_to(index, (len(memory), index.shape[1])), 1)


def _pipelined(
    accumulator: Array,
    left: Array,
    right: Array,
    parity: Array,
    *,
    shape: Shape,
    k: int,
    transposed: tuple[int, int],
    buffers: tuple[int, int],
) -> Array:
    left, right = (
        _slot(tile, parity - 1) if each == 2 else tile
        for tile, each in zip((left, right), buffers, strict=True)
    )
    product = _product(left, right, shape, k, transposed)
    return np.where(parity > 0, product + accumulator, accumulator)


def _slot(tile: Array, parity: Array) -> Array:
    """The buffer of a tile that a trip has filled."""
    buffers = tile.reshape(len(tile), 2, -1)
    return buffers[np.arange(len(tile)), parity[:, 0] % 2]


def _parity_start(parity: Array) -> Array:
    return np.zeros_like(parity)


def _parity_flip(parity: Array) -> Array:
    return parity + 1


def _epilogue(accumulator: Array, *, shape: Shape) -> Array:
    return accumulator.reshape(len(accumulator), *shape).copy()


ZERO = TargetOpDef(
    "mma_zero",
    ("acc",),
    _zero_rule,
    _zero,
    "fills an accumulator with zeros",
    attrs=("shape",),
    writes="acc",
)
LOAD = TargetOpDef(
    "mma_load",
    ("acc", "tile"),
    _load_rule,
    _load,
    "fills an accumulator with a tile",
    attrs=("shape",),
    writes="acc",
)
PREFETCH = TargetOpDef(
    "mma_prefetch",
    ("a",),
    _prefetch_rule,
    _prefetch,
    "loads a matrix to registers, before it is stored to a tile",
)
STORE = TargetOpDef(
    "mma_store",
    ("tile", "a"),
    _store_rule,
    _store,
    "writes a matrix to a tile",
    attrs=("role",),
    writes="tile",
)
STORE_SLOT = TargetOpDef(
    "mma_store_slot",
    ("tile", "a", "parity"),
    _store_slot_rule,
    _store_slot,
    "writes a matrix to one of the two buffers of a tile",
    attrs=("role",),
    writes="tile",
)
MULTIPLY = TargetOpDef(
    "mma",
    ("acc", "left", "right"),
    _multiply_rule,
    _multiply,
    "adds the product of two tiles to an accumulator",
    attrs=_PRODUCT,
    writes="acc",
)
SCALED = TargetOpDef(
    "mma_scaled",
    ("acc", "left", "right", "factor"),
    _scaled_rule,
    _scaled,
    "multiplies an accumulator by a number, or one for each row, then adds a product",
    attrs=_PRODUCT,
    writes="acc",
)
_IN_PLACE = ("acc", "left", "left_offset", "right", "right_offset")
IN_PLACE = TargetOpDef(
    "mma_in_place",
    _IN_PLACE,
    _in_place_rule,
    _in_place,
    "adds the product of two matrices, of which one at least is in an array of the kernel",
    attrs=(*_PRODUCT, "lengths"),
    writes="acc",
)
SCALED_IN_PLACE = TargetOpDef(
    "mma_scaled_in_place",
    (*_IN_PLACE, "factor"),
    _scaled_in_place_rule,
    _scaled_in_place,
    "multiplies an accumulator as `mma_scaled` does, then adds a product as `mma_in_place` does",
    attrs=(*_PRODUCT, "lengths"),
    writes="acc",
)
PIPELINED = TargetOpDef(
    "mma_pipelined",
    ("acc", "left", "right", "parity"),
    _pipelined_rule,
    _pipelined,
    "adds the product of the tiles that the trip before has filled, if there was one",
    attrs=(*_PRODUCT, "buffers"),
    writes="acc",
)
PARITY_START = TargetOpDef(
    "mma_parity_start",
    ("parity",),
    _parity_rule,
    _parity_start,
    "no trip has filled double-buffered tiles yet",
    writes="parity",
)
PARITY_FLIP = TargetOpDef(
    "mma_parity_flip",
    ("parity",),
    _parity_rule,
    _parity_flip,
    "a trip has filled double-buffered tiles: the next one fills their other buffers",
    writes="parity",
)
EPILOGUE = TargetOpDef(
    "mma_epilogue",
    ("acc",),
    _epilogue_rule,
    _epilogue,
    "the block that an accumulator holds",
    attrs=("shape",),
)
MMA = (
    ZERO, LOAD, PREFETCH, STORE, STORE_SLOT, MULTIPLY, SCALED, IN_PLACE, SCALED_IN_PLACE, PIPELINED,
    PARITY_START, PARITY_FLIP, EPILOGUE,
)  # fmt: skip


def fits_fragments(op: Compute) -> bool:
    """Whether simdgroups can do a product: all extents are multiples of 8."""
    return all(extent % EDGE == 0 for value in op.operands for extent in value.shape[-2:])


def extents_of(op: TargetOp) -> tuple[int, int, int]:
    """How many matrices an accumulator has, and their rows and columns."""
    *batch, m, n = numbers(op, "shape")
    return prod(batch), m, n


def number(op: TargetOp, name: str) -> int:
    """An attribute that is a number."""
    found = op.attr(name)
    assert isinstance(found, int)
    return found


def numbers(op: TargetOp, name: str) -> tuple[int, ...]:
    """An attribute that is several numbers."""
    found = op.attr(name)
    assert isinstance(found, tuple)
    return found


def tiles_of(op: TargetOp) -> list[Value]:
    """The tiles among the operands of an op."""
    return [v for v in op.operands if isinstance(v.ty, Pointer) and v.ty.space == "tile"]


@frozen
class InPlace:
    """A factor in an array of the kernel: matrices of a shape, their rows `length` apart."""

    pointer: Value
    offset: Value
    length: int
    shape: Shape

    @property
    def form(self) -> Form:
        """The offsets of its elements from the first one."""
        rows = self.shape[-2]
        steps = (rows * self.length, self.length, 1)[-len(self.shape) :]
        axes = [index.terms[0][1] for index in own_indices(self.shape)]
        return Form(lanes=dict(zip(axes, steps, strict=True)))


def in_place_factors(op: TargetOp) -> tuple[InPlace | None, InPlace | None]:
    """The factors of a product that lie in arrays of the kernel; None for one in a tile."""
    if op.op not in (IN_PLACE, SCALED_IN_PLACE):
        return None, None
    attrs = dict(op.attrs)
    left, right = (
        InPlace(op.operand(role), op.operand(f"{role}_offset"), length, _stored_shape(attrs, place))
        if length
        else None
        for place, (role, length) in enumerate(zip(ROLES, numbers(op, "lengths"), strict=False))
    )
    return left, right


def strip_rows(op: TargetOp, threads: int) -> int:
    """How many rows of a product go through threadgroup memory at a time; none if all do.

    As many as a strip may have so that each thread has equally many of its elements.
    """
    batch, m, n = extents_of(op)
    rows, most = batch * m, _STRIP_BYTES * 8 // (n * F32.bits)
    choices = range(EDGE, min(rows - 1, most) + 1, EDGE)
    return max((h for h in choices if rows % h == 0 and h * n % threads == 0), default=0)

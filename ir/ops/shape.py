"""Positions, casts and changes of shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.ir.ops.record import (
    Array,
    Attrs,
    Fault,
    Meaning,
    OpDef,
    Position,
    RuleError,
    TypeRule,
)
from eas.ir.ops.simdgroup import SIMD
from eas.ir.ops.typing_rules import dtype_of, no_operands
from eas.ir.rounding import as_dtype
from eas.ir.types import I32, Block, DType, Scalar, Shape, Type, count, make_type, shape_of

MAX_RANK = 4


def _program_id(position: Position, *, axis: int) -> Array:
    return position.index(axis)


def _num_programs(position: Position, *, axis: int) -> Array:
    return np.full(1, position.count(axis), I32.numpy)


def _row_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    del operands
    if attrs["size"] < 1:
        raise RuleError(f"a block needs at least one lane, not {attrs['size']}")
    return Block(I32, (attrs["size"],))


def _arange(*, start: int, size: int) -> Array:
    return np.arange(start, start + size, dtype=I32.numpy)[None]


def _thread_index(*, size: int) -> Array:
    return np.arange(size, dtype=I32.numpy)[None]


def _lane_index(*, size: int) -> Array:
    return np.arange(size, dtype=I32.numpy)[None] % np.int32(SIMD)


def _simdgroup_index(*, size: int) -> Array:
    return np.arange(size, dtype=I32.numpy)[None] // np.int32(SIMD)


def _index_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    del attrs
    index, extent = operands
    if index != extent or not dtype_of(index).is_int:
        raise RuleError(f"takes two integers of one type, not {index} and {extent}")
    return index


def _index(a: Array, extent: Array, *, array: str, axis: int) -> Array:
    del array, axis
    return np.where(a < 0, a + extent, a)


def _is_outside(a: Array, extent: Array, *, array: str, axis: int) -> Array:
    del array, axis
    return (a >= extent) | (a < 0) & (a + extent < 0)


def _always(operands: Sequence[Type], attrs: Attrs) -> bool:
    del operands, attrs
    return True


_OUT_OF_BOUNDS = Fault("index out of bounds", _is_outside, _always)


def _cast_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    return make_type(attrs["dtype"], shape_of(operands[0]))


def _cast(a: Array, *, dtype: DType) -> Array:
    return as_dtype(a, dtype.numpy)


def _is_float_to_int(operands: Sequence[Type], attrs: Attrs) -> bool:
    return dtype_of(operands[0]).is_float and attrs["dtype"].is_int


def _does_not_fit(a: Array, *, dtype: DType) -> Array | None:
    if a.dtype.kind in "biu" or not dtype.is_int:
        return None
    whole = np.trunc(a.astype(np.float64))
    return ~((whole >= float(dtype.min)) & (whole < float(dtype.max) + 1.0))


_OVERFLOW = Fault(
    "a float that does not fit is converted to an int", _does_not_fit, _is_float_to_int
)


def _bitcast_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    source, target = dtype_of(operands[0]), attrs["dtype"]
    if source.bits != target.bits or source.is_bool or target.is_bool:
        raise RuleError(f"cannot read the bits of {source} as {target}: the widths differ")
    return make_type(target, shape_of(operands[0]))


def _bitcast(a: Array, *, dtype: DType) -> Array:
    return np.ascontiguousarray(a).view(dtype.numpy)


def _splat_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    if not isinstance(operands[0], Scalar):
        raise RuleError(f"takes a scalar, not {operands[0]}")
    _check_shape(attrs["shape"])
    return Block(operands[0].dtype, attrs["shape"])


def _splat(a: Array, *, shape: Shape) -> Array:
    return a.reshape(a.shape[0], *(1 for _ in shape))


def _broadcast_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    old, new = shape_of(operands[0]), attrs["shape"]
    _check_shape(new)
    if len(old) != len(new) or any(x not in (1, y) for x, y in zip(old, new, strict=True)):
        raise RuleError(f"cannot broadcast {operands[0]} to the shape {list(new)}")
    return Block(dtype_of(operands[0]), new)


def _broadcast(a: Array, *, shape: Shape) -> Array:
    del shape
    return a


def _expand_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    old, axis = shape_of(operands[0]), attrs["axis"]
    if not 0 <= axis <= len(old):
        raise RuleError(f"{operands[0]} has no place for an axis {axis}")
    new = (*old[:axis], 1, *old[axis:])
    _check_shape(new)
    return Block(dtype_of(operands[0]), new)


def _expand(a: Array, *, axis: int) -> Array:
    return np.expand_dims(a, axis + 1)


def _reshape_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    old, new = shape_of(operands[0]), attrs["shape"]
    _check_shape(new)
    if count(old) != count(new):
        raise RuleError(
            f"cannot reshape {operands[0]} to {list(new)}: {count(old)} elements and {count(new)}"
        )
    return Block(dtype_of(operands[0]), new)


def _reshape(a: Array, *, shape: Shape) -> Array:
    return a.reshape(a.shape[0], *shape)


def _permute_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    old = shape_of(operands[0])
    axes: Shape = attrs["axes"]
    if sorted(axes) != list(range(len(old))):
        raise RuleError(f"{list(axes)} does not name each axis of {operands[0]} once")
    return Block(dtype_of(operands[0]), tuple(old[axis] for axis in axes))


def _permute(a: Array, *, axes: Shape) -> Array:
    return np.transpose(a, (0, *(axis + 1 for axis in axes)))


def _slice_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    old = shape_of(operands[0])
    starts, sizes, steps = attrs["starts"], attrs["sizes"], attrs["steps"]
    if not len(old) == len(starts) == len(sizes) == len(steps):
        raise RuleError(f"{operands[0]} is not sliced along each of its axes")
    for extent, start, size, step in zip(old, starts, sizes, steps, strict=True):
        last = start + (size - 1) * step
        if size < 1 or not 0 <= start < extent or not 0 <= last < extent:
            raise RuleError(f"the slice leaves the block {operands[0]} or is empty")
    return Block(dtype_of(operands[0]), sizes)


def _slice(a: Array, *, starts: Shape, sizes: Shape, steps: Shape) -> Array:
    for axis, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True)):
        a = np.take(a, start + step * np.arange(size), axis=axis + 1)
    return a


def _cycle_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    old, axis = shape_of(operands[0]), attrs["axis"]
    if not 0 <= axis < len(old) or attrs["start"] < 0:
        raise RuleError(f"{operands[0]} has no axis {axis} with an element {attrs['start']}")
    new = (*old[:axis], attrs["size"], *old[axis + 1 :])
    _check_shape(new)
    return Block(dtype_of(operands[0]), new)


def _cycle(a: Array, *, axis: int, start: int, size: int) -> Array:
    places = (start + np.arange(size)) % a.shape[axis + 1]
    return np.take(a, places, axis=axis + 1)


def _check_shape(shape: Shape) -> None:
    if not 1 <= len(shape) <= MAX_RANK:
        raise RuleError(f"a block has one to {MAX_RANK} dimensions, not {len(shape)}")
    if any(extent < 1 for extent in shape):
        raise RuleError(f"each extent of a block is at least 1, not {list(shape)}")


def _row(name: str, meaning: Meaning, doc: str, attrs: tuple[str, ...] = ("size",)) -> OpDef:
    """A position that differs from lane to lane."""
    return OpDef(name, (), _row_type, meaning, doc, attrs, position=True)


def _view(
    name: str,
    rule: TypeRule,
    meaning: Meaning,
    doc: str,
    attrs: tuple[str, ...],
    elementwise: bool = False,
    collective: bool = False,
) -> OpDef:
    return OpDef(
        name,
        ("a",),
        rule,
        meaning,
        doc,
        attrs,
        elementwise=elementwise,
        collective=collective,
        view=True,
    )


SHAPE = (
    OpDef(
        "program_id",
        (),
        no_operands(I32),
        _program_id,
        "the program's index along an axis of the grid",
        attrs=("axis",),
        positional=True,
        position=True,
    ),
    OpDef(
        "num_programs",
        (),
        no_operands(I32),
        _num_programs,
        "how many programs the grid has along an axis",
        attrs=("axis",),
        positional=True,
        position=True,
    ),
    _row("arange", _arange, "start, start + 1, ...", ("start", "size")),
    _row("thread_index", _thread_index, "the index of the thread"),
    _row("lane_index", _lane_index, "the thread's index in its simdgroup"),
    _row("simdgroup_index", _simdgroup_index, "the index of the thread's simdgroup"),
    OpDef(
        "index",
        ("a", "extent"),
        _index_type,
        _index,
        "an index of an array's axis: below zero it counts from the end, as in Python",
        attrs=("array", "axis"),
        fault=_OUT_OF_BOUNDS,
    ),
    OpDef("cast", ("a",), _cast_type, _cast, "a as another dtype", ("dtype",), fault=_OVERFLOW),
    OpDef("bitcast", ("a",), _bitcast_type, _bitcast, "the same bits, read anew", ("dtype",)),
    _view("splat", _splat_type, _splat, "a scalar in every lane", ("shape",), elementwise=True),
    _view(
        "broadcast",
        _broadcast_type,
        _broadcast,
        "repeats extents of 1",
        ("shape",),
        elementwise=True,
    ),
    _view("expand_dims", _expand_type, _expand, "adds an axis of extent 1", ("axis",)),
    _view(
        "reshape",
        _reshape_type,
        _reshape,
        "the same elements in row-major order",
        ("shape",),
        collective=True,
    ),
    _view("permute", _permute_type, _permute, "reorders the axes", ("axes",), collective=True),
    _view(
        "slice",
        _slice_type,
        _slice,
        "elements start, start + step, ... along each axis",
        ("starts", "sizes", "steps"),
        collective=True,
    ),
    _view(
        "cycle",
        _cycle_type,
        _cycle,
        "the elements along an axis from start on, over and over, size of them",
        ("axis", "start", "size"),
        collective=True,
    ),
)

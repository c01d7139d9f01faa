"""Typing rules that ops share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eas.ir.ops.record import Array, Attrs, Meaning, RuleError, TypeRule
from eas.ir.types import BF16, BOOL, F32, F64, U32, DType, Scalar, Type, make_type, shape_of

Accepts = Callable[[DType], bool]


def dtype_of(ty: Type) -> DType:
    return ty.dtype


def is_number(dtype: DType) -> bool:
    return not dtype.is_bool


def is_float(dtype: DType) -> bool:
    return dtype.is_float


def is_int(dtype: DType) -> bool:
    return dtype.is_int


def is_unsigned(dtype: DType) -> bool:
    return dtype.is_unsigned


def is_word(dtype: DType) -> bool:
    return dtype == U32


def is_bits(dtype: DType) -> bool:
    return dtype.is_int or dtype.is_bool


def is_anything(dtype: DType) -> bool:
    del dtype
    return True


def same_type(accepts: Accepts, wanted: str) -> TypeRule:
    """All operands have one type, which is the result's; its dtype is one that the op takes."""

    def rule(operands: Sequence[Type], attrs: Attrs) -> Type:
        del attrs
        first = _one_type(operands)
        _accepted(first, accepts, wanted)
        return first

    return rule


def to_bool(accepts: Accepts, wanted: str) -> TypeRule:
    """All operands have one type; the result is a bool of their shape."""

    def rule(operands: Sequence[Type], attrs: Attrs) -> Type:
        del attrs
        first = _one_type(operands)
        _accepted(first, accepts, wanted)
        return make_type(BOOL, shape_of(first))

    return rule


def no_operands(dtype: DType) -> TypeRule:
    """A scalar from nowhere."""

    def rule(operands: Sequence[Type], attrs: Attrs) -> Type:
        del operands, attrs
        return Scalar(dtype)

    return rule


def through_f32(meaning: Meaning) -> Meaning:
    """Computes bf16 in f32 and rounds once: ml_dtypes lacks some functions."""

    def widened(*arrays: Array) -> Array:
        if arrays[0].dtype != BF16.numpy:
            return meaning(*arrays)
        wide = meaning(*(a.astype(F32.numpy) for a in arrays))
        return wide if wide.dtype == BOOL.numpy else wide.astype(BF16.numpy)

    return widened


# So many numbers at a time stay in a CPU's cache.
_PIECE = 1 << 15


def through_f64(function: np.ufunc) -> Meaning:
    """Computes f32 in f64 and rounds once.

    NumPy's functions of f32 are not exact enough, and differ from one kind of CPU to the next.
    """

    def widened(*arrays: Array) -> Array:
        if arrays[0].dtype != F32.numpy:
            return function(*arrays)
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        flat = [np.broadcast_to(a, shape).ravel() for a in arrays]
        result: Array = np.empty(flat[0].size, F32.numpy)
        buffers = [np.empty(min(result.size, _PIECE), F64.numpy) for _ in flat]
        for start in range(0, result.size, _PIECE):
            rounded = result[start : start + _PIECE]
            wide = [buffer[: rounded.size] for buffer in buffers]
            for a, piece in zip(flat, wide, strict=True):
                piece[...] = a[start : start + _PIECE]
            function(*wide, out=wide[0])
            rounded[...] = wide[0]
        return result.reshape(shape)

    return widened


def _one_type(operands: Sequence[Type]) -> Type:
    first = operands[0]
    for other in operands[1:]:
        if other is not first and other != first:
            raise RuleError(f"operands differ in type: {first} and {other}")
    return first


def _accepted(ty: Type, accepts: Accepts, wanted: str) -> None:
    if not accepts(dtype_of(ty)):
        raise RuleError(f"takes {wanted}, not {ty}")

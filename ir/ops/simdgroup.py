"""What the 32 threads of a simdgroup do together, in thread programs. All are collective.

The last simdgroup may have fewer threads: those that are missing take no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eas.ir.ops.record import Array, Attrs, OpDef, RuleError, TypeRule
from eas.ir.ops.rules import Accepts, dtype_of, is_anything
from eas.ir.types import F16, F32, I32, U32, DType, Type, shape_of

SIMD = 32


def _groups(a: Array) -> list[slice]:
    return [slice(start, start + SIMD) for start in range(0, a.shape[1], SIMD)]


def _reduction(ufunc: Any) -> Callable[[Array], Array]:
    def reduce(a: Array) -> Array:
        result = np.empty_like(a)
        for group in _groups(a):
            result[:, group] = ufunc.reduce(a[:, group], axis=1, keepdims=True, dtype=a.dtype)
        return result

    return reduce


def _fetch(a: Array, lane: Array) -> Array:
    """The values of other lanes; of one that is not there, a lane's own."""
    own: Array = np.arange(int(a.shape[1]), dtype=np.int64)
    place = own // SIMD * SIMD + lane
    is_there = (lane >= 0) & (lane < SIMD) & (place < a.shape[1])
    return np.take_along_axis(*np.broadcast_arrays(a, np.where(is_there, place, own)), axis=1)


def _shuffle_xor(a: Array, mask: Array) -> Array:
    own: Array = np.arange(int(a.shape[1]), dtype=np.int64)
    return _fetch(a, own % SIMD ^ mask)


def place_in_fragment(lane: Array) -> tuple[Array, Array]:
    """The row and column of a lane's first element of an 8x8 matrix; the second is right of it."""
    return (lane // 4 & 4) + lane // 2 % 4, (lane // 4 & 2) * 2 + lane % 2 * 2


def _mma(a0: Array, a1: Array, b0: Array, b1: Array, c0: Array, c1: Array, *, word: int) -> Array:
    lane: Array = np.arange(SIMD, dtype=np.int64)
    row, column = place_in_fragment(lane)
    matrices: list[Array] = []
    for first, second in ((a0, a1), (b0, b1), (c0, c1)):
        lanes = [x.reshape(x.shape[0], -1, SIMD) for x in np.broadcast_arrays(first, second)]
        matrix = np.zeros((*lanes[0].shape[:2], 8, 8), first.dtype)
        matrix[..., row, column], matrix[..., row, column + 1] = lanes
        matrices.append(matrix)
    product = np.matmul(matrices[0], matrices[1]) + matrices[2]
    found = product[..., row, column + word]
    return found.reshape(found.shape[0], -1)


def _mma_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    del attrs
    first = operands[0]
    shape = shape_of(first)
    if any(ty != first for ty in operands) or dtype_of(first) != F32:
        raise RuleError(f"takes two f32 of each thread for each matrix, not {first}")
    if len(shape) != 1 or shape[0] % SIMD:
        raise RuleError(f"takes whole simdgroups of 32 threads, not {first}")
    return first


def _is_added(dtype: DType) -> bool:
    return dtype in (I32, U32, F16, F32)


def _is_bool(dtype: DType) -> bool:
    return dtype.is_bool


def _rule(accepts: Accepts, wanted: str) -> TypeRule:
    def rule(operands: Sequence[Type], attrs: Attrs) -> Type:
        del attrs
        a = operands[0]
        if not shape_of(a) or not accepts(dtype_of(a)):
            raise RuleError(f"takes a value of each thread, of {wanted}, not {a}")
        for lane in operands[1:]:
            if dtype_of(lane) != I32 or shape_of(lane) != shape_of(a):
                raise RuleError(f"takes the number of a lane for each thread, i32, not {lane}")
        return a

    return rule


_NUMBERS = _rule(_is_added, "i32, u32, f16 or f32")
_BOOLS = _rule(_is_bool, "bool")
_ANY = _rule(is_anything, "any dtype")


def _op(name: str, operands: tuple[str, ...], rule: TypeRule, meaning: Any, doc: str) -> OpDef:
    return OpDef(name, operands, rule, meaning, doc, elementwise=False, collective=True)


_EXCHANGES = (
    _op("simd_sum", ("a",), _NUMBERS, _reduction(np.add), "the sum over a simdgroup"),
    _op("simd_max", ("a",), _NUMBERS, _reduction(np.fmax), "the greatest of a simdgroup"),
    _op("simd_min", ("a",), _NUMBERS, _reduction(np.fmin), "the least of a simdgroup"),
    _op("simd_any", ("a",), _BOOLS, _reduction(np.logical_or), "whether it is true for any thread"),
    _op("simd_all", ("a",), _BOOLS, _reduction(np.logical_and), "whether it is true for all"),
    _op("simd_shuffle", ("a", "lane"), _ANY, _fetch, "the value of another lane"),
    _op("simd_broadcast", ("a", "lane"), _ANY, _fetch, "the value of one lane"),
    _op(
        "simd_shuffle_xor",
        ("a", "mask"),
        _ANY,
        _shuffle_xor,
        "the value of the lane whose number differs in these bits",
    ),
)
MMA = OpDef(
    "mma_word",
    ("a0", "a1", "b0", "b1", "c0", "c1"),
    _mma_type,
    _mma,
    "one of a lane's two elements of a @ b + c, of 8x8 matrices spread over a simdgroup",
    attrs=("word",),
    elementwise=False,
    collective=True,
)
SIMDGROUP = (*_EXCHANGES, MMA)
SIMD_OPS = frozenset(op.name for op in SIMDGROUP)

"""What the 32 threads of a simdgroup do together, in thread programs. All are collective.

The last simdgroup may have fewer threads: those that are missing take no part. What a simdgroup
comes to is what a reduction of the values in its threads gives, of any dtype that this takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eas.ir.ops.record import Array, Attrs, Meaning, OpDef, RuleError, TypeRule
from eas.ir.ops.reduce import REDUCE
from eas.ir.ops.typing_rules import dtype_of
from eas.ir.types import F32, I32, Type, make_type, shape_of

SIMD = 32  # threads of a simdgroup, on every GPU of Apple's


def _groups(a: Array) -> list[slice]:
    return [slice(start, start + SIMD) for start in range(0, a.shape[1], SIMD)]


def _in_groups(meaning: Meaning) -> Callable[[Array], Array]:
    """What a reduction gives for each simdgroup, in each of its threads."""

    def reduce(a: Array) -> Array:
        groups = [a[:, group] for group in _groups(a)]
        results = [meaning(group, axis=None)[:, None] for group in groups]
        parts = [np.repeat(r, g.shape[1], 1) for r, g in zip(results, groups, strict=True)]
        return np.concatenate(parts, 1)

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
        raise RuleError(f"takes whole simdgroups of {SIMD} threads, not {first}")
    return first


def _reduction(kind: str, doc: str) -> OpDef:
    """The reduction of this kind, over the threads of a simdgroup: each of them gets it."""
    whole = next(op for op in REDUCE if op.reduction == kind)

    def rule(operands: Sequence[Type], attrs: Attrs) -> Type:
        del attrs
        _check_threads(operands[0])
        result = whole.typing(operands, {"axis": None})
        return make_type(dtype_of(result), shape_of(operands[0]))

    return _op(f"simd_{kind}", ("a",), rule, _in_groups(whole.meaning), doc, kind)


def _check_threads(a: Type) -> None:
    if len(shape_of(a)) != 1:
        raise RuleError(f"takes a value of each thread, not {a}")


def _exchange_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    del attrs
    a, lane = operands
    _check_threads(a)
    if dtype_of(lane) != I32 or shape_of(lane) != shape_of(a):
        raise RuleError(f"takes the number of a lane for each thread, i32, not {lane}")
    return a


def _op(
    name: str,
    operands: tuple[str, ...],
    rule: TypeRule,
    meaning: Any,
    doc: str,
    reduction: str = "",
) -> OpDef:
    return OpDef(
        name,
        operands,
        rule,
        meaning,
        doc,
        elementwise=False,
        collective=True,
        simdgroup=True,
        simd_reduction=reduction,
    )


_REDUCTIONS = (
    _reduction("sum", "the sum over a simdgroup"),
    _reduction("max", "the greatest of a simdgroup"),
    _reduction("min", "the least of a simdgroup"),
    _reduction("any", "whether it is true for any thread"),
    _reduction("all", "whether it is true for all"),
)
EXCHANGES = (
    _op("simd_shuffle", ("a", "lane"), _exchange_type, _fetch, "the value of another lane"),
    _op("simd_broadcast", ("a", "lane"), _exchange_type, _fetch, "the value of one lane"),
    _op(
        "simd_shuffle_xor",
        ("a", "mask"),
        _exchange_type,
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
    simdgroup=True,
)
SIMDGROUP = (*_REDUCTIONS, *EXCHANGES, MMA)

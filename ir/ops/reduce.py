"""Reductions: the lanes of a block, or of one of its axes, become one value. All are collective.

`axis` is None for the whole block. Floats narrower than f32 are added up in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eas.ir.ops.extremes import greatest, least
from eas.ir.ops.record import Array, Attrs, OpDef, RuleError, TypeRule
from eas.ir.ops.typing_rules import Accepts, dtype_of, is_anything, is_bits, is_number
from eas.ir.types import BOOL, F32, I32, U32, DType, Kind, Type, make_type, shape_of

Result = Callable[[DType], DType]


def accumulator(dtype: DType) -> DType:
    """The dtype that `sum` and `prod` give: ints of less than 32 bits and bools are widened."""
    if dtype.is_float or dtype.bits >= 32:
        return dtype
    return U32 if dtype.kind is Kind.UNSIGNED else I32


def _same(dtype: DType) -> DType:
    return dtype


def _index(dtype: DType) -> DType:
    del dtype
    return I32


def _bool(dtype: DType) -> DType:
    del dtype
    return BOOL


def _rule(result: Result, accepts: Accepts, wanted: str) -> TypeRule:
    def rule(operands: Sequence[Type], attrs: Attrs) -> Type:
        operand, axis = operands[0], attrs["axis"]
        shape = shape_of(operand)
        if not shape:
            raise RuleError(f"takes a block, not the scalar {operand}")
        if not accepts(dtype_of(operand)):
            raise RuleError(f"takes {wanted}, not {operand}")
        if axis is None:
            return make_type(result(dtype_of(operand)), ())
        if not 0 <= axis < len(shape):
            raise RuleError(f"{operand} has no axis {axis}")
        return make_type(result(dtype_of(operand)), (*shape[:axis], *shape[axis + 1 :]))

    return rule


def _flat(a: Array, axis: int | None) -> tuple[Array, int]:
    """The array and the axis to reduce; the whole block is one axis."""
    return (a.reshape(a.shape[0], -1), 1) if axis is None else (a, axis + 1)


def _accumulate(ufunc: Any) -> Callable[..., Array]:
    def reduce(a: Array, *, axis: int | None) -> Array:
        a, place = _flat(a, axis)
        total: Array = ufunc.reduce(a, axis=place, dtype=_summed_in(a.dtype))
        is_float = a.dtype.kind not in "biu"
        return total.astype(a.dtype, copy=False) if is_float else total

    return reduce


def _summed_in(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a sum: that of `accumulator`, but f32 for narrower floats."""
    if dtype.itemsize >= 4:
        return dtype
    return {"b": I32.numpy, "i": I32.numpy, "u": U32.numpy}.get(dtype.kind, F32.numpy)


def _extreme(find: Callable[[Array, int], Array]) -> Callable[..., Array]:
    def reduce(a: Array, *, axis: int | None) -> Array:
        return find(*_flat(a, axis))

    return reduce


def _joined(ufunc: Any) -> Callable[..., Array]:
    def reduce(a: Array, *, axis: int | None) -> Array:
        a, place = _flat(a, axis)
        return ufunc.reduce(a, axis=place)

    return reduce


def _argument(find: Any, worst: float) -> Callable[..., Array]:
    """The first index of the extreme; a NaN never is it."""

    def reduce(a: Array, *, axis: int | None) -> Array:
        a, place = _flat(a, axis)
        if a.dtype.kind not in "biu":
            a = np.where(np.isnan(a), a.dtype.type(worst), a)
        return find(a, axis=place).astype(I32.numpy)

    return reduce


def _reduction(
    name: str, result: Result, meaning: Any, doc: str, accepts: Accepts, wanted: str
) -> OpDef:
    return OpDef(
        f"reduce_{name}",
        ("a",),
        _rule(result, accepts, wanted),
        meaning,
        doc,
        attrs=("axis",),
        elementwise=False,
        collective=True,
        reduction=name,
    )


def _is_bool(dtype: DType) -> bool:
    return dtype.is_bool


REDUCE = (
    _reduction("sum", accumulator, _accumulate(np.add), "the sum", is_anything, "numbers"),
    _reduction(
        "prod", accumulator, _accumulate(np.multiply), "the product", is_anything, "numbers"
    ),
    _reduction(
        "max",
        _same,
        _extreme(greatest),
        "the greatest, 0.0 above -0.0; NaNs do not count",
        is_number,
        "numbers",
    ),
    _reduction(
        "min",
        _same,
        _extreme(least),
        "the least, -0.0 below 0.0; NaNs do not count",
        is_number,
        "numbers",
    ),
    _reduction(
        "argmax",
        _index,
        _argument(np.argmax, -np.inf),
        "the first index of the greatest",
        is_number,
        "numbers",
    ),
    _reduction(
        "argmin",
        _index,
        _argument(np.argmin, np.inf),
        "the first index of the least",
        is_number,
        "numbers",
    ),
    _reduction("any", _bool, _joined(np.logical_or), "whether any lane is true", _is_bool, "bools"),
    _reduction(
        "all", _bool, _joined(np.logical_and), "whether all lanes are true", _is_bool, "bools"
    ),
    _reduction(
        "xor", _same, _joined(np.bitwise_xor), "the bits' parity", is_bits, "integers or bools"
    ),
)

"""The element-wise ops: how a kernel writes each, and what NumPy gives for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import eas
from eas import mk
from eas.ir.ops import OPS, OpDef
from eas.ir.types import DTYPES, DType
from tests.ops.shapes import SHAPES, Shape, offsets
from tests.ops.table.comparing import without_signs_of_zeros
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import (
    Array,
    Draw,
    chosen,
    clamped,
    compared,
    divided,
    drawn,
    powered,
    shifted,
    within,
)
from tests.ops.table.records import accepts


def is_any(dtype: DType) -> bool:
    del dtype
    return True


def is_int(dtype: DType) -> bool:
    return dtype.is_int


def is_bool(dtype: DType) -> bool:
    return dtype.is_bool


@dataclass(frozen=True)
class Op:
    """An op by its name in the IR, or a function of `mk` that is written with one, its `record`.

    `write` is called inside a kernel, `expected` with arrays of f64 for floats (of at least f32 if
    `is_stepwise`: NumPy's own steps round) and of the dtype itself for others. Operands are made by
    `draw`. Results are compared once `arrange` has taken away what is not specified.
    """

    name: str
    write: Callable[..., Any]
    expected: Callable[..., Any]
    draw: Draw
    is_stepwise: bool = False
    record: str = ""
    only: Callable[[DType], bool] = is_any
    arrange: Callable[[Array], Array] = np.asarray

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def definition(self) -> OpDef:
        return OPS[self.record or self.name]

    def accepts(self, dtype: DType) -> bool:
        return self.only(dtype) and accepts(self.definition.name, dtype)

    def right(self, drawn: list[Array], dtype: DType) -> Array:
        """What NumPy gives for floats in a wider format, rounded once."""
        wide = np.promote_types(dtype.numpy, np.float32) if self.is_stepwise else np.float64
        given = [a.astype(wide) if dtype.is_float else a for a in drawn]
        return np.asarray(self.expected(*given)).astype(dtype.numpy)


def wrapped(numbers: Iterable[int], like: Array) -> Array:
    """Integers of any size as those of a dtype."""
    size = like.dtype.itemsize
    return np.array([n % (1 << 8 * size) for n in numbers], f"u{size}").view(like.dtype)


def truncated(a: Array, b: Array) -> Array:
    return wrapped((_quotient(int(x), int(y)) for x, y in zip(a, b, strict=True)), a)


def _quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def rounded_up(a: Array, b: Array) -> Array:
    return wrapped((-(-int(x) // int(y)) for x, y in zip(a, b, strict=True)), a)


def bit_count(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    return np.array([(int(x) % (1 << bits)).bit_count() for x in a], a.dtype)


def leading_zeros(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    return np.array([bits - (int(x) % (1 << bits)).bit_length() for x in a], a.dtype)


def upper_half(a: Array, b: Array) -> Array:
    bits = a.dtype.itemsize * 8
    return np.array([int(x) * int(y) >> bits for x, y in zip(a, b, strict=True)], a.dtype)


def bounded(a: Array, low: Array, high: Array) -> Array:
    return np.fmin(np.fmax(a, low), high)


def error_function(a: Array) -> Array:
    return np.array([math.erf(x) for x in a])


def fused(a: Array, b: Array, c: Array) -> Array:
    """By exact fractions; what is infinite or NaN needs none."""
    result = a * b + c
    for k, numbers in enumerate(zip(a, b, c, strict=True)):
        if np.isfinite(numbers).all() and result[k] != 0:
            x, y, z = map(Fraction, map(float, numbers))
            result[k] = float(x * y + z)
    return result


def opposite(a: Array) -> Array:
    return np.negative(a) if a.dtype.kind != "b" else ~a


ROWS = (
    Op("add", lambda a, b: a + b, np.add, drawn(2)),
    Op("sub", lambda a, b: a - b, np.subtract, drawn(2)),
    Op("mul", lambda a, b: a * b, np.multiply, drawn(2)),
    Op("div", lambda a, b: a / b, np.divide, drawn(2)),
    Op("floordiv", lambda a, b: a // b, np.floor_divide, divided, is_stepwise=True),
    Op("mod", lambda a, b: a % b, np.remainder, divided, is_stepwise=True),
    Op("cdiv", mk.cdiv, rounded_up, divided, record="floordiv", only=is_int),
    Op("truncdiv", mk.trunc_div, truncated, divided),
    Op("truncmod", mk.fmod, np.fmod, divided),
    Op("neg", lambda a: -a, opposite, drawn(1)),
    Op("abs", mk.abs, np.absolute, drawn(1)),
    Op("minimum", mk.minimum, np.fmin, drawn(2), arrange=without_signs_of_zeros),
    Op("maximum", mk.maximum, np.fmax, drawn(2), arrange=without_signs_of_zeros),
    Op("and", lambda a, b: a & b, np.bitwise_and, drawn(2)),
    Op("or", lambda a, b: a | b, np.bitwise_or, drawn(2)),
    Op("xor", lambda a, b: a ^ b, np.bitwise_xor, drawn(2)),
    Op("not", lambda a: ~a, np.invert, drawn(1), only=is_int),
    Op("not of a bool", lambda a: not a, np.invert, drawn(1), record="not", only=is_bool),
    Op("and_", mk.and_, np.logical_and, compared, record="eq"),
    Op("or_", mk.or_, np.logical_or, compared, record="eq"),
    Op("not_", lambda a, b: mk.not_(a), lambda a, b: np.logical_not(a), compared, record="eq"),
    Op("shl", lambda a, b: a << b, np.left_shift, shifted),
    Op("shr", lambda a, b: a >> b, np.right_shift, shifted),
    Op("umulhi", mk.umulhi, upper_half, drawn(2)),
    Op("popcount", mk.popcount, bit_count, drawn(1)),
    Op("clz", mk.clz, leading_zeros, drawn(1)),
    Op("lt", lambda a, b: a < b, np.less, compared),
    Op("le", lambda a, b: a <= b, np.less_equal, compared),
    Op("gt", lambda a, b: a > b, np.greater, compared),
    Op("ge", lambda a, b: a >= b, np.greater_equal, compared),
    Op("eq", lambda a, b: a == b, np.equal, compared),
    Op("ne", lambda a, b: a != b, np.not_equal, compared),
    Op("select", mk.where, lambda c, a, b: np.where(c != 0, a, b), chosen),
    Op("clamp", mk.clamp, bounded, clamped, arrange=without_signs_of_zeros),
    Op("sign", mk.sign, np.sign, drawn(1)),
    Op("ceil", mk.ceil, np.ceil, drawn(1)),
    Op("floor", mk.floor, np.floor, drawn(1)),
    Op("round", mk.round, np.rint, drawn(1)),
    Op("trunc", mk.trunc, np.trunc, drawn(1)),
    Op("exp", mk.exp, np.exp, within(-8, 8)),
    Op("exp2", mk.exp2, np.exp2, within(-8, 8)),
    Op("expm1", mk.expm1, np.expm1, within(-8, 8)),
    Op("log", mk.log, np.log, within(1e-3, 1e3)),
    Op("log2", mk.log2, np.log2, within(1e-3, 1e3)),
    Op("log10", mk.log10, np.log10, within(1e-3, 1e3)),
    Op("log1p", mk.log1p, np.log1p, within(-0.99, 1e2)),
    Op("sqrt", mk.sqrt, np.sqrt, within(0, 1e3)),
    Op("rsqrt", mk.rsqrt, lambda a: 1 / np.sqrt(a), within(1e-3, 1e3)),
    Op("sin", mk.sin, np.sin, within(-9, 9)),
    Op("cos", mk.cos, np.cos, within(-9, 9)),
    Op("tan", mk.tan, np.tan, within(-9, 9)),
    Op("asin", mk.asin, np.arcsin, within(-1, 1)),
    Op("acos", mk.acos, np.arccos, within(-1, 1)),
    Op("atan", mk.atan, np.arctan, within(-9, 9)),
    Op("sinh", mk.sinh, np.sinh, within(-6, 6)),
    Op("cosh", mk.cosh, np.cosh, within(-6, 6)),
    Op("tanh", mk.tanh, np.tanh, within(-6, 6)),
    Op("erf", mk.erf, error_function, within(-4, 4)),
    Op("sigmoid", mk.sigmoid, lambda a: 1 / (1 + np.exp(-a)), within(-8, 8)),
    Op("pow", mk.pow, np.power, powered),
    Op("atan2", mk.atan2, np.arctan2, powered),
    Op("copysign", mk.copysign, np.copysign, drawn(2)),
    Op("fma", mk.fma, fused, drawn(3)),
    Op("isnan", mk.isnan, np.isnan, drawn(1)),
    Op("isinf", mk.isinf, np.isinf, drawn(1)),
    Op("isfinite", mk.isfinite, np.isfinite, drawn(1)),
)

# These are in other families: they are no functions of their operands' elements alone, or their
# result has another dtype.
ELSEWHERE = {
    *("cast", "bitcast", "splat", "broadcast", "index", "program_id", "num_programs", "arange"),
    *("thread_index", "lane_index", "simdgroup_index", "philox"),
}


def of_its_record(name: str) -> Op:
    """A function of floats that needs no row: its own meaning, in f64, says what is right."""
    record = OPS[name]
    return Op(name, getattr(mk, name), record.meaning, drawn(len(record.operands)))


_WITHOUT_ROW = (
    {name for name, op in OPS.items() if op.elementwise} - ELSEWHERE - {op.name for op in ROWS}
)

OPS_OF_TABLE = (*ROWS, *map(of_its_record, sorted(_WITHOUT_ROW)))


@eas.kernel
def each_op(operands, out, OPS_: eas.constexpr, SHAPE: eas.constexpr, SIZE: eas.constexpr):
    """Row `k` of `out` is what the op number `k` gives for its operands, the rows `3 k` and on."""
    at = offsets(SHAPE)
    for k in mk.static_range(len(OPS_)):
        write, count = OPS_[k]
        given = tuple(mk.load(operands, (3 * k + n) * SIZE + at) for n in mk.static_range(count))
        mk.store(out, k * SIZE + at, write(*given))


def launch(dtype: DType, shape: Shape) -> Launch:
    ops = [op for op in OPS_OF_TABLE if op.accepts(dtype)]
    size = int(np.prod(shape))
    random = np.random.default_rng(size)
    operands = np.zeros((len(ops), 3, size), dtype.numpy)
    out = np.zeros((len(ops), size), dtype.numpy)
    checks: list[Check] = []
    with np.errstate(all="ignore"):
        for op, row, found in zip(ops, operands, out, strict=True):
            given = op.draw(random, dtype, size)
            row[: len(given)] = given
            right = op.right(given, dtype)
            checks.append(Check(op.name, found, right, op.definition.ulps, op.arrange))
    written = tuple((op.write, len(op.definition.operands)) for op in ops)
    given = {"operands": operands, "out": out, "OPS_": written, "SHAPE": shape, "SIZE": size}
    return Launch(each_op, given, checks)


ELEMENTWISE = Family("elementwise", tuple(DTYPES.values()), SHAPES, launch)

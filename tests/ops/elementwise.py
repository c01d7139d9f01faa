"""The element-wise ops: how a kernel writes each, and what NumPy gives for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from eas import mk
from eas.ir.ops import OPS
from eas.ir.types import DType

Array = np.ndarray[Any, np.dtype[Any]]
Accepts = Callable[[DType], bool]


@dataclass(frozen=True)
class Op:
    """An op of the table by its name in the IR.

    `write` is called inside a kernel, `expected` with arrays of f64 for floats and of the dtype
    itself for others. Operands are made by `draw`.
    """

    name: str
    write: Callable[..., Any]
    expected: Callable[..., Any]
    accepts: Accepts
    draw: Callable[[np.random.Generator, DType, int], list[Array]]

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def ulps(self) -> int:
        return OPS[self.name].ulps


def is_float(dtype: DType) -> bool:
    return dtype.is_float


def is_int(dtype: DType) -> bool:
    return dtype.is_int


def is_number(dtype: DType) -> bool:
    return not dtype.is_bool


def is_bits(dtype: DType) -> bool:
    return not dtype.is_float


def is_unsigned(dtype: DType) -> bool:
    return dtype.is_unsigned


def is_any(dtype: DType) -> bool:
    del dtype
    return True


# --- operands ---------------------------------------------------------------------------------


def values(random: np.random.Generator, dtype: DType, size: int) -> Array:
    """Numbers of all sizes that a dtype has, and a few special ones."""
    if dtype.is_bool:
        return random.integers(0, 2, size).astype(np.bool_)
    if dtype.is_int:
        drawn = random.integers(dtype.min, dtype.max, size, dtype.numpy, endpoint=True)
        return np.where(random.random(size) < 0.5, drawn, drawn % dtype.numpy.type(9))
    drawn = random.standard_normal(size) * 10 ** random.uniform(-3, 3, size)
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5]
    drawn[: len(special)] = special[:size]
    return drawn.astype(dtype.numpy)


def drawn(count: int) -> Callable[[np.random.Generator, DType, int], list[Array]]:
    return lambda random, dtype, size: [values(random, dtype, size) for _ in range(count)]


def divided(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    """A divisor that is neither zero nor the one that overflows."""
    a, b = values(random, dtype, size), values(random, dtype, size)
    return [a, b] if dtype.is_float else [a, np.where((b == 0) | (b == -1), b.dtype.type(3), b)]


def shifted(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    amount = random.integers(0, dtype.bits, size).astype(dtype.numpy)
    return [values(random, dtype, size), amount]


def clamped(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    a, low, high = drawn(3)(random, dtype, size)
    return [a, np.fmin(low, high), np.fmax(low, high)]


def chosen(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    condition = random.integers(0, 2, size).astype(dtype.numpy)
    return [condition, *drawn(2)(random, dtype, size)]


def within(low: float, high: float) -> Callable[[np.random.Generator, DType, int], list[Array]]:
    """Where a function is neither out of its domain nor of the dtype's range."""

    def draw(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
        return [random.uniform(low, high, size).astype(dtype.numpy)]

    return draw


def powered(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    return [*within(0.1, 9.0)(random, dtype, size), *within(-3.0, 3.0)(random, dtype, size)]


# --- what NumPy gives -------------------------------------------------------------------------

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def truncated(a: Array, b: Array) -> Array:
    wide = [int(x) for x in a], [int(x) for x in b]
    return np.array([math.trunc(_exact(x, y)) for x, y in zip(*wide, strict=True)], a.dtype)


def _exact(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def bit_count(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    return np.array([(int(x) % (1 << bits)).bit_count() for x in a], a.dtype)


def leading_zeros(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    return np.array([bits - (int(x) % (1 << bits)).bit_length() for x in a], a.dtype)


def upper_half(a: Array, b: Array) -> Array:
    bits = a.dtype.itemsize * 8
    return np.array([int(x) * int(y) >> bits for x, y in zip(a, b, strict=True)], a.dtype)


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


def signs(a: Array) -> Array:
    return np.sign(a)


# --- the table --------------------------------------------------------------------------------

ROWS = (
    Op("add", lambda a, b: a + b, np.add, is_number, drawn(2)),
    Op("sub", lambda a, b: a - b, np.subtract, is_number, drawn(2)),
    Op("mul", lambda a, b: a * b, np.multiply, is_number, drawn(2)),
    Op("div", lambda a, b: a / b, np.divide, is_float, drawn(2)),
    Op("floordiv", lambda a, b: a // b, np.floor_divide, is_int, divided),
    Op("mod", lambda a, b: a % b, np.remainder, is_int, divided),
    Op("truncdiv", mk.trunc_div, truncated, is_int, divided),
    Op("truncmod", mk.fmod, np.fmod, is_number, divided),
    Op("neg", lambda a: -a, opposite, is_number, drawn(1)),
    Op("abs", mk.abs, np.absolute, is_number, drawn(1)),
    Op("minimum", mk.minimum, np.fmin, is_number, drawn(2)),
    Op("maximum", mk.maximum, np.fmax, is_number, drawn(2)),
    Op("and", lambda a, b: a & b, np.bitwise_and, is_bits, drawn(2)),
    Op("or", lambda a, b: a | b, np.bitwise_or, is_bits, drawn(2)),
    Op("xor", lambda a, b: a ^ b, np.bitwise_xor, is_bits, drawn(2)),
    Op("not", lambda a: ~a, np.invert, is_int, drawn(1)),
    Op("shl", lambda a, b: a << b, np.left_shift, is_int, shifted),
    Op("shr", lambda a, b: a >> b, np.right_shift, is_int, shifted),
    Op("umulhi", mk.umulhi, upper_half, is_unsigned, drawn(2)),
    Op("popcount", mk.popcount, bit_count, is_int, drawn(1)),
    Op("clz", mk.clz, leading_zeros, is_int, drawn(1)),
    Op("lt", lambda a, b: a < b, np.less, is_number, drawn(2)),
    Op("le", lambda a, b: a <= b, np.less_equal, is_number, drawn(2)),
    Op("gt", lambda a, b: a > b, np.greater, is_number, drawn(2)),
    Op("ge", lambda a, b: a >= b, np.greater_equal, is_number, drawn(2)),
    Op("eq", lambda a, b: a == b, np.equal, is_any, drawn(2)),
    Op("ne", lambda a, b: a != b, np.not_equal, is_any, drawn(2)),
    Op("select", mk.where, lambda c, a, b: np.where(c != 0, a, b), is_any, chosen),
    Op("clamp", mk.clamp, lambda a, b, c: np.fmin(np.fmax(a, b), c), is_number, clamped),
    Op("sign", mk.sign, signs, is_number, drawn(1)),
    Op("ceil", mk.ceil, np.ceil, is_float, drawn(1)),
    Op("floor", mk.floor, np.floor, is_float, drawn(1)),
    Op("round", mk.round, np.rint, is_float, drawn(1)),
    Op("trunc", mk.trunc, np.trunc, is_float, drawn(1)),
    Op("exp", mk.exp, np.exp, is_float, within(-8, 8)),
    Op("exp2", mk.exp2, np.exp2, is_float, within(-8, 8)),
    Op("expm1", mk.expm1, np.expm1, is_float, within(-8, 8)),
    Op("log", mk.log, np.log, is_float, within(1e-3, 1e3)),
    Op("log2", mk.log2, np.log2, is_float, within(1e-3, 1e3)),
    Op("log10", mk.log10, np.log10, is_float, within(1e-3, 1e3)),
    Op("log1p", mk.log1p, np.log1p, is_float, within(-0.99, 1e2)),
    Op("sqrt", mk.sqrt, np.sqrt, is_float, within(0, 1e3)),
    Op("rsqrt", mk.rsqrt, lambda a: 1 / np.sqrt(a), is_float, within(1e-3, 1e3)),
    Op("sin", mk.sin, np.sin, is_float, within(-9, 9)),
    Op("cos", mk.cos, np.cos, is_float, within(-9, 9)),
    Op("tan", mk.tan, np.tan, is_float, within(-9, 9)),
    Op("asin", mk.asin, np.arcsin, is_float, within(-1, 1)),
    Op("acos", mk.acos, np.arccos, is_float, within(-1, 1)),
    Op("atan", mk.atan, np.arctan, is_float, within(-9, 9)),
    Op("sinh", mk.sinh, np.sinh, is_float, within(-6, 6)),
    Op("cosh", mk.cosh, np.cosh, is_float, within(-6, 6)),
    Op("tanh", mk.tanh, np.tanh, is_float, within(-6, 6)),
    Op("erf", mk.erf, error_function, is_float, within(-4, 4)),
    Op("sigmoid", mk.sigmoid, lambda a: 1 / (1 + np.exp(-a)), is_float, within(-8, 8)),
    Op("pow", mk.pow, np.power, is_float, powered),
    Op("atan2", mk.atan2, np.arctan2, is_float, powered),
    Op("copysign", mk.copysign, np.copysign, is_float, drawn(2)),
    Op("fma", mk.fma, fused, is_float, drawn(3)),
    Op("isnan", mk.isnan, np.isnan, is_float, drawn(1)),
    Op("isinf", mk.isinf, np.isinf, is_float, drawn(1)),
    Op("isfinite", mk.isfinite, np.isfinite, is_float, drawn(1)),
)

# These have tests of their own: casts beside these, the others with blocks and arrays.
ELSEWHERE = {
    *("cast", "bitcast", "splat", "broadcast", "index", "program_id", "num_programs", "arange"),
    *("thread_index", "lane_index", "simdgroup_index", "philox"),
}


def of_its_record(name: str) -> Op:
    """A function of floats that needs no row: its own meaning, in f64, says what is right."""
    record = OPS[name]
    return Op(name, getattr(mk, name), record.meaning, is_float, drawn(len(record.operands)))


_WITHOUT_ROW = (
    {name for name, op in OPS.items() if op.elementwise} - ELSEWHERE - {op.name for op in ROWS}
)

ELEMENTWISE = (*ROWS, *map(of_its_record, sorted(_WITHOUT_ROW)))

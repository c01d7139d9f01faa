"""Arithmetic, comparison and bit ops. Ints wrap at their width; floats are IEEE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.ir.ops.extremes import greater, lesser
from eas.ir.ops.record import Array, Attrs, Fault, OpDef, RuleError
from eas.ir.ops.typing_rules import (
    dtype_of,
    is_anything,
    is_bits,
    is_float,
    is_int,
    is_number,
    is_unsigned,
    same_type,
    through_f32,
    to_bool,
)
from eas.ir.types import BOOL, Type, shape_of

_NUMBERS = same_type(is_number, "numbers")
_FLOATS = same_type(is_float, "floats")
_INTS = same_type(is_int, "integers")
_UNSIGNED = same_type(is_unsigned, "unsigned integers")
_BITS = same_type(is_bits, "integers or bools")
_COMPARED = to_bool(is_number, "numbers")
_EQUATED = to_bool(is_anything, "numbers")


def _on_ints(operands: Sequence[Type], attrs: Attrs) -> bool:
    del attrs
    return dtype_of(operands[0]).is_int


def _is_zero_divisor(a: Array, b: Array) -> Array | None:
    return np.equal(b, 0) if a.dtype.kind in "iu" else None


_DIVISION_BY_ZERO = Fault("integer division by zero", _is_zero_divisor, _on_ints, of_second=True)


def _is_bad_shift(a: Array, b: Array) -> Array:
    return (b < 0) | (b >= a.dtype.itemsize * 8)


_BAD_SHIFT = Fault(
    "shift by a negative amount or by the width or more", _is_bad_shift, _on_ints, of_second=True
)


def _truncdiv(a: Array, b: Array) -> Array:
    return np.floor_divide(a - np.fmod(a, b), b)


def _select_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    del attrs
    condition, a, b = operands
    if dtype_of(condition) != BOOL:
        raise RuleError(f"the condition must be a bool, not {condition}")
    if a != b:
        raise RuleError(f"the two values differ in type: {a} and {b}")
    if shape_of(condition) != shape_of(a):
        raise RuleError(f"the condition is {condition}, the values are {a}")
    return a


def _select(condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition, a, b)


def _clz(a: Array) -> Array:
    bits = a.dtype.itemsize * 8
    rest = a.view(f"u{a.dtype.itemsize}").copy()
    zeros = np.full(rest.shape, bits, a.dtype)
    for _ in range(bits):
        zeros = np.where(rest != 0, zeros - a.dtype.type(1), zeros)
        rest >>= rest.dtype.type(1)
    return zeros.astype(a.dtype)


def _popcount(a: Array) -> Array:
    # bitwise_count takes the absolute value of signed numbers: count the bits themselves
    return np.bitwise_count(a.view(f"u{a.dtype.itemsize}")).astype(a.dtype)


def _umulhi(a: Array, b: Array) -> Array:
    if a.dtype.itemsize < 8:
        return ((a.astype(np.uint64) * b) >> np.uint64(a.dtype.itemsize * 8)).astype(a.dtype)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low, b_high, b_low = a >> half, a & low, b >> half, b & low
    middle = a_high * b_low + (a_low * b_low >> half)
    return a_high * b_high + (middle >> half) + ((middle & low) + a_low * b_high >> half)


def _trunc_remainder(a: Array, b: Array) -> Array:
    return np.fmod(a, b)


ARITHMETIC = (
    OpDef("add", ("a", "b"), _NUMBERS, np.add, "a + b", commutative=True),
    OpDef("sub", ("a", "b"), _NUMBERS, np.subtract, "a - b"),
    OpDef("mul", ("a", "b"), _NUMBERS, np.multiply, "a * b", commutative=True),
    OpDef("div", ("a", "b"), _FLOATS, np.divide, "a / b of floats"),
    OpDef(
        "floordiv",
        ("a", "b"),
        _NUMBERS,
        through_f32(np.floor_divide),
        "Python's a // b: rounds towards minus infinity",
        fault=_DIVISION_BY_ZERO,
    ),
    OpDef(
        "mod",
        ("a", "b"),
        _NUMBERS,
        through_f32(np.remainder),
        "Python's a % b: has the sign of b",
        fault=_DIVISION_BY_ZERO,
    ),
    OpDef(
        "truncdiv",
        ("a", "b"),
        _INTS,
        _truncdiv,
        "integer division that rounds towards zero, as in C",
        fault=_DIVISION_BY_ZERO,
    ),
    OpDef(
        "truncmod",
        ("a", "b"),
        _NUMBERS,
        through_f32(_trunc_remainder),
        "the remainder with the sign of a, as in C",
        fault=_DIVISION_BY_ZERO,
    ),
    OpDef("neg", ("a",), _NUMBERS, np.negative, "-a"),
    OpDef("abs", ("a",), _NUMBERS, np.absolute, "the absolute value"),
    OpDef(
        "minimum",
        ("a", "b"),
        _NUMBERS,
        lesser,
        "the lesser, -0.0 below 0.0; of a NaN and a number the number",
        commutative=True,
    ),
    OpDef(
        "maximum",
        ("a", "b"),
        _NUMBERS,
        greater,
        "the greater, 0.0 above -0.0; of a NaN and a number the number",
        commutative=True,
    ),
    OpDef("and", ("a", "b"), _BITS, np.bitwise_and, "a & b", commutative=True),
    OpDef("or", ("a", "b"), _BITS, np.bitwise_or, "a | b", commutative=True),
    OpDef("xor", ("a", "b"), _BITS, np.bitwise_xor, "a ^ b", commutative=True),
    OpDef("not", ("a",), _BITS, np.invert, "~a; of a bool, its negation"),
    OpDef("shl", ("a", "b"), _INTS, np.left_shift, "a << b", fault=_BAD_SHIFT),
    OpDef(
        "shr",
        ("a", "b"),
        _INTS,
        np.right_shift,
        "a >> b; keeps the sign of a signed a",
        fault=_BAD_SHIFT,
    ),
    OpDef(
        "umulhi",
        ("a", "b"),
        _UNSIGNED,
        _umulhi,
        "the upper half of the product of unsigned integers",
        commutative=True,
    ),
    OpDef("popcount", ("a",), _INTS, _popcount, "how many bits are set"),
    OpDef("clz", ("a",), _INTS, _clz, "how many zero bits lead"),
    OpDef("lt", ("a", "b"), _COMPARED, np.less, "a < b"),
    OpDef("le", ("a", "b"), _COMPARED, np.less_equal, "a <= b"),
    OpDef("gt", ("a", "b"), _COMPARED, np.greater, "a > b"),
    OpDef("ge", ("a", "b"), _COMPARED, np.greater_equal, "a >= b"),
    OpDef("eq", ("a", "b"), _EQUATED, np.equal, "a == b", commutative=True),
    OpDef("ne", ("a", "b"), _EQUATED, np.not_equal, "a != b", commutative=True),
    OpDef("select", ("condition", "a", "b"), _select_type, _select, "a where condition, else b"),
)

# `not (a < b)` is `a >= b`, except for NaN.
OPPOSITES = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}

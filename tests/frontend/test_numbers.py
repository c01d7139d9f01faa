"""Numbers: division, bits, built-in functions, formats, and the common format of two."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import eas
from eas import mk
from eas.frontend_ast import ArrayArg
from eas.frontend_ast.lower import lower
from eas.frontend_ast.source.errors import CompileError
from eas.ir.nodes import Compute, walk
from eas.ir.types import DTYPES
from tests.frontend.running import NUMBERS, codes_of, same_as_cpython

NOT_ZERO = tuple(n for n in NUMBERS if n)
FLOATS = (-7.5, -2.0, -0.25, 0.0, 0.5, 1.0, 3.25, 10.0)
NOT_ZERO_FLOATS = tuple(x for x in FLOATS if x)


def test_floor_division_rounds_down() -> None:
    def f(a, b):
        return a // b, a % b, (a // b) * b + a % b

    same_as_cpython(f, NUMBERS, NOT_ZERO)


def test_floor_division_of_floats_rounds_down() -> None:
    def f(a, b):
        return a // b, a % b

    same_as_cpython(f, FLOATS, NOT_ZERO_FLOATS, out="float32")


def test_the_remainder_of_floats_has_the_sign_of_the_divisor_even_if_it_is_zero() -> None:
    x = np.array([6.0, -6.0, 6.0, -6.0, 0.0, -0.0], "f4")
    y = np.array([3.0, 3.0, -3.0, -3.0, -3.0, 3.0], "f4")
    quotients, remainders = np.ones(6, "f4"), np.ones(6, "f4")
    _divide_floats[6](x, y, quotients, remainders)
    pairs = [divmod(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    np.testing.assert_array_equal(np.signbit(quotients), [np.signbit(q) for q, _ in pairs])
    np.testing.assert_array_equal(np.signbit(remainders), [np.signbit(r) for _, r in pairs])


@eas.kernel
def _divide_floats(x, y, quotients, remainders):
    i = eas.mk.program_id(0)
    quotients[i], remainders[i] = divmod(x[i], y[i])


def test_division_by_a_constant() -> None:
    def f(n):
        return n // 3, n % 3, n // -3, n % -3, 7 // (n or 2), 7 % (n or 2), -7 // (n or 2)

    same_as_cpython(f)


def test_true_division_of_ints_gives_a_float() -> None:
    def f(a, b):
        return a / b, a / 4, 1 / b

    same_as_cpython(f, NUMBERS, (1, 2, -4, 8), out="float32")


def test_bits() -> None:
    def f(a, b):
        return a & b, a | b, a ^ b, ~a, a << (b & 3), a >> (b & 3), 1 << (b & 7), -1 >> (b & 7)

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_signs() -> None:
    def f(n):
        return -n, +n, abs(n), -(n > 0), +(n > 0), abs(-n * 0.5)

    same_as_cpython(f, out="float32")


def test_a_bool_counts_as_an_int() -> None:
    def f(a, b):
        return (a > b) + (a > 0), (a > 1) * b, a - (b < 2), (a < b) & 1, (a < b) < (b < 3)

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_bools_combine_to_bools() -> None:
    def f(a, b):
        x = (a > 0) & (b > 0) | (a == b) ^ (a < b)
        return x + 0, (x == (a > b)) + 0, (x != (a > b)) + 0

    same_as_cpython(f, NUMBERS, NUMBERS)


def test_min_and_max_of_several() -> None:
    def f(a, b):
        return (
            min(a, b, 2),
            max(a, b, -1),
            min((a, b)),
            max([a, 1, b]),
            min(a, 0.5),
            max(a * 0.5, b),
        )

    same_as_cpython(f, NUMBERS, NUMBERS, out="float32")


def test_conversions() -> None:
    def f(x):
        return int(x), float(x > 0), bool(x), round(x), float(int(x)), int(x > 1)

    same_as_cpython(f, (-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 3.75), out="float32")


def test_powers() -> None:
    def f(n):
        return n**0, n**1, n**2, n**5, 2**3 + n, pow(n, 3)

    same_as_cpython(f, (-3, -1, 0, 2, 7))


def test_constants_are_rounded_to_digits() -> None:
    def f(n):
        return n + int(100 * round(3.14159, 2)), n + round(1250, -2), n + round(2.5, ndigits=None)

    same_as_cpython(f)


@pytest.mark.parametrize("name", ["int8", "int64", "uint8", "uint32"])
def test_cdiv_rounds_up(name: str) -> None:
    @eas.kernel
    def kernel(x, y, out):
        i = mk.arange(0, 8)
        out[i] = mk.cdiv(x[i], y[i])

    limits = np.iinfo(name)
    x = np.array([limits.min, limits.max, 0, 1, 6, 7, 8, limits.max - 1], name)
    y = np.array([3, 2, 5, 5, 7, 7, 7, limits.max], name)
    out = np.zeros(8, name)
    kernel[1](x, y, out)
    assert out.tolist() == [-(-a // b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


@pytest.mark.parametrize("value", [7.5, "text", None])
def test_cdiv_takes_ints(value: object) -> None:
    def kernel(out, X: eas.constexpr):
        out[0] = mk.cdiv(X, 2)

    [code] = codes_of(kernel, "*i32[:]", X=value)
    assert code in ("E0301", "E0302")


class Permission(IntFlag):
    READ = 1
    WRITE = 2


class Level(IntEnum):
    LOW = 1
    HIGH = 5


class Length(float):
    def __add__(self, other: Any) -> Any:
        return float(self) + 1000 * other


def test_members_of_an_enumeration_are_numbers() -> None:
    def f(n):
        return n + Level.HIGH, n & Permission.WRITE, Level.LOW if n > Level.LOW else Level.HIGH

    same_as_cpython(f)


@pytest.mark.parametrize("value", [Length(2), Permission.WRITE])
def test_a_number_with_operators_of_its_own_is_refused(value: Any) -> None:
    def kernel(out, n, X: eas.constexpr):
        out[0] = X + n if isinstance(X, float) else X | n

    assert codes_of(kernel, "*f32[:]", "i32", X=value) == ["E0419"]


def test_divmod_gives_both() -> None:
    def f(a, b):
        q, r = divmod(a, b)
        return q * 1000 + r

    same_as_cpython(f, NUMBERS, NOT_ZERO)


def test_constants_are_computed_by_python() -> None:
    def f(n):
        big = 10**20 // 10**19
        return n + big + int(1e9 / 3 - 333333333) + (2**100 >> 98)

    same_as_cpython(f)


@pytest.mark.parametrize("name", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
def test_ints_wrap_at_their_width(name: str) -> None:
    dtype = DTYPES[name].numpy
    ends = np.iinfo(dtype)
    a = np.array([ends.max, ends.min, ends.max, 3], dtype)
    out = np.zeros((3, 4), dtype)
    _wrap[4](a, out)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, [a + dtype.type(1), a - dtype.type(1), a * a])


@eas.kernel
def _wrap(a, out):
    i = eas.mk.program_id(0)
    out[0, i], out[1, i], out[2, i] = a[i] + 1, a[i] - 1, a[i] * a[i]


# The common format of two runtime values; `.` where there is none. A bool counts as an i32.
PROMOTION = """
      bool i8   i16  i32  i64  u8   u16  u32  u64  f16  bf16 f32  f64
bool  i32  i32  i32  i32  i64  i32  i32  u32  u64  f16  bf16 f32  f64
i8    i32  i8   i16  i32  i64  .    .    .    .    f16  bf16 f32  f64
i16   i32  i16  i16  i32  i64  i16  .    .    .    f16  bf16 f32  f64
i32   i32  i32  i32  i32  i64  i32  i32  .    .    f16  bf16 f32  f64
i64   i64  i64  i64  i64  i64  i64  i64  i64  .    f16  bf16 f32  f64
u8    i32  .    i16  i32  i64  u8   u16  u32  u64  f16  bf16 f32  f64
u16   i32  .    .    i32  i64  u16  u16  u32  u64  f16  bf16 f32  f64
u32   u32  .    .    .    i64  u32  u32  u32  u64  f16  bf16 f32  f64
u64   u64  .    .    .    .    u64  u64  u64  u64  f16  bf16 f32  f64
f16   f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  .    f32  f64
bf16  bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 .    bf16 f32  f64
f32   f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64
f64   f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
"""


def promotions() -> list[tuple[str, str, str]]:
    head, *rows = [line.split() for line in PROMOTION.strip().splitlines()]
    return [
        (row[0], name, common) for row in rows for name, common in zip(head, row[1:], strict=True)
    ]


@pytest.mark.parametrize(("left", "right", "common"), promotions())
def test_two_formats_have_one_common_format(left: str, right: str, common: str) -> None:
    assert common_format(left, right) == common


def common_format(left: str, right: str) -> str:
    def kernel(a, b, out):
        out[0] = a[0] + b[0]

    types = {"a": DTYPES[left], "b": DTYPES[right], "out": DTYPES["f64"]}
    try:
        function = lower(kernel, {k: ArrayArg(v, 1) for k, v in types.items()}).function
    except CompileError as error:
        assert [d.code for d in error.diagnostics] == ["E0306"]
        return "."
    [added] = [op for op in walk(function.body) if isinstance(op, Compute) and op.op.name == "add"]
    return added.result.ty.dtype.name


def test_every_format_has_its_row() -> None:
    assert {left for left, _, _ in promotions()} == set(DTYPES)
    assert len(promotions()) == len(DTYPES) ** 2


@pytest.mark.parametrize(
    "name",
    [
        *("i8", "i16", "i64", "u8", "u64", "f16", "bf16", "f32"),
        pytest.param("f64", marks=pytest.mark.interpreted),
    ],
)
def test_a_literal_takes_the_format_of_the_other_side(name: str) -> None:
    a, out = np.array([5], DTYPES[name].numpy), np.zeros(2, DTYPES[name].numpy)
    _add_literals[1](a, out, DTYPES[name])
    np.testing.assert_array_equal(out, np.array([6, 15], out.dtype))


@eas.kernel
def _add_literals(a, out, DTYPE: eas.constexpr):
    total = a[0] + 1
    eas.mk.static_assert(total.dtype == DTYPE, "the literal has no format of its own")
    out[0] = total
    out[1] = 3 * a[0]


def test_a_float_literal_makes_a_float_of_an_int() -> None:
    def f(n):
        return n * 0.5, n + 0.25, n > 0.5

    same_as_cpython(f, out="float32")


def test_a_literal_that_does_not_fit_is_refused() -> None:
    def kernel(a):
        a[0] = a[0] + 300

    assert codes_of(kernel, "*i8[:]") == ["E0303"]


def test_a_shift_keeps_the_format_of_what_is_shifted() -> None:
    a, b = np.array([1], "i1"), np.array([3], "i8")
    out = np.zeros(2, "i8")
    _shift[1](a, b, out)
    np.testing.assert_array_equal(out, [8, 1 << 3])


@eas.kernel
def _shift(a, b, out):
    eas.mk.static_assert((a[0] << b[0]).dtype == eas.mk.i8)
    eas.mk.static_assert((1 << b[0]).dtype == eas.mk.i64)
    out[0] = a[0] << b[0]
    out[1] = 1 << b[0]


@pytest.mark.parametrize(
    "dtype",
    [
        *(np.float16, ml_dtypes.bfloat16, np.float32),
        pytest.param(np.float64, marks=pytest.mark.interpreted),
    ],
)
def test_a_float_is_rounded_to_its_format_after_every_operation(dtype: Any) -> None:
    a = np.array([1.1, 2.7, -3.3, 0.001]).astype(dtype)
    out = np.zeros(4, dtype)
    _polynomial[4](a, out)
    np.testing.assert_array_equal(out, (a * a + a) * a)


@eas.kernel
def _polynomial(a, out):
    i = eas.mk.program_id(0)
    out[i] = (a[i] * a[i] + a[i]) * a[i]

"""The spelling of each op, and of names and literals."""

from __future__ import annotations

import math

import pytest

from eas.ir.ops import OPS
from eas.ir.types import BF16, F16, F32, I8, I32, I64, U8, U32, U64, DType
from eas.msl.cxx.names import identifier, unique
from eas.msl.cxx.spelling import SPELLED
from eas.msl.ops.dtypes import literal
from tests.msl.texts import body_of, helpers_of


def test_every_op_is_spelled() -> None:
    assert set(OPS) - SPELLED == set()


HEAD = 'kernel f(%u.0: *{dtype}, %v.1: *{dtype}, %w.2: *{result}, %n.3: {dtype}) from "f.py" {{\n'
UNARY = """
    %9: i32 = 0
    %10: {dtype} = load %u.0[%9]
    %11: {result} = {op} %10
    store %w.2[%9] = %11
"""
BINARY = """
    %9: i32 = 0
    %10: {dtype} = load %u.0[%9]
    %11: {dtype} = load %v.1[%9]
    %12: {result} = {op} %10, %11
    store %w.2[%9] = %12
"""


def spelled(ops: str, op: str, dtype: str, result: str = "") -> str:
    """How an op is spelled that is stored by the only thread."""
    result = result or dtype
    head = HEAD.format(dtype=dtype, result=result)
    body = body_of(ops.format(op=op, dtype=dtype, result=result), 1, head)
    return body.strip().removeprefix("w[0] = ").removesuffix(";")


@pytest.mark.parametrize(
    ("op", "dtype", "text"),
    [
        ("add", "f32", "u[0] + v[0]"),
        ("add", "i32", "wrap_add(u[0], v[0])"),
        ("add", "u32", "u[0] + v[0]"),
        ("add", "i8", "char(u[0] + v[0])"),
        ("add", "f16", "u[0] + v[0]"),
        ("add", "bf16", "bfloat(float(u[0]) + float(v[0]))"),
        ("mul", "u16", "ushort(uint(u[0]) * uint(v[0]))"),
        ("mul", "i64", "wrap_mul(u[0], v[0])"),
        ("floordiv", "i32", "floor_div(u[0], v[0])"),
        ("floordiv", "u32", "trunc_div(u[0], v[0])"),
        ("mod", "f32", "floor_mod(u[0], v[0])"),
        ("mod", "f16", "half(floor_mod(float(u[0]), float(v[0])))"),
        ("truncmod", "f32", "fmod(u[0], v[0])"),
        ("maximum", "f32", "fmax(u[0], v[0])"),
        ("maximum", "i32", "max(u[0], v[0])"),
        ("and", "bool", "u[0] && v[0]"),
        ("xor", "bool", "u[0] != v[0]"),
        ("xor", "u8", "uchar(u[0] ^ v[0])"),
        ("shl", "i32", "wrap_shl(u[0], v[0])"),
        ("shr", "i32", "u[0] >> v[0]"),
        ("atan2", "f32", "precise::atan2(u[0], v[0])"),
        ("pow", "f16", "half(precise::pow(float(u[0]), float(v[0])))"),
    ],
)
def test_binary_ops(op: str, dtype: str, text: str) -> None:
    assert spelled(BINARY, op, dtype) == text


@pytest.mark.parametrize(
    ("op", "dtype", "text"),
    [
        ("neg", "f32", "-u[0]"),
        ("neg", "i32", "wrap_neg(u[0])"),
        ("neg", "i16", "short(-u[0])"),
        ("abs", "i32", "wrap_abs(u[0])"),
        ("abs", "f32", "fabs(u[0])"),
        ("not", "bool", "!u[0]"),
        ("not", "u8", "uchar(~u[0])"),
        ("round", "f32", "rint(u[0])"),
        ("exp", "f32", "precise::exp(u[0])"),
        ("exp", "bf16", "bfloat(precise::exp(float(u[0])))"),
        ("erf", "f32", "erf_of(u[0])"),
        ("sigmoid", "f32", "sigmoid_of(u[0])"),
        ("sign", "f32", "sign_of(u[0])"),
        ("popcount", "u32", "popcount(u[0])"),
    ],
)
def test_unary_ops(op: str, dtype: str, text: str) -> None:
    assert spelled(UNARY, op, dtype) == text


@pytest.mark.parametrize(
    ("dtype", "result", "text"),
    [
        ("f32", "i32", "int(u[0])"),
        ("i32", "f32", "float(u[0])"),
        ("f32", "bool", "u[0] != 0.0f"),
        ("i32", "bf16", "bfloat(float(u[0]))"),
        ("bf16", "i32", "int(float(u[0]))"),
        ("bool", "f16", "half(u[0])"),
    ],
)
def test_casts_are_explicit(dtype: str, result: str, text: str) -> None:
    ops = UNARY.replace("{op} %10", f"cast %10 dtype={result}")
    assert spelled(ops, "", dtype, result) == text


def test_arithmetic_that_cannot_overflow_is_plain() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32 = 100
        %12: i32[32] = splat %11 shape=[32]
        %13: i32[32] = mul %10, %12
        store %i.2[%10] = %13
    """
    assert body_of(ops, 32).endswith("i[t] = t * 100;\n")


def test_offsets_are_plain_and_numbers_wrap() -> None:
    ops = """
        %10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: i32[32] = mul %10, %11
        %13: i32[32] = sub %11, %10
        store %i.2[%12] = %13
    """
    assert body_of(ops, 32).endswith("i[t * n] = wrap_sub(n, t);\n")


PARENTHESES = [
    ("%10: f32 = add %x.5, %x.5\n%11: f32 = mul %10, %x.5", "(x + x) * x"),
    ("%10: f32 = mul %x.5, %x.5\n%11: f32 = add %10, %x.5", "x * x + x"),
    ("%10: f32 = sub %x.5, %x.5\n%11: f32 = sub %x.5, %10", "x - (x - x)"),
    ("%10: f32 = sub %x.5, %x.5\n%11: f32 = sub %10, %x.5", "x - x - x"),
    ("%10: f32 = neg %x.5\n%11: f32 = neg %10", "-(-x)"),
    ("%10: f32 = div %x.5, %x.5\n%11: f32 = div %x.5, %10", "x / (x / x)"),
    ("%10: bool = lt %x.5, %x.5\n%11: f32 = select %10, %x.5, %x.5", "x < x ? x : x"),
]


@pytest.mark.parametrize(("ops", "text"), PARENTHESES)
def test_parentheses_stand_only_where_precedence_asks(ops: str, text: str) -> None:
    body = body_of(f"%9: i32 = 0\n{ops}\nstore %a.0[%9] = %11", 1)
    assert body == f"a[0] = {text};\n"


def test_helpers_stand_above_the_kernel_if_they_are_used() -> None:
    ops = """
        %9: i32 = 0
        %10: i32 = load %i.2[%9]
        %11: i32 = mod %10, %n.4
        store %j.3[%9] = %11
    """
    assert (
        helpers_of(ops)
        == """\
// Python's a % b: has the sign of b; by zero it gives zero.
inline int floor_mod(int a, int b) {
    if (b == 0 || b == -1) {
        return 0;
    }
    const int r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

"""
    )


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.1, F32, "0.1f"),
        (-2.5, F32, "-2.5f"),
        (1e-7, F32, "0.0000001f"),
        (1e30, F32, "1e+30f"),
        (1e39, F32, "INFINITY"),
        (math.nan, F32, "NAN"),
        (0.5, F16, "0.5h"),
        (-math.inf, F16, "half(-INFINITY)"),
        (0.1, BF16, "bfloat(0.1f)"),
        (3, I32, "3"),
        (-(2**31), I32, "INT_MIN"),
        (3, U32, "3u"),
        (-3, I64, "-3L"),
        (-(2**63), I64, "(-9223372036854775807L - 1)"),
        (2**64 - 1, U64, "18446744073709551615UL"),
        (-1, I8, "char(-1)"),
        (1, U8, "uchar(1)"),
    ],
)
def test_literals(value: float, dtype: DType, text: str) -> None:
    assert literal(value, dtype).text == text


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        ("offs", "offs"),
        ("half", "half_"),
        ("float4", "float4_"),
        ("max", "max_"),
        ("_hidden", "hidden"),
        ("größe", "gru00f6u00dfe"),
        ("a.shape[0]", "a_shape_0"),
        ("2d", "v2d"),
        ("", ""),
    ],
)
def test_names_are_made_legal_in_metal(hint: str, name: str) -> None:
    assert identifier(hint) == name


def test_names_are_made_unique_by_a_number() -> None:
    assert unique("x", {"x", "x_1"}) == "x_2"

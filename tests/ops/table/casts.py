"""Casts from every dtype to every other one, and the bits of one read as another."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np

import eas
from eas import mk
from eas.ir.types import BF16, DTYPES, F64, DType
from tests.ops.shapes import SHAPES, Shape, offsets
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import Array, values
from tests.ops.table.records import accepts

ALL = tuple(DTYPES.values())


def castable(random: np.random.Generator, source: DType, target: DType, size: int) -> Array:
    """Numbers of the source that the target has a result for, among them those that are hard."""
    hard = _hard(source, target)
    if source.is_float and target.is_int:
        low = max(float(target.min), -float(ml_dtypes.finfo(source.numpy).max))
        high = min(float(target.max), float(ml_dtypes.finfo(source.numpy).max))
        usual = random.uniform(low / 2, high / 2, size) * 2.0 ** -random.integers(0, 40, size)
        usual = usual.astype(source.numpy)
    else:
        usual = values(random, source, size)
    if size >= 2 * hard.size:
        return np.concatenate([hard, usual[hard.size :]])
    return np.where(random.random(size) < 0.5, random.choice(hard, size), usual)


def hard_numbers(source: DType) -> Array:
    if source.is_bool:
        return np.array([False, True])
    return _hard_floats(source) if source.is_float else _hard_integers(source)


def _hard(source: DType, target: DType) -> Array:
    numbers = hard_numbers(source)
    if not source.is_float or not target.is_int:
        return numbers
    low, high = float(target.min), float(target.max) + 1.0
    with np.errstate(all="ignore"):
        edges = np.array([low, low - 0.75, high], np.float64).astype(source.numpy)
        inside = np.nextafter(edges[2], source.numpy.type(0))
        numbers = np.concatenate([numbers, edges, [inside, -inside]]).astype(source.numpy)
        whole = np.trunc(numbers.astype(np.float64))
    return numbers[(whole >= low) & (whole < high)]


def _hard_integers(source: DType) -> Array:
    """Next to powers of two and to the middle between two floats of fewer digits."""
    powers = [1 << bit for bit in range(source.bits)]
    near = [n + k for n in powers for k in (-1, 0, 1)]
    halves = [
        n + (n >> digits) + k for n in powers for digits in (8, 11, 24, 53) for k in (-1, 0, 1)
    ]
    numbers = {n for m in near + halves for n in (m, -m) if source.min <= n <= source.max}
    return np.array(sorted(numbers), source.numpy)


def _hard_floats(source: DType) -> Array:
    """Zeros, halves, the least and the greatest of each format, and what is just off a tie."""
    numbers = [0.0, 0.5, 1.5, 2.5, 0.99, 99.99, 126.5, 65504.0, 65519.9, 65520.0, 3.4e38, math.inf]
    numbers += [
        2.0**-24,
        2.0**-25,
        1.5 * 2.0**-25,
        2.0**-14,
        2.0**-133,
        2.0**-134,
        2.0**-149,
        1e-310,
    ]
    for digits in (8, 11, 24):
        tie = 1.0 + 2.0**-digits
        numbers += [tie, tie + 2.0 ** (1 - digits), tie + 2.0**-40, tie - 2.0**-40, tie * 2.0**-14]
    with np.errstate(all="ignore"):
        given = np.array([*numbers, *(-n for n in numbers), math.nan], np.float64)
        return given.astype(source.numpy)


def cast_once(a: Array, target: DType) -> Array:
    """What NumPy gives, but that an f64 is rounded to bf16 once, not through f32."""
    if a.dtype == F64.numpy and target == BF16:
        a = np.array([_nearest(x, target) for x in a.tolist()])
    with np.errstate(all="ignore"):
        return a.astype(target.numpy)


def _nearest(x: float, target: DType) -> float:
    """The float of a format next to a number, of two the one whose last digit is even."""
    if not math.isfinite(x) or x == 0:
        return float(x)
    format = ml_dtypes.finfo(target.numpy)
    exact = Fraction(x)
    exponent = max(math.frexp(x)[1] - 1, int(format.minexp)) - int(format.nmant)
    rounded = float(round(exact / Fraction(2) ** exponent) * Fraction(2) ** exponent)
    if abs(rounded) > float(format.max):
        return math.copysign(math.inf, rounded)
    return math.copysign(rounded, x)


@eas.kernel
def cast_each(
    x, to_bool, to_i8, to_i16, to_i32, to_i64, to_u8, to_u16, to_u32, to_u64, to_f16, to_bf16,
    to_f32, FUNCTIONS: eas.constexpr, SHAPE: eas.constexpr, SIZE: eas.constexpr,
):  # fmt: skip
    """Row `k` of `x` goes through function number `k`."""
    at = offsets(SHAPE)
    signed, unsigned = (to_i8, to_i16, to_i32, to_i64), (to_u8, to_u16, to_u32, to_u64)
    outs = (to_bool, *signed, *unsigned, to_f16, to_bf16, to_f32)
    for k, (out, convert) in enumerate(zip(outs, FUNCTIONS, strict=True)):
        mk.store(out, at, convert(mk.load(x, k * SIZE + at)))


def launch_casts(dtype: DType, shape: Shape) -> Launch:
    targets = tuple(target for target in ALL if target != F64)
    size = int(np.prod(shape))
    random = np.random.default_rng(size)
    x = np.stack([castable(random, dtype, target, size) for target in targets])
    outs = {target: np.zeros(size, target.numpy) for target in targets}
    rights = [cast_once(row, target) for row, target in zip(x, targets, strict=True)]
    checks = [
        Check(f"to {target}", out, right)
        for (target, out), right in zip(outs.items(), rights, strict=True)
    ]
    arrays = {f"to_{target}": out for target, out in outs.items()}
    functions = tuple(getattr(mk, f"to_{target}") for target in targets)
    given = {"x": x, **arrays, "FUNCTIONS": functions, "SHAPE": shape, "SIZE": size}
    return Launch(cast_each, given, checks)


@eas.kernel
def widen(x, out, SHAPE: eas.constexpr, SIZE: eas.constexpr):
    at = offsets(SHAPE)
    v = mk.load(x, at)
    mk.store(out, at, mk.to_f64(v))
    mk.store(out, SIZE + at, v.to(mk.f64))
    mk.store(out, 2 * SIZE + at, mk.cast(v, mk.f64))


def launch_widening(dtype: DType, shape: Shape) -> Launch:
    size = int(np.prod(shape))
    x = castable(np.random.default_rng(size), dtype, F64, size)
    out = np.zeros((3, size), np.float64)
    names = ("to_f64", "to", "cast")
    checks = [Check(f"{n} f64", o, x.astype(np.float64)) for n, o in zip(names, out, strict=True)]
    given = {"x": x, "out": out, "SHAPE": shape, "SIZE": size}
    return Launch(widen, given, checks, refusal="Metal has no f64")


@eas.kernel
def read_bits(x, first, second, third, TARGETS: eas.constexpr, SHAPE: eas.constexpr):
    at = offsets(SHAPE)
    for out, target in zip((first, second, third), TARGETS, strict=True):
        mk.store(out, at, mk.bitcast(mk.load(x, at), target))


def launch_bitcasts(dtype: DType, shape: Shape) -> Launch:
    """Every other dtype of the same width; as there are one to three, some come twice."""
    others = [d for d in ALL if accepts("bitcast", dtype, d) and d not in (dtype, F64)]
    targets = tuple((others * 3)[:3])
    size = int(np.prod(shape))
    bits = np.random.default_rng(size).integers(0, 256, size * dtype.bits // 8, np.uint8)
    x = bits.view(dtype.numpy)
    outs = [np.zeros(size, target.numpy) for target in targets]
    checks = [
        Check(f"the bits as {target}", out.view(np.uint8), bits)
        for target, out in zip(targets, outs, strict=True)
    ]
    arrays = dict(zip(("first", "second", "third"), outs, strict=True))
    return Launch(read_bits, {"x": x, **arrays, "TARGETS": targets, "SHAPE": shape}, checks)


@eas.kernel
def read_as_f64(x, out, SHAPE: eas.constexpr):
    at = offsets(SHAPE)
    mk.store(out, at, mk.bitcast(mk.load(x, at), mk.f64))


def launch_bits_of_f64(dtype: DType, shape: Shape) -> Launch:
    size = int(np.prod(shape))
    bits = np.random.default_rng(size).integers(0, 256, size * 8, np.uint8)
    out = np.zeros(size, np.float64)
    checks = [Check("the bits as f64", out.view(np.uint8), bits)]
    given = {"x": bits.view(dtype.numpy), "out": out, "SHAPE": shape}
    return Launch(read_as_f64, given, checks, refusal="Metal has no f64")


_WITH_BITS = tuple(d for d in ALL if not d.is_bool)
_OF_64_BITS = tuple(d for d in _WITH_BITS if accepts("bitcast", d, F64))

CASTS = (
    Family("cast", ALL, SHAPES, launch_casts),
    Family("cast to f64", ALL, SHAPES, launch_widening),
    Family("bitcast", _WITH_BITS, SHAPES, launch_bitcasts),
    Family("bitcast to f64", _OF_64_BITS, SHAPES, launch_bits_of_f64),
)

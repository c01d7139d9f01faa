"""Random numbers: `randint4x`, `randint`, `rand`, `randn`, all words of Philox."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Num, Operand, Tuple
from eas.frontend_ast.promote import broadcast, cast, common_shape, describe, materialize, number
from eas.ir.types import F32, I32, U32, U64, Shape

# The least float above 0 that a word gives; a logarithm of it is finite.
_SCALE = 2.0**-31


def _randint4x(ctx: Context, seed: Operand, offset: Operand) -> Operand:
    return Tuple(tuple(_words(ctx, seed, offset, 4)))


def _randint(ctx: Context, seed: Operand, offset: Operand) -> Operand:
    return _words(ctx, seed, offset, 1)[0]


def _rand(ctx: Context, seed: Operand, offset: Operand) -> Operand:
    [word] = _words(ctx, seed, offset, 1)
    return _uniform(ctx, word)


def _randn(ctx: Context, seed: Operand, offset: Operand) -> Operand:
    """Box and Muller: the radius from one word, the angle from another."""
    first, second = _words(ctx, seed, offset, 2)
    u, v = _uniform(ctx, first), _uniform(ctx, second)
    least = _constant(ctx, _SCALE, u.shape)
    logarithm = ctx.compute("log", ctx.compute("maximum", u.value, least.value).value)
    square = ctx.compute("mul", logarithm.value, _constant(ctx, -2.0, u.shape).value)
    angle = ctx.compute("mul", v.value, _constant(ctx, 2.0 * math.pi, u.shape).value)
    radius = ctx.compute("sqrt", square.value)
    return ctx.compute("mul", radius.value, ctx.compute("cos", angle.value).value)


def _words(ctx: Context, seed: Operand, offset: Operand, count: Literal[1, 2, 4]) -> list[Num]:
    """The first words of Philox: the offset is the counter, the seed is the key."""
    key, counter = _integer(ctx, seed, "a seed"), _integer(ctx, offset, "an offset")
    shape = common_shape(ctx, [key, counter])
    low, high = _halves(ctx, broadcast(ctx, counter, shape))
    k0, k1 = _halves(ctx, broadcast(ctx, key, shape))
    zero = broadcast(ctx, Num(ctx.build.constant(0, U32)), shape)
    operands = [num.value for num in (low, high, zero, zero, k0, k1)]
    return [ctx.compute("philox", *operands, word=word) for word in range(count)]


def _integer(ctx: Context, operand: Operand, what: str) -> Num:
    num = materialize(ctx, number(ctx, operand, what))
    if not num.dtype.is_int:
        raise ctx.refusal("E0302", f"{what} is an int, this is {describe(num)}", at=operand)
    return num


def _halves(ctx: Context, num: Num) -> tuple[Num, Num]:
    """The lower and the upper 32 bits of an integer."""
    low = cast(ctx, num, U32)
    if num.dtype.bits < 64:
        return low, broadcast(ctx, Num(ctx.build.constant(0, U32)), num.shape)
    wide = cast(ctx, num, U64)
    by = broadcast(ctx, Num(ctx.build.constant(32, U64)), num.shape)
    return low, cast(ctx, ctx.compute("shr", wide.value, by.value), U32)


def _uniform(ctx: Context, word: Num) -> Num:
    """A float from 0 on, below 1: the upper 24 bits, of which all are exact."""
    by = broadcast(ctx, Num(ctx.build.constant(8, U32)), word.shape)
    bits = cast(ctx, ctx.compute("shr", word.value, by.value), I32)
    scale = _constant(ctx, 2.0**-24, word.shape)
    return ctx.compute("mul", cast(ctx, bits, F32).value, scale.value)


def _constant(ctx: Context, value: float, shape: Shape) -> Num:
    return broadcast(ctx, Num(ctx.build.constant(value, F32)), shape)


RANDOMS: dict[str, Callable[..., Operand]] = {
    "randint4x": _randint4x,
    "randint": _randint,
    "rand": _rand,
    "randn": _randn,
}

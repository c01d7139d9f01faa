"""Polynomials and other building blocks of the functions of floats."""

from __future__ import annotations

from collections.abc import Sequence

from eas.llvm.emit.emit import Emitter, V, const, like


def polynomial(e: Emitter, x: V, coefficients: Sequence[float]) -> V:
    """c0 + c1 * x + c2 * x**2 + ..., by Horner's scheme with one `fma` per step."""
    total = const(x.ty, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = e.fma(total, x, const(x.ty, c))
    return total


def clamped(e: Emitter, x: V, low: float, high: float) -> V:
    """x clamped to the range from low to high; a NaN stays a NaN."""
    x = e.select(e.fcmp("ogt", x, const(x.ty, high)), const(x.ty, high), x)
    return e.select(e.fcmp("olt", x, const(x.ty, low)), const(x.ty, low), x)


def round_even(e: Emitter, x: V) -> V:
    return e.intrinsic("roundeven", x)


def to_int(e: Emitter, x: V, element: str) -> V:
    """An integral float as an integer; for a NaN the result is unspecified."""
    ty = like(x, element)
    return e.value(ty, f"freeze {e.value(ty, f'fptosi {x} to {ty}')}")


def power_of_two(e: Emitter, n: V) -> V:
    """2**n as a float of the width of n; n is in the range of normal exponents."""
    bias, shift = (127, 23) if n.element == "i32" else (1023, 52)
    biased = e.add(n, const(n.ty, bias))
    return e.floats(e.binary("shl", biased, const(n.ty, shift)))


def to_double(e: Emitter, x: V) -> V:
    return e.cast("fpext", x, "double")


def to_float(e: Emitter, x: V) -> V:
    return e.cast("fptrunc", x, "float")

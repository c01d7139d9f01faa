"""Measures the polynomials of the CPU's functions of f32, and compares them with best fits.

    python -m scripts.polynomials

Each table of coefficients in `llvm/emit` is one line: the largest error of the function that is
computed from the table in exact arithmetic, and that of the best (minimax) polynomial with as many
coefficients, found by Remez' algorithm. Errors are powers of two; half a unit in the last place of
an f32 is 2**-25. The tables were found by such fits, but not by this script, which does not give
the same bits. Tables that are evaluated in f32 were rounded to f32, which costs up to five bits.
`docs/accuracy.md` has the errors of the functions as they are compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eas.llvm.emit import exponentials, logarithms, trigonometry
from eas.support.records import frozen

Array = np.ndarray[Any, np.dtype[Any]]  # of `longdouble`
Function = Callable[[Array], Array]

POINTS = 4001
GAP = 1e-3  # around zero, where targets are 0 / 0


@frozen
class Fit:
    """A polynomial p for which `offset(x) + factor(x) * p(variable(x))` approximates `exact(x)`.

    The error that counts is the difference times `weight(x)`.
    """

    name: str
    table: Sequence[float]
    low: float
    high: float
    exact: Function
    offset: Function
    factor: Function
    variable: Function
    weight: Function


@frozen
class Samples:
    """Points of a fit: the variable, the polynomial's target there, and the error's weight."""

    variable: Array
    target: Array
    weight: Array

    def error(self, coefficients: Array) -> Array:
        return self.weight * (np.polyval(coefficients[::-1], self.variable) - self.target)


def _one(x: Array) -> Array:
    return np.ones_like(x)


def _zero(x: Array) -> Array:
    return np.zeros_like(x)


def _same(x: Array) -> Array:
    return x


def _square(x: Array) -> Array:
    return x * x


def _cube(x: Array) -> Array:
    return x**3


def _each(function: Callable[[float], float]) -> Function:
    """A function of doubles, which are exact enough for errors of f32."""
    return lambda x: np.array([function(float(each)) for each in x], np.longdouble)


_erf, _erfc = _each(math.erf), _each(math.erfc)


def _relative(exact: Function) -> Function:
    return lambda x: 1 / exact(x)


def _odd(name: str, table: Sequence[float], high: float, exact: Function) -> Fit:
    """x + x**3 * p(x**2), by relative error."""
    return Fit(name, table, 0, high, exact, _same, _cube, _square, _relative(exact))


def fits() -> list[Fit]:
    """The fits of all tables."""
    e, log, t = exponentials, logarithms, trigonometry
    half, root = math.log(2) / 2, math.sqrt(2)
    return [
        Fit("EXP", e.EXP, -half, half, np.exp, lambda x: 1 + x, _square, _same, _relative(np.exp)),
        Fit("EXP2", e.EXP2, -0.5, 0.5, np.exp2, _one, _same, _same, _relative(np.exp2)),
        Fit("EXP2_DOUBLE", e.EXP2_DOUBLE, -0.5, 0.5, np.exp2, _zero, _one, _same, _one),
        _odd("TANH", e.TANH, 0.625, np.tanh),
        _odd("SINH", e.SINH, 1.0, np.sinh),
        Fit("ERF", e.ERF, 0, 1.0, _erf, _same, _same, _square, _relative(_erf)),
        Fit(
            "LOG2_ERFC", e.LOG2_ERFC, 1.0, 4.0, lambda x: np.log2(_erfc(x)), _zero, _one, _same,
            lambda x: _erfc(x) * math.log(2),
        ),
        Fit("EXP2_ERFC", e.EXP2_ERFC, -0.5, 0.5, np.exp2, _one, _same, _same, _relative(np.exp2)),
        Fit(
            "LOG", log.LOG, 1 / root - 1, root - 1, np.log1p, lambda x: x - x * x / 2, _cube, _same,
            _relative(np.log1p),
        ),
        _odd("SIN", t.SIN, math.pi / 4, np.sin),
        Fit("COS", t.COS, 0, math.pi / 4, np.cos, _one, _square, _square, _one),
        _odd("ASIN", t.ASIN, 0.5, np.arcsin),
        _odd("ATAN", t.ATAN, math.tan(math.pi / 8), np.arctan),
    ]  # fmt: skip


def sample(fit: Fit) -> Samples:
    """The points of a fit, dense at both ends, in the order of the variable."""
    turn = np.linspace(0, np.pi, POINTS, dtype=np.longdouble)
    middle, half = (fit.high + fit.low) / 2, (fit.high - fit.low) / 2
    x = middle - half * np.cos(turn)
    x = x[np.abs(x) > GAP]
    target = (fit.exact(x) - fit.offset(x)) / fit.factor(x)
    variable = fit.variable(x)
    order = np.argsort(variable)
    weight = np.abs(fit.weight(x) * fit.factor(x))
    return Samples(variable[order], target[order], weight[order])


def table_error(fit: Fit) -> float:
    """The largest error of a table, in exact arithmetic."""
    table = np.array(fit.table, np.longdouble)
    return float(np.abs(sample(fit).error(table)).max())


def best_error(fit: Fit) -> float:
    """The error of the minimax polynomial, by Remez' exchange algorithm on the points."""
    samples, count = sample(fit), len(fit.table)
    last = len(samples.variable) - 1
    cosines = np.cos(np.pi * np.arange(count + 1) / count)
    chosen = np.round(last * (1 - cosines) / 2).astype(int)
    while True:
        error = samples.error(_level(samples, chosen, count))
        extremes = _extremes(error, count + 1)
        if len(extremes) <= count or np.array_equal(extremes, chosen):
            return float(np.abs(error).max())
        chosen = extremes


def _level(samples: Samples, chosen: Any, count: int) -> Array:
    """The coefficients whose errors at the chosen points are equal, with alternating signs."""
    powers = np.vander(samples.variable[chosen], count, increasing=True)
    signs = np.where(np.arange(count + 1) % 2, -1, 1) / samples.weight[chosen]
    matrix = np.concatenate([powers, signs[:, None]], axis=1)
    return _solve(matrix, samples.target[chosen])[:count]


def _extremes(error: Array, count: int) -> Any:
    """The point of the largest error between every two changes of its sign, `count` at most."""
    changes = np.flatnonzero(np.sign(error[1:]) != np.sign(error[:-1])) + 1
    runs = np.split(np.arange(len(error)), changes)
    found = [int(run[np.argmax(np.abs(error[run]))]) for run in runs]
    while len(found) > count:
        found.pop(0 if abs(error[found[0]]) < abs(error[found[-1]]) else -1)
    return np.array(found)


def _solve(matrix: Array, right: Array) -> Array:
    """Gaussian elimination; NumPy's own solver has no `longdouble`."""
    rows = np.concatenate([matrix, right[:, None]], axis=1)
    for n in range(len(rows)):
        pivot = n + int(np.argmax(np.abs(rows[n:, n])))
        rows[[n, pivot]] = rows[[pivot, n]]
        rows[n] /= rows[n, n]
        for other in range(len(rows)):
            if other != n:
                rows[other] -= rows[other, n] * rows[n]
    return rows[:, -1]


def main() -> None:
    print(f"{'table':12} {'terms':>5} {'from':>8} {'to':>8} {'error':>9} {'best fit':>9}")
    for fit in fits():
        own, best = math.log2(table_error(fit)), math.log2(best_error(fit))
        ends = f"{fit.low:8.4f} {fit.high:8.4f}"
        print(f"{fit.name:12} {len(fit.table):5} {ends} {own:9.2f} {best:9.2f}")


if __name__ == "__main__":
    main()

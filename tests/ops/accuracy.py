"""Measures how exact the functions are on each backend; `python -m tests.ops.accuracy` prints it.

The truth is computed in NumPy's `longdouble`, which has 64 bits of precision on x86 and no fewer
than f64 anywhere. Errors are in units of the last place of the true value's dtype.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import eas
from eas import mk
from eas.ir.types import BF16, F16, F32, DType

Array = np.ndarray[Any, np.dtype[Any]]
BACKENDS = ("interpret", "cpu", "msl-host")
DTYPES = (F32, F16, BF16)
STRIDE = 509
inf, nan = math.inf, math.nan

_erf_of_one = np.vectorize(math.erf, otypes=[np.longdouble])

FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": _erf_of_one,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
}
FUNCTIONS_OF_TWO: dict[str, Callable[[Array, Array], Array]] = {
    "pow": np.power,
    "atan2": np.arctan2,
    "fmod": np.fmod,
}
NAMES = (*FUNCTIONS, *FUNCTIONS_OF_TWO)

SPECIAL = np.array([0, -0.0, inf, -inf, nan, 1, -1, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38])
# Where functions are hard to compute: roots, poles, cuts, and where results begin to overflow.
CRITICAL = (
    1, -1, 0.5, -0.5, 2, math.pi, math.pi / 2, -1.5 * math.pi, 100 * math.pi, 1e-8, 0.3, 0.4142, 4,
    9, 16.6, 88.7, 88.72284, -87.3, -103.9, 127.99, -126, -149,
)  # fmt: skip


@eas.kernel
def apply(x, out, N, FN: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, FN(mk.load(x, i, i < N)), i < N)


@eas.kernel
def apply_to_two(x, y, out, N, FN: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, FN(mk.load(x, i, i < N), mk.load(y, i, i < N)), i < N)


def arguments(name: str, dtype: DType, stride: int = STRIDE) -> list[Array]:
    """Every f16 or bf16; every `stride`-th f32, and many neighbours of some. Or pairs of them."""
    with np.errstate(over="ignore"):
        if name in FUNCTIONS_OF_TWO:
            return [each.astype(dtype.numpy) for each in _pairs(name, 100_000_000 // stride)]
    if dtype != F32:
        return [np.arange(1 << 16, dtype=np.uint16).view(dtype.numpy)]
    if name == "erf":
        stride *= 16  # the truth is computed one by one
    bits = np.arange(0, 1 << 32, stride, dtype=np.uint64).astype(np.uint32)
    around = max(1_000_000 // stride, 50)
    near = [_neighbours(point, around) for point in CRITICAL]
    return [np.concatenate([bits.view(np.float32), SPECIAL.astype(np.float32), *near])]


def _neighbours(center: float, count: int) -> Array:
    bits = int(np.float32(center).view(np.int32)) + np.arange(-count, count)
    return bits.astype(np.int32).view(np.float32)


def _pairs(name: str, count: int) -> tuple[Array, Array]:
    random = np.random.default_rng(0)

    def sizes(most: float) -> Array:
        return np.exp(random.uniform(-most, most, count)) * random.choice([-1, 1], count)

    if name == "pow":
        whole = np.round(random.uniform(-30, 30, count))
        near_one = 1 + random.normal(0, 1e-3, count)
        x = np.concatenate([np.abs(sizes(7)), near_one, sizes(3)])
        y = np.concatenate([random.uniform(-14, 14, count), sizes(11), whole])
    else:
        x, y = sizes(60), sizes(60)
        y[: count // 2] = x[: count // 2] * np.exp(random.normal(0, 2, count // 2))
    grid = np.concatenate([SPECIAL, [2, -2, 3, -3, 0.5, -0.5]])
    first, second = np.repeat(grid, len(grid)), np.tile(grid, len(grid))
    return np.concatenate([x, first]), np.concatenate([y, second])


def exact(name: str, given: list[Array]) -> Array:
    function: Any = FUNCTIONS.get(name) or FUNCTIONS_OF_TWO[name]
    with np.errstate(all="ignore"):
        wide = [each.astype(np.float64).astype(np.longdouble) for each in given]
        return np.asarray(function(*wide), np.longdouble)


def run(name: str, given: list[Array], backend: str) -> Array:
    out = np.zeros_like(given[0])
    kernel: Any = apply if len(given) == 1 else apply_to_two
    kernel(*given, out, out.size, FN=getattr(mk, name), BLOCK=1024, _backend=backend)
    return out


def errors(found: Array, truth: Array, dtype: DType) -> Array:
    """How far results are off; one that is infinite, or NaN, or neither by mistake is lost."""
    with np.errstate(all="ignore"):
        nearest = truth.astype(np.float64).astype(dtype.numpy).astype(np.float64)
        result = found.astype(np.float64)
        off = np.abs(result - truth) / _last_place(nearest, dtype)
    is_same = (result == nearest) | (np.isnan(result) & np.isnan(nearest))
    return np.where(is_same, 0, np.where(np.isfinite(off), off, inf)).astype(np.float64)


def _last_place(values: Array, dtype: DType) -> Array:
    digits, least = {F32: (23, -126), F16: (10, -14), BF16: (7, -126)}[dtype]
    size = np.abs(values)
    exponent = np.floor(np.log2(np.where((size > 0) & np.isfinite(size), size, 1)))
    return np.exp2(np.maximum(exponent, least) - digits)


def worst(
    name: str, dtype: DType, backend: str, stride: int = STRIDE
) -> tuple[float, list[float], float]:
    """The greatest error, the arguments that give it, and the result."""
    given = arguments(name, dtype, stride)
    found = run(name, given, backend)
    off = errors(found, exact(name, given), dtype)
    place = int(off.argmax())
    return float(off[place]), [float(each[place]) for each in given], float(found[place])


def table(stride: int = STRIDE) -> str:
    columns = [(dtype, backend) for dtype in DTYPES for backend in BACKENDS]
    heads = [f"{backend}, {dtype}" for dtype, backend in columns]
    lines = [f"| function | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for name in NAMES:
        cells = [f"{worst(name, dtype, backend, stride)[0]:.2f}" for dtype, backend in columns]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if len(sys.argv) > 1 else STRIDE))

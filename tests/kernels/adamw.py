"""A step of the optimizer AdamW: weights of bf16, moments of f32, all updated in place."""

from dataclasses import dataclass

import numpy as np

import eas
from eas import mk
from eas.ir.types import BF16
from tests.kernels.case import Arguments, Array, Case, floats


@dataclass(frozen=True)
class Rates:
    first: float = 0.9
    second: float = 0.999
    decay: float = 0.01
    epsilon: float = 1e-8


@eas.kernel
def adamw(
    weights, gradient, mean, square, N, rate, step, RATES: eas.constexpr, BLOCK: eas.constexpr
):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if i >= N:
        return
    g = gradient[i].to(mk.f32)
    mean[i] = m = RATES.first * mean[i] + (1 - RATES.first) * g
    square[i] = s = RATES.second * square[i] + (1 - RATES.second) * g**2
    m, s = m / (1 - RATES.first**step), s / (1 - RATES.second**step)
    w = weights[i].to(mk.f32) * (1 - rate * RATES.decay)
    weights[i] = w - rate * m / (mk.sqrt(s) + RATES.epsilon)


def arguments() -> Arguments:
    n = 301
    return {
        "weights": floats(n).astype(BF16.numpy), "gradient": floats(n, seed=1).astype(BF16.numpy),
        "mean": floats(n, seed=2), "square": np.abs(floats(n, seed=3)), "N": n,
        "rate": 0.125, "step": 3, "RATES": Rates(), "BLOCK": 128,
    }  # fmt: skip


def reference(
    weights: Array, gradient: Array, mean: Array, square: Array, **_: object
) -> dict[str, Array]:
    g = gradient.astype("f8")
    m, s = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g**2
    step = (m / (1 - 0.9**3)) / (np.sqrt(s / (1 - 0.999**3)) + 1e-8)
    w = weights.astype("f8") * (1 - 0.125 * 0.01) - 0.125 * step
    return {"weights": w.astype(BF16.numpy), "mean": m, "square": s}


CASE = Case(adamw, arguments, reference, grid=(3,), tolerance=1e-6)

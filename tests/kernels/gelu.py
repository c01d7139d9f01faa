"""The Gaussian error linear unit, by its tanh approximation."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats

SQRT_2_OVER_PI = math.sqrt(2 / math.pi)


@eas.kernel
def gelu(x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N)
    inner = SQRT_2_OVER_PI * (v + 0.044715 * v * v * v)
    mk.store(y, offs, 0.5 * v * (1.0 + mk.tanh(inner)), offs < N)


def arguments() -> Arguments:
    return {"x": 3 * floats(1000), "y": np.zeros(1000, "f4"), "N": 1000, "BLOCK": 512}


def reference(x: Array, **_: object) -> dict[str, Array]:
    v = x.astype(np.float64)
    return {"y": 0.5 * v * (1 + np.tanh(SQRT_2_OVER_PI * (v + 0.044715 * v**3)))}


CASE = Case(gelu, arguments, reference, tolerance=1e-6)

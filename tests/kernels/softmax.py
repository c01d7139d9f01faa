"""Softmax of each row of a matrix, one program per row."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def softmax(x, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    offs = mk.arange(0, BLOCK)
    v = mk.load(x, row * N + offs, offs < N, other=-math.inf)
    powers = mk.exp(v - mk.max(v))
    mk.store(y, row * N + offs, powers / mk.sum(powers), offs < N)


def arguments() -> Arguments:
    return {"x": floats(7, 1000), "y": np.zeros((7, 1000), "f4"), "N": 1000, "BLOCK": 1024}


def reference(x: Array, **_: object) -> dict[str, Array]:
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return {"y": powers / powers.sum(axis=1, keepdims=True)}


CASE = Case(softmax, arguments, reference, grid=(7,), tolerance=1e-5)

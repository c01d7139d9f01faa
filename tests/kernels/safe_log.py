"""A logarithm that leaves early: lanes past the end, then lanes without a logarithm."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def safe_log(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if i >= N:
        return
    v = x[i]
    if v <= 0.0:
        y[i] = -1.0
        return
    y[i] = mk.log(v)


def arguments() -> Arguments:
    return {"x": floats(150), "y": np.zeros(150, "f4"), "N": 150, "BLOCK": 64}


def reference(x: Array, **_: object) -> dict[str, Array]:
    positive = x > 0
    return {"y": np.where(positive, np.log(np.where(positive, x, 1).astype("f8")), -1)}


CASE = Case(safe_log, arguments, reference, tolerance=1e-6)

"""Negative numbers become zero: an `if` that each lane decides for itself."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def relu(x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N)
    if v < 0.0:
        v = 0.0
    mk.store(y, offs, v, offs < N)


def arguments() -> Arguments:
    return {"x": floats(515), "y": np.zeros(515, "f4"), "N": 515, "BLOCK": 256}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": np.maximum(x, 0)}


CASE = Case(relu, arguments, reference)

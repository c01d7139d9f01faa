"""A helper with several returns, of which each lane takes its own, and a helper that calls it."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


def smooth(t):
    if t <= 0.0:
        return 0.0
    if t >= 1.0:
        return 1.0
    return t * t * (3.0 - 2.0 * t)


def between(x, low=0.0, high=1.0):
    return smooth((x - low) / (high - low))


@eas.kernel
def smooth_step(x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N)
    mk.store(y, offs, between(v, high=2.0) - between(-v), offs < N)


def arguments() -> Arguments:
    return {"x": 2 * floats(333), "y": np.zeros(333, "f4"), "N": 333, "BLOCK": 128}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": np.array([between(v, high=2.0) - between(-v) for v in x.astype("f8")])}


CASE = Case(smooth_step, arguments, reference, tolerance=1e-6)

"""Solves x**3 + x == target by halving an interval, each lane until its own is short enough."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def bisection(targets, roots, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    target = mk.load(targets, offs, offs < N)
    low, high = 0.0, mk.maximum(target, 1.0)
    while high - low > 1e-5 * high:
        middle = 0.5 * (low + high)
        if middle * middle * middle + middle < target:
            low = middle
        else:
            high = middle
    mk.store(roots, offs, low, offs < N)


def arguments() -> Arguments:
    targets = 0.1 + 10 * np.abs(floats(203))
    return {"targets": targets, "roots": np.zeros(203, "f4"), "N": 203, "BLOCK": 64}


def reference(targets: Array, **_: object) -> dict[str, Array]:
    x = np.ones_like(targets, "f8")
    for _step in range(60):
        x -= (x**3 + x - targets) / (3 * x * x + 1)
    return {"roots": x}


CASE = Case(bisection, arguments, reference, tolerance=2e-5)

"""Loops that the compiler unrolls: over tuples, `zip`, `enumerate`, comprehensions and a star."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats

COEFFICIENTS = (0.5, -1.0, 0.0, 2.0)


@eas.kernel
def static_loops(x, y, N, SHIFTS: eas.constexpr, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N)
    first, *rest = COEFFICIENTS
    polynomial = first + mk.zeros_like(v)
    power = v
    for degree, coefficient in enumerate(rest, 1):
        if coefficient == 0.0:
            continue
        power = v
        for _ in mk.static_range(degree - 1):
            power = power * v
        polynomial += coefficient * power
    weights = tuple(1.0 / (1 + shift) for shift in SHIFTS)
    for shift, weight in zip(SHIFTS, weights, strict=True):
        polynomial += weight * mk.load(x, offs + shift, offs + shift < N)
    mk.store(y, offs, polynomial, offs < N)


def arguments() -> Arguments:
    return {"x": floats(61), "y": np.zeros(61, "f4"), "N": 61, "SHIFTS": (1, 3), "BLOCK": 64}


def reference(x: Array, **_: object) -> dict[str, Array]:
    v = np.concatenate([x, np.zeros(3)])
    return {"y": 0.5 - x + 2.0 * x**3 + v[1:62] / 2 + v[3:64] / 4}


CASE = Case(static_loops, arguments, reference, tolerance=1e-6)

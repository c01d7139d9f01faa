"""How many steps the Collatz rule takes down to 1, for each number."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


@eas.kernel
def collatz(out, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    n = offs + 1
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    mk.store(out, offs, steps, offs < N)


def arguments() -> Arguments:
    return {"out": np.zeros(301, "i4"), "N": 301, "BLOCK": 128}


def reference(out: Array, N: int, **_: object) -> dict[str, Array]:
    return {"out": np.array([steps_of(i + 1) for i in range(N)], "i4")}


def steps_of(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


CASE = Case(collatz, arguments, reference)

"""The sum of each number's prime factors: nested loops with `break`, `continue` and `else`."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


@eas.kernel
def prime_factors(out, N, LIMIT: eas.constexpr, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    n = offs + 2
    total = 0
    for candidate in range(2, LIMIT):
        if candidate > 2 and candidate % 2 == 0:
            continue
        for divisor in range(3, candidate, 2):
            if candidate % divisor == 0:
                break
        else:
            if n % candidate == 0:
                total += candidate
        if candidate >= n:
            break
    mk.store(out, offs, total, offs < N)


def arguments() -> Arguments:
    return {"out": np.zeros(75, "i4"), "N": 75, "LIMIT": 80, "BLOCK": 32}


def reference(out: Array, **_: object) -> dict[str, Array]:
    return {"out": np.array([sum(prime_factors_of(n)) for n in range(2, 77)], "i4")}


def prime_factors_of(n: int) -> set[int]:
    factors: set[int] = set()
    divisor = 2
    while n > 1:
        if n % divisor == 0:
            factors.add(divisor)
            n //= divisor
        else:
            divisor += 1
    return factors


CASE = Case(prime_factors, arguments, reference)

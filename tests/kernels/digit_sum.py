"""The sum of a number's digits, with assignment expressions, until it is a single digit."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def digit_sum(x, root, rounds, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if not (inside := offs < N):
        return
    n = mk.load(x, offs, inside)
    count = 0
    while n >= 10:
        rest, total = n, 0
        while rest > 0:
            total += (digit := rest % 10)
            rest = (rest - digit) // 10
        n = total
        count += 1
    mk.store(root, offs, n)
    mk.store(rounds, offs, count)


def arguments() -> Arguments:
    x = integers(90, low=0, high=2**31 - 1)
    return {"x": x, "root": np.zeros(90, "i4"), "rounds": np.zeros(90, "i4"), "N": 90, "BLOCK": 64}


def reference(x: Array, **_: object) -> dict[str, Array]:
    found = np.array([digital_root(int(n)) for n in x], "i4")
    return {"root": found[:, 0], "rounds": found[:, 1]}


def digital_root(n: int) -> tuple[int, int]:
    rounds = 0
    while n >= 10:
        n = sum(map(int, str(n)))
        rounds += 1
    return n, rounds


CASE = Case(digit_sum, arguments, reference)

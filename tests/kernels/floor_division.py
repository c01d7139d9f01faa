"""Python's floor division and modulo, of numbers and divisors of either sign."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def floor_division(a, b, quotients, remainders, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    x, y = mk.load(a, offs, mask), mk.load(b, offs, mask, other=1)
    mk.store(quotients, offs, x // y, mask)
    mk.store(remainders, offs, x % y, mask)


def arguments() -> Arguments:
    b = integers(99, low=1, high=20, seed=1) * np.where(np.arange(99) % 2, 1, -1)
    return {
        "a": integers(99, low=-100, high=100),
        "b": b.astype("i4"),
        "quotients": np.zeros(99, "i4"),
        "remainders": np.zeros(99, "i4"),
        "N": 99,
        "BLOCK": 64,
    }


def reference(a: Array, b: Array, **_: object) -> dict[str, Array]:
    return {"quotients": a // b, "remainders": a % b}


CASE = Case(floor_division, arguments, reference)

"""Adds two vectors."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, offs, mask), mask)


def arguments() -> Arguments:
    n = 1031
    return {"a": floats(n), "b": floats(n, seed=1), "c": np.zeros(n, "f4"), "N": n, "BLOCK": 256}


def reference(a: Array, b: Array, **_: object) -> dict[str, Array]:
    return {"c": a + b}


CASE = Case(add, arguments, reference)

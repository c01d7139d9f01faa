"""Unsigned division by a constant, as compilers do it: the upper half of a product."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case

MAGIC_OF_7 = 0x24924925


@eas.kernel
def divide_by_constant(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N)
    high = mk.umulhi(v, MAGIC_OF_7)
    mk.store(y, i, (((v - high) >> 1) + high) >> 2, i < N)


def arguments() -> Arguments:
    x = np.random.default_rng(0).integers(0, 1 << 32, 300, dtype="u4")
    return {"x": x, "y": np.zeros(300, "u4"), "N": 300, "BLOCK": 64}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": x // np.uint32(7)}


CASE = Case(divide_by_constant, arguments, reference)

"""Sums over the middle axis of a block of three dimensions, and its greatest over the last."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def reduce_3d(x, sums, highs, A: eas.constexpr, B: eas.constexpr, C: eas.constexpr):
    a, b, c = mk.arange(0, A), mk.arange(0, B), mk.arange(0, C)
    start = mk.program_id(0) * A * B * C
    offs = start + (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :]
    v = mk.load(x, offs)
    mk.store(sums, mk.program_id(0) * A * C + a[:, None] * C + c[None, :], mk.sum(v, axis=1))
    mk.store(highs, mk.program_id(0) * A * B + a[:, None] * B + b[None, :], mk.max(v, axis=2))


def arguments() -> Arguments:
    x = integers(2, 3, 5, 7, low=-100, high=100)
    sums, highs = np.zeros((2, 3, 7), "i4"), np.zeros((2, 3, 5), "i4")
    return {"x": x, "sums": sums, "highs": highs, "A": 3, "B": 5, "C": 7}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"sums": x.sum(axis=2, dtype="i4"), "highs": x.max(axis=3)}


CASE = Case(reduce_3d, arguments, reference, grid=(2,))

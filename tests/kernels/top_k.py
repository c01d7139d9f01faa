"""The greatest of each row, in their order: the best is taken out, again and again."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def top_k(x, values, places, N, COUNT: eas.constexpr, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    i = mk.arange(0, BLOCK)
    v = mk.load(x, row * N + i, i < N, other=-math.inf)
    for k in range(COUNT):
        best = mk.argmax(v)
        mk.store(values, row * COUNT + k, mk.max(v))
        mk.store(places, row * COUNT + k, best)
        v = mk.where(i == best, -math.inf, v)


def arguments() -> Arguments:
    return {
        "x": floats(4, 300), "values": np.zeros((4, 5), "f4"), "places": np.zeros((4, 5), "i4"),
        "N": 300, "COUNT": 5, "BLOCK": 512,
    }  # fmt: skip


def reference(x: Array, **_: object) -> dict[str, Array]:
    places = np.argsort(-x, axis=1, kind="stable")[:, :5].astype("i4")
    return {"values": np.take_along_axis(x, places, 1), "places": places}


CASE = Case(top_k, arguments, reference, grid=(4,))

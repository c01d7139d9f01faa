"""Keeps the positive elements, in their order: a running sum gives the place of each one."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def stream_compaction(x, y, kept, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N)
    is_kept = v > 0.0
    place = mk.cumsum(is_kept) - 1
    mk.store(y, place, v, is_kept)
    mk.store(kept, 0, mk.sum(is_kept))


def arguments() -> Arguments:
    return {
        "x": floats(1500), "y": np.zeros(1500, "f4"), "kept": np.zeros(1, "i4"), "N": 1500,
        "BLOCK": 2048,
    }  # fmt: skip


def reference(x: Array, y: Array, **_: object) -> dict[str, Array]:
    found = x[x > 0]
    y[: found.size] = found
    return {"y": y, "kept": np.array([found.size], "i4")}


CASE = Case(stream_compaction, arguments, reference, grid=(1,))

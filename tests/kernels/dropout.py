"""Dropout with a seed: which elements fall out follows from the seed and their place alone."""

import numpy as np

import eas
from eas import mk
from eas.ir.ops import OPS
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def dropout(x, y, N, p, seed, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N)
    kept = mk.where(mk.rand(seed, offs) >= p, v / (1.0 - p), 0.0)
    mk.store(y, offs, kept, offs < N)


def arguments() -> Arguments:
    return {
        "x": floats(500), "y": np.zeros(500, "f4"), "N": 500, "p": 0.25, "seed": 2024, "BLOCK": 128,
    }  # fmt: skip


def reference(x: Array, p: float, seed: int, **_: object) -> dict[str, Array]:
    counter, zero = np.arange(x.size, dtype="u4"), np.zeros(x.size, "u4")
    key = np.full(x.size, seed, "u4")
    word = OPS["philox"].meaning(counter, zero, zero, zero, key, zero, word=0)
    drawn = (word >> 8) * 2.0**-24
    return {"y": np.where(drawn >= p, x / np.float32(1 - p), np.float32(0))}


CASE = Case(dropout, arguments, reference)

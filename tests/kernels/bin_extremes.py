"""The least and the greatest float of each bin: atomics that Metal does not have itself."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats, integers


@eas.kernel
def bin_extremes(x, bins, low, high, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N)
    bin = mk.load(bins, i, i < N)
    mk.atomic_min(low, bin, v, i < N)
    mk.atomic_max(high, bin, v.to(mk.f16), i < N)


def arguments() -> Arguments:
    return {
        "x": floats(500), "bins": integers(500, low=0, high=10), "N": 500, "BLOCK": 128,
        "low": np.full(10, math.inf, "f4"), "high": np.full(10, -math.inf, "f2"),
    }  # fmt: skip


def reference(x: Array, bins: Array, low: Array, high: Array, **_: object) -> dict[str, Array]:
    np.minimum.at(low, bins, x)
    np.maximum.at(high, bins, x.astype("f2"))
    return {"low": low, "high": high}


CASE = Case(bin_extremes, arguments, reference)

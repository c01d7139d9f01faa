"""log(sum(exp(row))) in one pass: scalars that a loop carries, corrected as the maximum grows."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def log_sum_exp(x, out, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    high, total = -math.inf, 0.0
    for start in range(0, N, BLOCK):
        offs = start + mk.arange(0, BLOCK)
        v = mk.load(x, row * N + offs, offs < N, other=-math.inf)
        higher = mk.maximum(high, mk.max(v))
        total = total * mk.exp(high - higher) + mk.sum(mk.exp(v - higher))
        high = higher
    mk.store(out, row, high + mk.log(total))


def arguments() -> Arguments:
    return {"x": 5 * floats(4, 203), "out": np.zeros(4, "f4"), "N": 203, "BLOCK": 64}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"out": np.logaddexp.reduce(x.astype("f8"), axis=1)}


CASE = Case(log_sum_exp, arguments, reference, grid=(4,), tolerance=1e-6)

"""A running sum that begins anew at each flag: a scan of pairs, by a function."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


def add_unless_new(total, is_new, other, is_other_new):
    return (other if is_other_new else total + other), is_new or is_other_new


@eas.kernel
def segmented_scan(x, begins, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    values = mk.load(x, i, i < N)
    flags = mk.load(begins, i, i < N, other=True)
    sums, _ = mk.associative_scan((values, flags), 0, add_unless_new)
    mk.store(y, i, sums, i < N)


def arguments() -> Arguments:
    begins = np.random.default_rng(1).random(389) < 0.1
    x = integers(389, low=-9, high=10)
    return {"x": x, "begins": begins, "y": np.zeros(389, "i4"), "N": 389, "BLOCK": 512}


def reference(x: Array, begins: Array, **_: object) -> dict[str, Array]:
    y = x.copy()
    for k in range(1, y.size):
        if not begins[k]:
            y[k] += y[k - 1]
    return {"y": y}


CASE = Case(segmented_scan, arguments, reference, grid=(1,))

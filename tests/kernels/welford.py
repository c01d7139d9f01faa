"""Mean and variance of each row in one pass: a reduction of three values, by a function."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


def merge(count, mean, m2, count_b, mean_b, m2_b):
    """Chan's formula; a part without elements counts for nothing."""
    total = count + count_b
    delta = mean_b - mean
    share = mk.where(total > 0.0, count_b / total, 0.0)
    return total, mean + delta * share, m2 + m2_b + delta * delta * count * share


@eas.kernel
def welford(x, mean, variance, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    i = mk.arange(0, BLOCK)
    v = mk.load(x, row * N + i, i < N)
    counts = mk.where(i < N, 1.0, 0.0)
    total, average, m2 = mk.reduce((counts, v, mk.zeros_like(v)), 0, merge)
    mk.store(mean, row, average)
    mk.store(variance, row, m2 / total)


def arguments() -> Arguments:
    x = 100 + floats(3, 300)
    return {
        "x": x, "mean": np.zeros(3, "f4"), "variance": np.zeros(3, "f4"), "N": 300, "BLOCK": 512,
    }  # fmt: skip


def reference(x: Array, **_: object) -> dict[str, Array]:
    wide = x.astype("f8")
    return {"mean": wide.mean(1), "variance": wide.var(1)}


CASE = Case(welford, arguments, reference, grid=(3,), tolerance=1e-5)

"""A sparse matrix times a vector: each lane has a row, and as many turns as that has elements."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def csr_matvec(starts, columns, values, x, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if row < N:
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def matrix() -> Array:
    dense = floats(77, 40) * (np.random.default_rng(1).random((77, 40)) < 0.1)
    dense[33] = 0
    return dense


def arguments() -> Arguments:
    dense = matrix()
    starts = np.concatenate([[0], np.cumsum((dense != 0).sum(1))]).astype("i4")
    return {
        "starts": starts, "columns": np.nonzero(dense)[1].astype("i8"),
        "values": dense[dense != 0], "x": floats(40, seed=2), "y": np.ones(77, "f4"),
        "N": 77, "BLOCK": 32,
    }  # fmt: skip


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": matrix().astype("f8") @ x}


CASE = Case(csr_matvec, arguments, reference, tolerance=1e-6)

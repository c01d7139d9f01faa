"""Where each row has its greatest element, several rows per program, and how great it is."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def argmax_rows(x, index, value, M, N, ROWS: eas.constexpr, BLOCK: eas.constexpr):
    row = mk.program_id(0) * ROWS + mk.arange(0, ROWS)
    col = mk.arange(0, BLOCK)
    inside = (row[:, None] < M) & (col[None, :] < N)
    v = mk.load(x, row[:, None] * N + col[None, :], inside, other=-math.inf)
    mk.store(index, row, mk.argmax(v, axis=1), row < M)
    mk.store(value, row, mk.max(v, axis=1), row < M)


def arguments() -> Arguments:
    return {
        "x": floats(11, 50),
        "index": np.zeros(11, "i4"),
        "value": np.zeros(11, "f4"),
        "M": 11,
        "N": 50,
        "ROWS": 4,
        "BLOCK": 64,
    }


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"index": x.argmax(axis=1).astype("i4"), "value": x.max(axis=1)}


CASE = Case(argmax_rows, arguments, reference, grid=(3,))

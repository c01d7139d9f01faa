"""A softmax of several short rows at once: each row is reduced by the lanes that hold it."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def softmax_rows(x, y, M, N, ROWS: eas.constexpr, BLOCK: eas.constexpr):
    row = mk.program_id(0) * ROWS + mk.arange(0, ROWS)
    col = mk.arange(0, BLOCK)
    inside = (row < M)[:, None] & (col < N)[None, :]
    offs = row[:, None] * N + col[None, :]
    v = mk.load(x, offs, inside, other=float("-inf"))
    powers = mk.exp(v - mk.max(v, axis=1)[:, None])
    mk.store(y, offs, powers / mk.sum(powers, axis=1)[:, None], inside)


def arguments() -> Arguments:
    x = floats(10, 27)
    return {"x": x, "y": np.zeros_like(x), "M": 10, "N": 27, "ROWS": 8, "BLOCK": 32}


def reference(x: Array, **_: object) -> dict[str, Array]:
    powers = np.exp(x.astype("f8") - x.max(1, keepdims=True))
    return {"y": powers / powers.sum(1, keepdims=True)}


CASE = Case(softmax_rows, arguments, reference, grid=(2,), tolerance=1e-6)

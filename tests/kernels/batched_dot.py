"""Products of all matrices of a batch in one program: blocks of three axes, one transposed."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def batched_dot(q, k, out, M, N, D, HEADS: eas.constexpr, TILE: eas.constexpr, BD: eas.constexpr):
    head = mk.arange(0, HEADS)[:, None, None]
    row = mk.program_id(0) * TILE + mk.arange(0, TILE)[None, :, None]
    key = mk.program_id(1) * TILE + mk.arange(0, TILE)[None, :, None]
    column = mk.program_id(1) * TILE + mk.arange(0, TILE)[None, None, :]
    scores = mk.zeros((HEADS, TILE, TILE))
    for start in range(0, D, BD):
        d = start + mk.arange(0, BD)[None, None, :]
        queries = mk.load(q, (head * M + row) * D + d, (row < M) & (d < D))
        keys = mk.load(k, (head * N + key) * D + d, (key < N) & (d < D))
        scores = mk.dot(queries, mk.permute(keys, (0, 2, 1)), scores)
    mk.store(out, (head * M + row) * N + column, scores, (row < M) & (column < N))


def arguments() -> Arguments:
    heads, m, n, d = 4, 19, 25, 21
    return {
        "q": floats(heads, m, d).astype("f2"), "k": floats(heads, n, d, seed=1).astype("f2"),
        "out": np.zeros((heads, m, n), "f4"), "M": m, "N": n, "D": d,
        "HEADS": heads, "TILE": 16, "BD": 8,
    }  # fmt: skip


def reference(q: Array, k: Array, **_: object) -> dict[str, Array]:
    return {"out": q.astype("f8") @ k.astype("f8").transpose(0, 2, 1)}


CASE = Case(batched_dot, arguments, reference, grid=(2, 2), tolerance=1e-6)

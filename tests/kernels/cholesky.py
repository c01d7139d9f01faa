"""The triangular root of each of some matrices, column by column in threadgroup memory."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def cholesky(a, root, N: eas.constexpr, THREADS: eas.constexpr):
    t, which = mk.tid(0, THREADS), mk.program_id(0)
    m = mk.alloc_tg((N, N), mk.f32)
    for k in range(t, N * N, THREADS):
        m[k // N, k % N] = a[which, k // N, k % N]
    for column in range(N):
        mk.barrier()
        if t == 0:
            m[column, column] = mk.sqrt(m[column, column])
        mk.barrier()
        for row in range(column + 1 + t, N, THREADS):
            m[row, column] /= m[column, column]
        mk.barrier()
        for row in range(column + 1 + t, N, THREADS):
            for k in range(column + 1, row + 1):
                m[row, k] -= m[row, column] * m[k, column]
    for k in range(t, N * N, THREADS):
        row, column = divmod(k, N)
        root[which, row, column] = m[row, column] if column <= row else 0.0


def arguments() -> Arguments:
    x = floats(3, 11, 11)
    a = x @ x.transpose(0, 2, 1) + np.eye(11, dtype="f4")
    return {"a": a, "root": np.zeros_like(a), "N": 11, "THREADS": 32}


def reference(a: Array, **_: object) -> dict[str, Array]:
    return {"root": np.linalg.cholesky(a.astype("f8"))}


CASE = Case(cholesky, arguments, reference, grid=(3,), tolerance=1e-5)

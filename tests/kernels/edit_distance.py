"""How many letters make one word of another: diagonals of a table, three of them at a time."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


@eas.kernel
def edit_distance(a, b, out, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    rows, columns = a.shape[0], b.shape[0]
    table = mk.alloc_tg((3, THREADS), mk.i32)
    for diagonal in range(rows + columns + 1):
        now, last, before = diagonal % 3, (diagonal + 2) % 3, (diagonal + 1) % 3
        column = diagonal - t
        if t <= rows and 0 <= column <= columns:
            if t == 0 or column == 0:
                table[now, t] = diagonal
            else:
                change = 0 if a[t - 1] == b[column - 1] else 1
                table[now, t] = min(
                    table[last, t - 1] + 1, table[last, t] + 1, table[before, t - 1] + change
                )
        mk.barrier()
    if t == rows:
        out[0] = table[(rows + columns) % 3, t]


def arguments() -> Arguments:
    a, b = b"the quick brown fox jumps over", b"a lazy dog that quickly jumped on it"
    return {
        "a": np.frombuffer(a, "u1"), "b": np.frombuffer(b, "u1"), "out": np.zeros(1, "i4"),
        "THREADS": 48,
    }  # fmt: skip


def reference(a: Array, b: Array, **_: object) -> dict[str, Array]:
    row = list(range(len(b) + 1))
    for n, letter in enumerate(a, 1):
        above, row = row, [n]
        for m, other in enumerate(b, 1):
            row.append(min(row[-1] + 1, above[m] + 1, above[m - 1] + int(letter != other)))
    return {"out": np.array([row[-1]], "i4")}


CASE = Case(edit_distance, arguments, reference, grid=(1,))

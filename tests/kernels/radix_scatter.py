"""A pass of a radix sort: keys go behind those with the same digit, in the order they came in."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


@eas.kernel
def radix_scatter(keys, values, starts, out_keys, out_values, n, shift, THREADS: eas.constexpr):
    """`starts` says where the keys of each program with each digit begin."""
    t, program = mk.tid(0, THREADS), mk.program_id(0)
    digits = mk.alloc_tg(THREADS, mk.i32)
    i = program * THREADS + t
    digits[t] = (keys[i] >> shift & 15).to(mk.i32) if i < n else -1
    mk.barrier()
    if i >= n:
        return
    rank = 0
    for other in range(t):
        if digits[other] == digits[t]:
            rank += 1
    place = starts[digits[t], program] + rank
    out_keys[place], out_values[place] = keys[i], values[i]


def arguments() -> Arguments:
    keys = np.random.default_rng(0).integers(0, 1 << 16, 150, dtype="u4")
    digits = np.pad(keys >> 4 & 15, (0, 42), constant_values=16).reshape(3, 64)
    counts = np.array([np.bincount(row, minlength=17)[:16] for row in digits]).T
    starts = (np.cumsum(counts) - counts.ravel()).reshape(16, 3).astype("i4")
    return {
        "keys": keys, "values": np.arange(150, dtype="i4"), "starts": starts,
        "out_keys": np.zeros(150, "u4"), "out_values": np.zeros(150, "i4"),
        "n": 150, "shift": 4, "THREADS": 64,
    }  # fmt: skip


def reference(keys: Array, **_: object) -> dict[str, Array]:
    order = np.argsort(keys >> 4 & 15, kind="stable")
    return {"out_keys": keys[order], "out_values": order.astype("i4")}


CASE = Case(radix_scatter, arguments, reference, grid=(3,))

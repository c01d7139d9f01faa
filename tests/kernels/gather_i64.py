"""Picks elements by 64-bit indices; the length is a 64-bit number too, by its annotation."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def gather_i64(table, indices, out, N: mk.i64, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK).to(mk.i64)
    mask = offs < N
    mk.store(out, offs, mk.load(table, mk.load(indices, offs, mask), mask), mask)


def arguments() -> Arguments:
    indices = np.random.default_rng(0).integers(0, 40, 95)
    return {
        "table": floats(40),
        "indices": indices,
        "out": np.zeros(95, "f4"),
        "N": 95,
        "BLOCK": 50,
    }


def reference(table: Array, indices: Array, **_: object) -> dict[str, Array]:
    return {"out": table[indices]}


CASE = Case(gather_i64, arguments, reference)

"""The sum, the least and the greatest of an array: each program's own, combined by atomics."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def global_extremes(x, result, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.atomic_add(result, 0, mk.sum(mk.load(x, offs, mask)))
    mk.atomic_min(result, 1, mk.min(mk.load(x, offs, mask, other=2**31 - 1)))
    mk.atomic_max(result, 2, mk.max(mk.load(x, offs, mask, other=-(2**31))))


def arguments() -> Arguments:
    result = np.array([0, 2**31 - 1, -(2**31)], "i4")
    return {"x": integers(999, low=-5000, high=5000), "result": result, "N": 999, "BLOCK": 128}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"result": np.array([x.sum(), x.min(), x.max()], "i4")}


CASE = Case(global_extremes, arguments, reference)

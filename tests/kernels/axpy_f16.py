"""Scales and adds in half precision; the annotation makes the scalar a half as well."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def axpy_f16(alpha: mk.f16, x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(y, offs, alpha * mk.load(x, offs, mask) + mk.load(y, offs, mask), mask)


def arguments() -> Arguments:
    x, y = floats(301).astype("f2"), floats(301, seed=1).astype("f2")
    return {"alpha": 1.5, "x": x, "y": y, "N": 301, "BLOCK": 128}


def reference(x: Array, y: Array, **_: object) -> dict[str, Array]:
    return {"y": np.float16(1.5) * x + y}


CASE = Case(axpy_f16, arguments, reference)

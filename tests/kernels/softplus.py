"""A smooth relu, log(1 + exp(x)), that neither overflows nor loses its small values."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def softplus(x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N)
    mk.store(y, offs, mk.maximum(v, 0.0) + mk.log1p(mk.exp(-mk.abs(v))), offs < N)


def arguments() -> Arguments:
    return {"x": 30 * floats(1000), "y": np.zeros(1000, "f4"), "N": 1000, "BLOCK": 256}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": np.logaddexp(0, x.astype("f8"))}


CASE = Case(softplus, arguments, reference, tolerance=1e-6)

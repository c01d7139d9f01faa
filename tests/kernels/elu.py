"""The exponential linear unit, with the small values that `exp(x) - 1` would lose."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def elu(x, y, N, ALPHA: eas.constexpr, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N)
    mk.store(y, offs, v if v > 0.0 else ALPHA * mk.expm1(v), offs < N)


def arguments() -> Arguments:
    x = floats(777) * np.logspace(-9, 2, 777, dtype="f4")
    return {"x": x, "y": np.zeros(777, "f4"), "N": 777, "ALPHA": 1.0, "BLOCK": 128}


def reference(x: Array, **_: object) -> dict[str, Array]:
    wide = x.astype("f8")
    return {"y": np.where(wide > 0, wide, np.expm1(wide))}


CASE = Case(elu, arguments, reference, tolerance=1e-7)

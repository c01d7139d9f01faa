"""Newton's square root, until all lanes of the program are good: a collective decides the loop."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def newton_sqrt(x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N, other=1.0)
    root = mk.maximum(v, 1.0)
    rounds = 0
    while mk.any(mk.abs(root * root - v) > 1e-4 * v) and rounds < 50:
        root = 0.5 * (root + v / root)
        rounds += 1
    mk.store(y, offs, root, offs < N)


def arguments() -> Arguments:
    return {"x": 0.01 + 100 * np.abs(floats(60)), "y": np.zeros(60, "f4"), "N": 60, "BLOCK": 32}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": np.sqrt(x.astype("f8"))}


CASE = Case(newton_sqrt, arguments, reference, tolerance=1e-4)

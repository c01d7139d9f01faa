"""A gate: one half of each row, through the sigmoid, times the other half."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def swiglu(x, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    i = mk.program_id(1) * BLOCK + mk.arange(0, BLOCK)
    gate = mk.load(x, row * 2 * N + i, i < N).to(mk.f32)
    up = mk.load(x, row * 2 * N + N + i, i < N).to(mk.f32)
    mk.store(y, row * N + i, gate * mk.sigmoid(gate) * up, i < N)


def arguments() -> Arguments:
    x = floats(3, 202).astype("f2")
    return {"x": x, "y": np.zeros((3, 101), "f4"), "N": 101, "BLOCK": 64}


def reference(x: Array, **_: object) -> dict[str, Array]:
    gate, up = np.split(x.astype("f8"), 2, axis=1)
    return {"y": gate / (1 + np.exp(-gate)) * up}


CASE = Case(swiglu, arguments, reference, grid=(3, 2), tolerance=1e-6)

"""Rotary position embedding: pairs of neighbours are turned by an angle that grows with the row."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def rope(x, y, base, HALF: eas.constexpr):
    row = mk.program_id(0)
    k = mk.arange(0, HALF)
    offs = row * 2 * HALF + mk.arange(0, 2 * HALF)
    left, right = mk.split(mk.reshape(mk.load(x, offs), (HALF, 2)))
    angle = row * mk.pow(base, -k / HALF)
    s, c = mk.sin(angle), mk.cos(angle)
    turned = mk.join(left * c - right * s, left * s + right * c)
    mk.store(y, offs, mk.ravel(turned))


def arguments() -> Arguments:
    return {"x": floats(9, 80), "y": np.zeros((9, 80), "f4"), "base": 1e4, "HALF": 40}


def reference(x: Array, base: float, **_: object) -> dict[str, Array]:
    pairs = x.astype("f8").reshape(9, 40, 2)
    turned = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(
        1j * np.arange(9)[:, None] * base ** -(np.arange(40) / 40)
    )
    return {"y": np.stack([turned.real, turned.imag], -1).reshape(9, 80)}


CASE = Case(rope, arguments, reference, grid=(9,), tolerance=1e-6)

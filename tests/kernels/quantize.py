"""Floats as bytes with a scale per row, rounded to even and kept in range; and whether all fit."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def quantize(x, codes, scales, fits, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    offs = mk.arange(0, BLOCK)
    mask = offs < N
    v = mk.load(x, row * N + offs, mask)
    scaled = mk.round(v / mk.load(scales, row))
    mk.store(codes, row * N + offs, mk.clamp(scaled, -127.0, 127.0).to(mk.i8), mask)
    mk.store(fits, row, mk.all(mk.abs(scaled) <= 127.0))


def arguments() -> Arguments:
    scales = np.array([0.01, 0.02, 0.03], "f4")
    return {
        "x": floats(3, 90),
        "codes": np.zeros((3, 90), "i1"),
        "scales": scales,
        "fits": np.zeros(3, "?"),
        "N": 90,
        "BLOCK": 128,
    }


def reference(x: Array, scales: Array, **_: object) -> dict[str, Array]:
    scaled = np.rint(x / scales[:, None])
    codes = np.clip(scaled, -127, 127).astype("i1")
    return {"codes": codes, "fits": np.all(np.abs(scaled) <= 127, axis=1)}


CASE = Case(quantize, arguments, reference, grid=(3,))

"""A convolution along a vector; the taps are a loop that the compiler unrolls."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def conv1d(x, weights, y, N, TAPS: eas.constexpr, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    total = mk.zeros((BLOCK,), mk.f32)
    for tap in mk.static_range(TAPS):
        place = offs + tap - TAPS // 2
        total += mk.load(weights, tap) * mk.load(x, place, (place >= 0) & (place < N))
    mk.store(y, offs, total, offs < N)


def arguments() -> Arguments:
    return {
        "x": floats(250),
        "weights": floats(5, seed=1),
        "y": np.zeros(250, "f4"),
        "N": 250,
        "TAPS": 5,
        "BLOCK": 96,
    }


def reference(x: Array, weights: Array, **_: object) -> dict[str, Array]:
    return {"y": np.convolve(x.astype("f8"), weights[::-1], mode="same")}


CASE = Case(conv1d, arguments, reference, tolerance=1e-6)

"""A kernel made by a function: the slope and the activation are captured from its closure."""

from collections.abc import Callable
from typing import Any

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


def make_activation(slope: float, function: Callable[[Any], Any]):
    @eas.kernel
    def leaky_relu(x, y, N, BLOCK: eas.constexpr):
        offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
        v = mk.load(x, offs, offs < N)
        mk.store(y, offs, v if v > 0.0 else slope * function(v), offs < N)

    return leaky_relu


def arguments() -> Arguments:
    return {"x": floats(130), "y": np.zeros(130, "f4"), "N": 130, "BLOCK": 128}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": np.where(x > 0, x, 0.25 * np.expm1(x.astype("f8")))}


CASE = Case(make_activation(0.25, lambda v: mk.exp(v) - 1.0), arguments, reference, tolerance=1e-6)

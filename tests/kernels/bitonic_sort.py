"""Sorts a block with a network: each stage compares with the lane across, which `flip` brings."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def bitonic_sort(x, y, N, STAGES: eas.constexpr):
    size = 1 << STAGES
    i = mk.arange(0, size)
    v = mk.load(x, i, i < N, other=math.inf)
    for stage in mk.static_range(1, STAGES + 1):
        for step in reversed(range(stage)):
            pairs = mk.reshape(v, (size >> (step + 1), 2, 1 << step))
            other = mk.ravel(mk.flip(pairs, axis=1))
            is_lower = i & (1 << step) == 0
            is_rising = i & (1 << stage) == 0
            v = mk.minimum(v, other) if is_lower == is_rising else mk.maximum(v, other)
    mk.store(y, i, v, i < N)


def arguments() -> Arguments:
    return {"x": floats(13), "y": np.zeros(13, "f4"), "N": 13, "STAGES": 4}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": np.sort(x)}


CASE = Case(bitonic_sort, arguments, reference, grid=(1,))

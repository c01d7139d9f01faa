"""Copies between views with strides, a negative one among them, and adds to them in place."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def strided_copy(source, target, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if i < source.shape[0]:
        target[i] = source[i]
        target[i] += source[-1]


def arguments() -> Arguments:
    return {"source": floats(150)[::-3], "target": np.zeros(100, "f4")[::2], "BLOCK": 32}


def reference(source: Array, **_: object) -> dict[str, Array]:
    return {"target": source + source[-1]}


CASE = Case(strided_copy, arguments, reference, grid=(2,))

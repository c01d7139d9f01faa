"""A square root that states what it takes for granted, and says what it found."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def checked_sqrt(x, y, N, BLOCK: eas.constexpr):
    program = mk.program_id(0)
    offs = program * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, offs, offs < N)
    assert v >= 0.0, "no root of a negative number"
    mk.store(y, offs, mk.sqrt(v), offs < N)
    if program == 0:
        print("the first program's greatest is", mk.max(v))


def arguments() -> Arguments:
    return {"x": np.abs(floats(40)), "y": np.zeros(40, "f4"), "N": 40, "BLOCK": 32}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": np.sqrt(x)}


CASE = Case(checked_sqrt, arguments, reference)

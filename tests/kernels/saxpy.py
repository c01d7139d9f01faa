"""Scales a vector and adds it to another in place, with pointer arithmetic."""

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def saxpy(alpha, x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    scaled = alpha * mk.load(x + offs, mask=mask)
    mk.store(y + offs, scaled + mk.load(y + offs, mask=mask), mask=mask)


def arguments() -> Arguments:
    return {"alpha": 2.5, "x": floats(777), "y": floats(777, seed=1), "N": 777, "BLOCK": 100}


def reference(alpha: float, x: Array, y: Array, **_: object) -> dict[str, Array]:
    return {"y": alpha * x + y}


CASE = Case(saxpy, arguments, reference)

"""Functions inside of the kernel: a nested `def` that sees local names, a lambda, keywords."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


def twice(function, value):
    return function(function(value))


@eas.kernel
def nested_functions(x, y, shift, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N

    def read(array, by=0):
        return mk.load(array, (offs + by) % N, mask)

    def squash(v, *, limit=1.0):
        if mk.abs(v) > limit:
            return limit * mk.sign(v)
        return v

    lowered = twice(lambda v: squash(v - shift, limit=2.0), read(x) + read(x, by=1))
    mk.store(y, offs, lowered, mask)


def arguments() -> Arguments:
    return {"x": 2 * floats(70), "y": np.zeros(70, "f4"), "shift": 0.5, "N": 70, "BLOCK": 32}


def reference(x: Array, shift: float, **_: object) -> dict[str, Array]:
    v = x + np.roll(x, -1)
    once = np.clip(v - np.float32(shift), -2, 2)
    return {"y": np.clip(once - np.float32(shift), -2, 2)}


CASE = Case(nested_functions, arguments, reference)

"""The three least elements of each row, in order, in an array of each lane."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


def insert(least, value):
    for place in range(len(least)):
        if value < least[place]:
            least[place], value = value, least[place]


@eas.kernel
def nearest_three(x, out, M, N, BLOCK: eas.constexpr):
    row = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    least = mk.local(3, mk.f32)
    for place in range(3):
        least[place] = 1e30
    for column in range(N):
        insert(least, mk.load(x, row * N + column, row < M))
    for place in range(3):
        mk.store(out, row * 3 + place, least[place], row < M)


def arguments() -> Arguments:
    return {"x": floats(21, 17), "out": np.zeros((21, 3), "f4"), "M": 21, "N": 17, "BLOCK": 16}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"out": np.sort(x, axis=1)[:, :3]}


CASE = Case(nearest_three, arguments, reference, grid=(2,))

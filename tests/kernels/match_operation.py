"""Chooses an operation by number, with `match`: literals, alternatives, a guard and a capture."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def match_operation(x, codes, y, N, LIMIT, MODE: eas.constexpr, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    offs = mk.arange(0, BLOCK)
    v = mk.load(x, row * N + offs, offs < N)
    match int(mk.load(codes, row)):
        case 0:
            result = v
        case 1 | 2:
            result = v * v
        case code if code > LIMIT:
            result = v + code
        case _:
            result = -v
    match MODE:
        case "double":
            result = 2.0 * result
        case "halve":
            result = 0.5 * result
        case _:
            mk.static_assert(False, "MODE is double or halve")
    mk.store(y, row * N + offs, result, offs < N)


def arguments() -> Arguments:
    return {
        "x": floats(6, 21),
        "codes": np.array([0, 1, 2, 3, 7, -1], "i4"),
        "y": np.zeros((6, 21), "f4"),
        "N": 21,
        "LIMIT": 5,
        "MODE": "double",
        "BLOCK": 32,
    }


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": 2 * np.stack([x[0], x[1] ** 2, x[2] ** 2, -x[3], x[4] + np.float32(7), -x[5]])}


CASE = Case(match_operation, arguments, reference, grid=(6,))

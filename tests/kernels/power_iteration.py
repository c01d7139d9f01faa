"""The greatest eigenvalue of a matrix, until it stands still or patience is over."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def power_iteration(a, value, turns, N, MOST: eas.constexpr, BLOCK: eas.constexpr):
    i, j = mk.arange(0, BLOCK)[:, None], mk.arange(0, BLOCK)[None, :]
    m = mk.load(a, (mk.program_id(0) * N + i) * N + j, (i < N) & (j < N))
    x = mk.full((BLOCK,), 1.0)
    length, turn = 0.0, 0
    while turn < MOST:
        turn += 1
        x = mk.sum(m * x[None, :], axis=1)
        before, length = length, mk.sqrt(mk.sum(x * x))
        x /= length
        if mk.abs(length - before) < 1e-5 * length:
            break
    else:
        turn = -1
    value[mk.program_id(0)] = length
    turns[mk.program_id(0)] = turn


def arguments() -> Arguments:
    x = floats(2, 19, 19)
    x[0] = np.outer(x[0, 0], x[0, 0]) + 0.01 * (x[0] + x[0].T)
    x[1] = x[1] @ x[1].T
    return {
        "a": x, "value": np.zeros(2, "f4"), "turns": np.zeros(2, "i4"), "N": 19, "MOST": 12,
        "BLOCK": 32,
    }  # fmt: skip


def reference(a: Array, **_: object) -> dict[str, Array]:
    values: list[float] = []
    turns: list[int] = []
    for m in a.astype("f8"):
        x, length = np.ones(19), 0.0
        before, turn = np.inf, 0
        while turn < 12 and abs(length - before) >= 1e-5 * length:
            x, before, turn = m @ x, length, turn + 1
            length = float(np.linalg.norm(x))
            x /= length
        values.append(length)
        turns.append(turn if turn < 12 else -1)
    return {"value": np.array(values), "turns": np.array(turns, "i4")}


CASE = Case(power_iteration, arguments, reference, grid=(2,), tolerance=1e-5)

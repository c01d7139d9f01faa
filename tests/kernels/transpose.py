"""Transposes a matrix through shared memory, so that it reads and writes rows: a thread program."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def transpose(x, y, ROWS, COLS, TILE: eas.constexpr):
    t = mk.tid(0, TILE * TILE)
    high, low = t // TILE, t % TILE
    tile = mk.alloc_tg(TILE * (TILE + 1), mk.f32)
    row, col = mk.program_id(0) * TILE + high, mk.program_id(1) * TILE + low
    if row < ROWS and col < COLS:
        mk.store(tile, high * (TILE + 1) + low, mk.load(x, row * COLS + col))
    mk.barrier()
    row, col = mk.program_id(0) * TILE + low, mk.program_id(1) * TILE + high
    if row < ROWS and col < COLS:
        mk.store(y, col * ROWS + row, mk.load(tile, low * (TILE + 1) + high))


def arguments() -> Arguments:
    return {"x": floats(19, 37), "y": np.zeros((37, 19), "f4"), "ROWS": 19, "COLS": 37, "TILE": 8}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"y": x.T}


CASE = Case(transpose, arguments, reference, grid=(3, 5))

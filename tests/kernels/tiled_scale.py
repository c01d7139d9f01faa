"""Block pointers that walk over a matrix, with tiles that reach over its edges."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def tiled_scale(a, out, M, N, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    row = mk.program_id(0) * ROWS
    source = mk.make_block_ptr(a, (M, N), (N, 1), (row, 0), (ROWS, COLUMNS))
    target = mk.make_block_ptr(out, (M, N), (N, 1), (row, 0), (ROWS, COLUMNS))
    for _ in range(0, N, COLUMNS):
        mk.store(target, 2.0 * mk.load(source, boundary_check=(0, 1)), boundary_check=(0, 1))
        source = mk.advance(source, (0, COLUMNS))
        target = mk.advance(target, (0, COLUMNS))


def arguments() -> Arguments:
    return {
        "a": floats(13, 45), "out": np.zeros((13, 45), "f4"), "M": 13, "N": 45,
        "ROWS": 4, "COLUMNS": 16,
    }  # fmt: skip


def reference(a: Array, **_: object) -> dict[str, Array]:
    return {"out": 2 * a}


CASE = Case(tiled_scale, arguments, reference, grid=(4,))

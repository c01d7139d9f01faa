"""`raise` in a branch that the constants of a kernel choose."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def scale(a, BLOCK: eas.constexpr, TILE: eas.constexpr):
    if BLOCK % TILE != 0:
        raise ValueError(f"BLOCK is {BLOCK}, which is no multiple of TILE={TILE}")
    i = mk.arange(0, BLOCK // (BLOCK % TILE - 4))
    mk.store(a, i, 2.0 * mk.load(a, i))


CASE = Broken(scale, "*f32", BLOCK=100, TILE=32)

"""Three mistakes that have nothing to do with each other: all are reported."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def smooth(a, out, n, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    left = mk.load(a, offs - 1, mask=offs > 0)
    right = mk.load(a, offs + 1, maks=offs < n - 1)
    total = 0
    for i in range(3):
        total += 0.5 * i
    mk.store(out, offs, (left + rihgt) / 2.0, mask=offs < n)


CASE = Broken(smooth, "*f32", "*f32", "i32", BLOCK=64)

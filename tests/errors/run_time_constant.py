"""Run-time values where constants are needed."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a, n):
    for i in mk.static_range(n):
        mk.store(a, i, 1.0)
    mk.static_assert(n > 4, "too few")
    row = mk.program_id(n)
    for i, x in enumerate((1.0, 2.0), n):
        mk.store(a, i, x)
    mk.store(a, 0, mk.sum(mk.zeros(4), keep_dims=n > 0))


CASE = Broken(fill, "*f32", "i32")

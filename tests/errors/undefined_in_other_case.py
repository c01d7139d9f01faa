"""A name that differs in upper and lower case."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * block + mk.arange(0, BLOCK)
    mk.store(a, offs, 1.0, offs < N)


CASE = Broken(fill, "*f32", "i32", BLOCK=64)

"""A name that is nearly right."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, ofs, mask), mask)


CASE = Broken(add, "*f32", "*f32", "*f32", "i32", BLOCK=64)

"""A static assertion that fails."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def add(a, BLOCK: eas.constexpr):
    mk.static_assert(BLOCK % 32 == 0, f"BLOCK is {BLOCK}, which is no multiple of 32")
    mk.store(a, mk.arange(0, BLOCK), 1.0)


CASE = Broken(add, "*f32", BLOCK=100)

"""A block without any lane."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a, BLOCK: eas.constexpr):
    mk.store(a, mk.arange(BLOCK, 0), 1.0)


CASE = Broken(fill, "*f32", BLOCK=64)

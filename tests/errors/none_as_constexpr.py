"""Constexpr parameters that are None."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def scale(a, FACTOR: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(a, 0, mk.load(a, 0) * FACTOR)


CASE = Broken(scale, "*f32", FACTOR=None, BLOCK=None)

"""A string where a number is needed."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def scale(a, MODE: eas.constexpr):
    x = mk.load(a, 0)
    mk.store(a, 0, x + MODE)


CASE = Broken(scale, "*f32", MODE="double")

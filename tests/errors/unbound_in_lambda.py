"""A name without a value on some path, used in a lambda."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def scale(a, n):
    if n > 4:
        factor = 2.0
    double = lambda x: x * factor  # noqa: E731
    mk.store(a, 0, double(mk.load(a, 0)))


CASE = Broken(scale, "*f32", "i32")

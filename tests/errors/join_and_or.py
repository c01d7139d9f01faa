"""The operands of `and` and `or` have different types."""

import eas
from tests.errors.case import Broken


@eas.kernel
def choose(a, n):
    a[0] = n and 1.5
    a[1] = n > 2 or a[0]


CASE = Broken(choose, "*f32[:]", "i32")

"""The text of an `assert` with a value in it."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def check(a):
    x = mk.load(a, 0)
    assert x > 0.0, f"{x} is not positive"


CASE = Broken(check, "*f32")

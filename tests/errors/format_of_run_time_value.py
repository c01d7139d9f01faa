"""An f-string with a format."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def show(a):
    x = mk.load(a, 0)
    print(f"x = {x:.3f}")
    print(f"x = {x!r}")


CASE = Broken(show, "*f32")

"""A mistake inside of an f-string."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def show(a):
    x = mk.load(a, 0)
    print(f"x = {x}, y = {yy}")


CASE = Broken(show, "*f32")

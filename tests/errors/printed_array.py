"""An array cannot be printed."""

import eas
from tests.errors.case import Broken


@eas.kernel
def show(a):
    print("a is", a)


CASE = Broken(show, "*f32")

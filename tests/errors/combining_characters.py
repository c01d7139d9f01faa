"""Combining characters before the mistake take no room."""

import eas
from tests.errors.case import Broken


@eas.kernel
def greet(a):
    print("été", "äöü", missing)


CASE = Broken(greet, "*f32")

"""A number on one path, None on the other."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def find(a, out):
    result = None
    if mk.load(a, 0) > 0.0:
        result = 1
    mk.store(out, 0, result)


CASE = Broken(find, "*f32", "*i32")

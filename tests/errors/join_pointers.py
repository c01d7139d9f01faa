"""A pointer into one array or another."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def either(a, b, out, n):
    source = a
    if n > 2:
        source = b
    mk.store(out, 0, mk.load(source, 0))


CASE = Broken(either, "*f32", "*f32", "*f32", "i32")

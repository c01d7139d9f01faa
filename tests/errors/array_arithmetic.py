"""Arithmetic on whole arrays."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def add(a, b, out):
    i = mk.program_id(0)
    mk.store(out, i, a + b)
    mk.store(out, i, a * 2.0)


CASE = Broken(add, "*f32", "*f32", "*f32")

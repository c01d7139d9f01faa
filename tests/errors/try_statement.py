"""`try`: nothing is raised on a GPU. What is inside is looked at all the same."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def divide(a, b, out):
    i = mk.program_id(0)
    try:
        q = a[i] / divisor
    except ZeroDivisionError as problem:
        q = 0.0
        print(problem)
    finally:
        mk.store(out, i, q)


CASE = Broken(divide, "*f32[:]", "*f32[:]", "*f32")

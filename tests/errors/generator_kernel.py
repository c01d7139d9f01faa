"""`yield` and `yield from` in a kernel."""

import eas
from tests.errors.case import Broken


@eas.kernel
def squares(a, n):
    for i in range(n):
        yield i * i
    yield from (1, 2)


CASE = Broken(squares, "*i32", "i32")

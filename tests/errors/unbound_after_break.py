"""A `break` that leaves before the name gets its value."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def search(a, out):
    for i in range(10):
        x = mk.load(a, i)
        if x < 0.0:
            break
        root = mk.sqrt(x)
    mk.store(out, 0, root)


CASE = Broken(search, "*f32", "*f32")

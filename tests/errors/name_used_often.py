"""A wrong name is reported where it is used first, not at each use."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def norm(a, out, n):
    for i in range(n):
        x = mk.load(a, i) * scael
        mk.store(out, i, scael + mk.suqare(x) + mk.suqare(scael))
    mk.store(out, n, x * x + x)


CASE = Broken(norm, "*f32", "*f32", "i32")

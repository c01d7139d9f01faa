"""Something else where a dtype is needed."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def convert(a, out, n):
    x = mk.load(a, 0)
    mk.store(out, 0, x.to(n))
    mk.store(out, 1, mk.zeros((8,), "float32"))


CASE = Broken(convert, "*f32", "*f32", "i32")

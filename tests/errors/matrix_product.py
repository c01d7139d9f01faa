"""The operator `@`."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def product(a, b, out):
    x = mk.zeros((8, 8))
    y = mk.zeros((8, 8))
    mk.store(out, 0, mk.sum(x @ y))


CASE = Broken(product, "*f32", "*f32", "*f32")

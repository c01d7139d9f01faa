"""A slice whose bound is known at run time only."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def head(a, out, n, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.store(out, 0, mk.sum(x[:n]))


CASE = Broken(head, "*f32", "*f32", "i32", BLOCK=64)

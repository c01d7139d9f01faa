"""A name of the module that the kernel assigns further down."""

import eas
from eas import mk
from tests.errors.case import Broken


scale = 2.0


@eas.kernel
def double(a):
    mk.store(a, 0, mk.load(a, 0) * scale)
    scale = 3.0


CASE = Broken(double, "*f32")

"""More threads than a threadgroup can have."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a):
    mk.store(a, mk.tid(0, 2048), 1.0)


CASE = Broken(fill, "*f32")

"""Two different numbers of threads in one kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a):
    t = mk.tid(0, 64)
    u = mk.tid(0, 128)
    mk.store(a, t, 1.0)


CASE = Broken(fill, "*f32")

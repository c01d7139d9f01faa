"""`with` in a kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def locked(a, lock):
    with lock as held:
        mk.store(a, 0, 1.0)
        mk.store(a, 1, helt)


CASE = Broken(locked, "*f32", "i32")

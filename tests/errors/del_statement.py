"""`del` in a kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(a, b):
    x = mk.load(a, 0)
    mk.store(b, 0, x)
    del x


CASE = Broken(copy, "*f32", "*f32")

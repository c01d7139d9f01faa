"""`raise` in a kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def root(a, out):
    x = mk.load(a, 0)
    if x < 0.0:
        raise ValueError("negative")
    mk.store(out, 0, mk.sqrt(x))


CASE = Broken(root, "*f32", "*f32")

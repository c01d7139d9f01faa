"""How many threads there are is not said."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a):
    mk.store(a, mk.local_id(0), 1.0)


CASE = Broken(fill, "*f32")

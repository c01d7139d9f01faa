"""A complex literal."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def rotate(a):
    i = mk.program_id(0)
    mk.store(a, i, mk.load(a, i) * 1j)


CASE = Broken(rotate, "*f32")

"""A kernel that calls a kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a, value):
    mk.store(a, mk.program_id(0), value)


@eas.kernel
def clear(a):
    fill(a, 0.0)


CASE = Broken(clear, "*f32")

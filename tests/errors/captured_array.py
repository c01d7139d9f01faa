"""An array from outside of the kernel."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Broken


table = np.arange(16, dtype=np.float32)


@eas.kernel
def look_up(out):
    i = mk.program_id(0)
    mk.store(out, i, table[i])


CASE = Broken(look_up, "*f32")

"""Two programs write different values to one place."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def last(out):
    mk.store(out, 0, mk.program_id(0))


def arguments():
    return {"out": np.zeros(1, "i4")}


CASE = Faulty(last, arguments, grid=4)

"""An offset that does not fit into i32, and an element that is there by chance."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def gather(a, out, WIDTH):
    row = mk.program_id(0)
    columns = mk.arange(0, 4)
    mk.store(out, row * 4 + columns, mk.load(a, row * WIDTH + columns))


def arguments():
    return {"a": np.ones(16, "f4"), "out": np.zeros(16, "f4"), "WIDTH": 1 << 30}


CASE = Faulty(gather, arguments, grid=4)

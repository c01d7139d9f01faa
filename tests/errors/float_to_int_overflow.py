"""A float that no i32 can hold."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def convert(a, out):
    i = mk.program_id(0)
    mk.store(out, i, mk.load(a, i).to(mk.i32))


def arguments():
    return {"a": np.array([1.5, 1e20], "f4"), "out": np.zeros(2, "i4")}


CASE = Faulty(convert, arguments, grid=2)

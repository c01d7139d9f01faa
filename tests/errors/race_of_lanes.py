"""Two lanes write different values to one place."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def scatter(a, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(out, i // 2, mk.load(a, i))


def arguments():
    return {"a": np.arange(8, dtype="f4"), "out": np.zeros(4, "f4"), "BLOCK": 8}


CASE = Faulty(scatter, arguments)

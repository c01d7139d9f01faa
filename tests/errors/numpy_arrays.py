"""Functions of NumPy's, and the functions of kernels that are meant."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def sample(x, y, BLOCK: eas.constexpr):
    i = np.arange(BLOCK)
    a = np.zeros(4)
    for j in range(4):
        a[j] = x[j]
    y[0] = np.linspace(0, 1, 4)
    y[1] = np.clip(x[1], 0.0, 1.0)
    y[2] = np.ones(10**12)[0]
    mk.store(y, i, x[i])


CASE = Broken(sample, "*f32", "*f32", BLOCK=64)

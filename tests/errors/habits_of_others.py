"""Names and functions that come along from NumPy and CUDA."""

import random
from dataclasses import dataclass

import numpy as np

import eas
from eas import mk
from tests.errors.case import Broken

SETTINGS = {"scale": 2.0}


@dataclass
class Point:
    x: float


@eas.kernel
def habits(x, y, n):
    t = threadIdx.x
    __syncthreads()
    mk.syncthreads()
    i = mk.arange(0, 64)
    v = mk.load(x, i)
    w = mk.load(x, i, mask=n)
    a = np.where(v > 0.0, v, 0.0)
    b = np.add(v, v) + np.sum(x)
    c = mk.max(v, 0.0)
    d = random.random()
    e = SETTINGS["scael"] + SETTINGS.scale
    p = Point(v)
    p.x = 2.0
    print("%f" % v)  # noqa: UP031
    f = mk.f32(n)


CASE = Broken(habits, "*f32", "*f32", "i32")

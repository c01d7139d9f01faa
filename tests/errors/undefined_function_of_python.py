"""Names like those of Python's functions: only what a kernel may call is suggested."""

import eas
from tests.errors.case import Broken


@eas.kernel
def read(a):
    for i, _ in enumarate((1, 2)):
        a[i] = 0.0
    text = opne("numbers.txt")


CASE = Broken(read, "*f32[:]")

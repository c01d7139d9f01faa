"""A dictionary, and a dictionary comprehension."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(a, k):
    weights = {"low": 0.5, "high": 2.0}
    squares = {i: i * i for i in range(4)}
    mk.store(a, 0, weights["low"])
    mk.store(a, 1, squares[2])


CASE = Broken(pick, "*f32", "i32")

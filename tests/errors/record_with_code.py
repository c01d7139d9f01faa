"""A dataclass that runs code of its own."""

from dataclasses import dataclass

import eas
from eas import mk
from tests.errors.case import Broken


@dataclass(frozen=True)
class Interval:
    low: float
    high: float

    def __post_init__(self):
        assert self.low <= self.high


@eas.kernel
def middle(a):
    i = Interval(mk.load(a, 0), mk.load(a, 1))
    mk.store(a, 2, (i.low + i.high) / 2.0)


CASE = Broken(middle, "*f32")

"""A long chain of calls through one place is folded."""

import eas
from eas import mk
from tests.errors.case import Broken


def apply(f, x):
    return f(x)


@eas.kernel
def climb(a):
    one = lambda x: x + wrong  # noqa: E731
    two = lambda x: apply(one, x)  # noqa: E731
    three = lambda x: apply(two, x)  # noqa: E731
    four = lambda x: apply(three, x)  # noqa: E731
    five = lambda x: apply(four, x)  # noqa: E731
    mk.store(a, 0, apply(five, mk.load(a, 0)))


CASE = Broken(climb, "*f32")

"""A mistake in a lambda shows where it is called."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def apply(a):
    square = lambda x: x * y  # noqa: E731
    mk.store(a, 0, square(mk.load(a, 0)))


CASE = Broken(apply, "*f32")

"""A helper that is an `async` function."""

import eas
from eas import mk
from tests.errors.case import Broken


async def one():
    return 1.0


@eas.kernel
def fill(a):
    mk.store(a, 0, one())


CASE = Broken(fill, "*f32")

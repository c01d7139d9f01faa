"""A kernel that is an `async` function."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
async def fill(a):
    mk.store(a, 0, 1.0)


CASE = Broken(fill, "*f32")

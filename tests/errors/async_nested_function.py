"""An `async` function inside of a kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a):
    async def one():
        return 1.0

    mk.store(a, 0, one())


CASE = Broken(fill, "*f32")

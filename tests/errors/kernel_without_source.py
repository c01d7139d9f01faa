"""A kernel whose source cannot be had."""

import eas
from eas import mk
from tests.errors.case import Broken


names = {"mk": mk}
exec("def fill(a):\n    mk.store(a, 0, 1.0)", names)
fill = eas.kernel(names["fill"])


CASE = Broken(fill, "*f32")

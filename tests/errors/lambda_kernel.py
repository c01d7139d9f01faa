"""A kernel that is a lambda."""

import eas
from eas import mk
from tests.errors.case import Broken


fill = eas.kernel(lambda a: mk.store(a, 0, 1.0))


CASE = Broken(fill, "*f32")

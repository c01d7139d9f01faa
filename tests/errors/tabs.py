"""Tabs in the line of the mistake."""

import eas
from eas import mk
from tests.errors.case import Broken


# fmt: off
@eas.kernel
def fill(a, n):
	if n > 0:
		mk.store(a,	0,	value)


CASE = Broken(fill, "*f32", "i32")

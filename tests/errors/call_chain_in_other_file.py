"""A mistake in a helper of another file."""

import eas
from eas import mk
from tests.errors.case import Broken
from tests.errors.shared import mean_of_three


@eas.kernel
def apply(a):
    mk.store(a, 0, mean_of_three(mk.load(a, 0), 1.0, 2.0))


CASE = Broken(apply, "*f32")

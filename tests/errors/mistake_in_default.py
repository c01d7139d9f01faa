"""A mistake in the default of a nested function."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def apply(a):
    def shifted(x, by=ofset):
        return x + by

    mk.store(a, 0, shifted(mk.load(a, 0)))


CASE = Broken(apply, "*f32")

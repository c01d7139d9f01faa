"""A kernel in the body of a class."""

import eas
from eas import mk
from tests.errors.case import Broken


class Filters:
    class Smooth:
        @eas.kernel
        def run(a, out):
            mk.store(out, 0, mk.load(a, 0) * factor)


CASE = Broken(Filters.Smooth.run, "*f32", "*f32")

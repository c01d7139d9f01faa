"""A class pattern."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def kind(out, x):
    match x:
        case int():
            mk.store(out, 0, 1)
        case float():
            mk.store(out, 0, 2)


CASE = Broken(kind, "*i32", "i32")

"""A kernel that a decorator below has wrapped in code."""

from functools import wraps

import eas
from eas import mk
from tests.errors.case import Broken


def timed(function):
    @wraps(function)
    def wrapper(*arguments, **named):
        print("starts")
        return function(*arguments, **named)

    return wrapper


@eas.kernel
@timed
def double(a, out):
    mk.store(out, 0, mk.load(a, 0) * 2)


CASE = Broken(double, "*f32", "*f32")

"""A kernel with decorators above and below."""

from functools import wraps

import eas
from eas import mk
from tests.errors.case import Broken


def announced(function):
    @wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)

    return wrapper


@eas.kernel(
    fast_math=True,
)
@announced
@announced
def double(a, out):
    mk.store(out, 0, mk.load(a, 0) * tow)


CASE = Broken(double, "*f32", "*f32")

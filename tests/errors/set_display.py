"""A set, and a set comprehension."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def is_small_prime(n, out):
    found = n in {2, 3, 5, 7}
    even = n in {2 * i for i in range(4)}
    mk.store(out, 0, found and not even)


CASE = Broken(is_small_prime, "i32", "*bool")

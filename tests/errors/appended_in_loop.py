"""A list that grows in a loop; nothing is said of what rests on it."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def gather(x, y):
    found = []
    for j in range(4):
        found.append(x[j])
    mk.store(y, 0, found[0])


CASE = Broken(gather, "*f32", "*f32")

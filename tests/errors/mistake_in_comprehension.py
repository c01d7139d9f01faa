"""A mistake in a comprehension."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def weigh(a, WEIGHTS: eas.constexpr):
    products = [w * mk.load(a, i) + bais for i, w in enumerate(WEIGHTS)]
    mk.store(a, 0, sum(products))


CASE = Broken(weigh, "*f32", WEIGHTS=(0.25, 0.5, 0.25))

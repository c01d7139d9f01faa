"""A mapping pattern."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(out, OPTIONS: eas.constexpr):
    match OPTIONS:
        case {"scale": scale}:
            mk.store(out, 0, scale)
        case _:
            mk.store(out, 0, misspelled)


CASE = Broken(pick, "*f32", OPTIONS="none")

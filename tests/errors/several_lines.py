"""An expression over several lines, wrong in its middle and as a whole."""

import eas
from eas import mk
from tests.errors.case import Broken


# fmt: off
@eas.kernel
def blend(a, b, out, n):
    x = mk.load(a, 0)
    y = (
        x * 0.25
        + mk.load(b, n) * wieght
        + 0.5
    )
    z = mk.maximum(
        x.to(mk.f16),
        mk.load(
            b,
            n,
        ),
    )
    mk.store(out, 0, y + z)


CASE = Broken(blend, "*f32", "*bf16", "*f32", "i32")

"""F-strings with formats: of a run-time value, by a run-time width, of a kind that there is not."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def show(a, width):
    x = mk.load(a, 0)
    print(f"x = {x:.3f}")
    print(f"one is {1:{width}}")
    print(f"one is {1:y}")


CASE = Broken(show, "*f32", "i32")

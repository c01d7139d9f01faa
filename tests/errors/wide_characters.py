"""Wide characters before the mistake: the caret stays in place."""

import eas
from tests.errors.case import Broken


@eas.kernel
def greet(a, 数):
    print("你好，世界", "👩‍🚀 ✅", naïve)
    größe = 数 + ёжик


CASE = Broken(greet, "*f32", "i32")

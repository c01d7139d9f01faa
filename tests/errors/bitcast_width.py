"""A bitcast to a type of another width."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def reinterpret(a, out):
    mk.store(out, 0, mk.bitcast(mk.load(a, 0), mk.i64))


CASE = Broken(reinterpret, "*f32", "*i64")

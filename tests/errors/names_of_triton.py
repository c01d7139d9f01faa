"""Names and parameters that other tile languages have: what is written here instead."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def ported(x, y, n, BLOCK: eas.constexpr):
    offs = mk.arange(0, BLOCK)
    a = mk.load(x + offs, mask=offs < n, volatile=True)
    b = mk.load(x + offs).to(mk.float32)
    for k in mk.range(n, num_stages=2):
        mk.atomic_add(y + offs, 1.0, sem="acq_rel")
    mk.device_print("n", n)
    c = mk.math.exp2(1.0)
    d = mk.zeros((8, 8), dtype=y.dtype.element_ty)
    e = mk.max(mk.zeros((8, 8)), 0, return_indices=True)
    f = mk.zeros((8, 8)).T
    g = mk.zeros((8,)).to(mk.i32, bitcast=True)
    if y.dtype.is_fp16():
        mk.store(mk.multiple_of(y, 16), 0, mk.randn(n, 0, n_rounds=10))


CASE = Broken(ported, "*f32", "*f32", "i32", BLOCK=64)

"""Values of the wrong type. Below each mistake stand its place and its code."""

import eas
from eas import mk


@eas.kernel(examples=[("*f32[:]", "i32")])
def int_then_float(x, n):
    v = 0
    if n > 0:
        v = 1.5
#       ^^^^^^^ E0312
    x[0] = v


@eas.kernel(examples=[("*f32", "*u32", "*i32", dict(BLOCK=8))])
def signed_with_unsigned(x, a, b, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    u = mk.load(a, i)
    s = mk.load(b, i)
    mk.store(x, i, (u + s) * 1.0)
#                       ^ E0306


@eas.kernel(examples=[("*i32[:]", "f32")])
def float_into_ints(counts, rate):
    counts[0] = rate * 3.0
#               ^^^^^^^^^^ E0510


@eas.kernel(examples=[("*f32[:]", "f32")])
def bits_of_a_float(x, v):
    x[0] = v & 3
#          ^ E0301


@eas.kernel(examples=[("*f32[:]", "f32")])
def declared_otherwise(x, v):
    count: mk.i32 = v + 1.0
#                   ^^^^^^^ E0314
    x[0] = count


@eas.kernel(examples=[("*f32[:]", "i32")])
def text_as_number(x, n):
    x[0] = "three" + n
#          ^^^^^^^ E0302

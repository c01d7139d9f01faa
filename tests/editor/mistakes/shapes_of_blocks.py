"""Blocks that do not fit. Below each mistake stand its place and its code."""

import eas
from eas import mk


@eas.kernel(examples=[("*f32", dict(M=8, N=16))])
def two_sizes(x, M: eas.constexpr, N: eas.constexpr):
    a = mk.arange(0, M)
    b = mk.arange(0, N)
    mk.store(x, a, a + b)
#                      ^ E0304


@eas.kernel(examples=[("*f32", "i32")])
def size_at_run_time(x, n):
    i = mk.arange(0, n)
#                    ^ E0705
    mk.store(x, i, 1.0)


@eas.kernel(examples=[("*f32", dict(BLOCK=8))])
def lost_elements(x, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(x, i, mk.reshape(i, (BLOCK, 2)))
#                                ^^^^^^^^^^ E0516


@eas.kernel(examples=[("*f32", dict(BLOCK=8))])
def element_of_a_block(x, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(x, 0, i[3])
#                    ^ E0506


@eas.kernel(examples=[("*f32", "*f32", dict(BLOCK=8))])
def vectors_as_matrices(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    a, b = mk.load(x, i), mk.load(y, i)
    mk.store(y, i, mk.dot(a, mk.trans(b[None, :])))
#                         ^ E0301


@eas.kernel(examples=[("*f32[:]",)])
def slice_of_an_array(x):
    x[0] = x[2:4]
#            ^^^ E0503

"""Code that not all lanes reach. Below each mistake stand its place and its code."""

import eas
from eas import mk


@eas.kernel(examples=[("*f32", "*f32", dict(BLOCK=8))])
def sum_in_a_branch(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(x, i)
    if v > 0.0:
        mk.store(y, i, v / mk.sum(v))
#                          ^^^^^^^^^ E0602


@eas.kernel(examples=[("*f32", "*f32", dict(BLOCK=8))])
def max_in_a_loop(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(x, i)
    while v < 10.0:
        v = v + mk.max(v)
#               ^^^^^^^^^ E0602
    mk.store(y, i, v)


@eas.kernel(examples=[("*f32", dict(BLOCK=8))])
def blocks_and_threads(x, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    i = mk.arange(0, BLOCK)
#       ^^^^^^^^^^^^^^^^^^^ E0606
    mk.store(x, i, t)


@eas.kernel(examples=[("*f32", dict(BLOCK=2048))])
def too_many_threads(x, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
#       ^^^^^^^^^^^^^^^^ E0604
    mk.store(x, t, 1.0)


@eas.kernel(examples=[("*f32", "*f32", dict(BLOCK=8))])
def simd_of_blocks(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y, i, mk.simd_sum(mk.load(x, i)))
#                  ^^^^^^^^^^^^^^^^^^^^^^^^^^ E0603


@eas.kernel(examples=[("*f32", "*f32", dict(BLOCK=8))])
def barrier_in_a_branch(x, y, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    if mk.load(x, t) > 0.5:
        mk.barrier()
#       ^^^^^^^^^^^^ E0602
    mk.store(y, t, 1.0)

"""Mistakes in long expressions. Below each mistake stand its place and its code."""

import eas
from eas import mk


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def call_over_lines(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(
        y,
        i,
        mk.load(
            x,
            i + offset,
#               ^^^^^^ E0201
            mask=i < N,
        ),
        mask=i < N,
    )


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def keyword_over_lines(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(
        y,
        i,
        mk.load(x, i),
        msk=i < N,
#       ^^^ E0428
    )


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def sum_over_lines(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    total = (
        mk.load(x, i)
        + mk.zeros(BLOCK * 2, mk.f32)
#         ^^^^^^^^^^^^^^^^^^^^^^^^^^^ E0304
        + 1.0
    )
    mk.store(y, i, total + mk.nothing(i))
#                             ^^^^^^^ E0205


@eas.kernel(examples=[("*f32[:]", "i32")])
def in_a_comprehension(x, n):
    x[0] = sum([k * weights for k in range(4)])
#                   ^^^^^^^ E0201


@eas.kernel(examples=[("*f32[:]", "i32")])
def in_a_lambda(x, n):
    step = lambda v: v + increment
#                        ^^^^^^^^^ E0201
    x[0] = step(1.0)


@eas.kernel(examples=[("*f32[:]", "i32")])
def in_an_inner_function(x, n):
    def step(v):
        return v + increment
#                  ^^^^^^^^^ E0201

    x[0] = step(1.0)


@eas.kernel(examples=[("*f32[:]", "i32")])
def in_an_f_string(x, n):
    assert n > 0, f"{n} of {limit}"
#                           ^^^^^ E0201
    x[0] = n + bound
#              ^^^^^ E0201

"""Names that are wrong. Below each mistake stand its place and its code."""

import math

import eas
from eas import mk

SCALE = 2.0


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def misspelled_variable(x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    value = mk.load(x, offs, mask=offs < N)
    mk.store(y, offs, valeu * SCALE, mask=offs < N)
#                     ^^^^^ E0201


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def misspelled_function(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y, i, mk.sqroot(mk.load(x, i, mask=i < N)), mask=i < N)
#                     ^^^^^^ E0205


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def misspelled_keyword(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, mask=i < N, othr=1.0), mask=i < N)
#                                            ^^^^ E0428


@eas.kernel(examples=[("*f32[:]", "i32")])
def bound_on_one_path(x, n):
    if n > 3:
        limit = 0.5
    x[0] = limit
#          ^^^^^ E0202


@eas.kernel(examples=[("*f32[:]",)])
def used_too_early(x):
    x[0] = factor
#          ^^^^^^ E0203
    factor = 2.0
    x[1] = factor


@eas.kernel(examples=[("*f32[:]", "f32")])
def function_of_math(x, angle):
    x[0] = math.sin(angle)
#                   ^^^^^ E0414

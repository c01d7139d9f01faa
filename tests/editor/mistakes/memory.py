"""Loads and stores that are wrong. Below each mistake stand its place and its code."""

import numpy as np

import eas
from eas import mk

TABLE = np.arange(4)


@eas.kernel(examples=[("*f32", "i32")])
def load_from_a_number(x, n):
    mk.store(x, 0, mk.load(n, 0))
#                          ^ E0509


@eas.kernel(examples=[("*f32", dict(BLOCK=8))])
def float_offsets(x, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK) * 0.5
    mk.store(x, i, 1.0)
#               ^ E0501


@eas.kernel(examples=[("*f32[:]",)])
def array_from_outside(x):
    x[0] = TABLE[2]
#          ^^^^^ E0204


@eas.kernel(examples=[("*f32[:, :]",)])
def one_index_for_two_axes(x):
    x[0] = 1.0
#     ^ E0502


@eas.kernel(examples=[("*f32[:]", "*f32[:]")])
def array_as_condition(x, y):
    if x:
#      ^ E0305
        y[0] = 1.0


@eas.kernel(examples=[("*f32[:]", "*f32[:]")])
def sum_of_arrays(x, y):
    x[0] = 2.0 * (x * y)
#                 ^^^^^ E0309

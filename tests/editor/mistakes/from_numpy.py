"""Habits from NumPy. Below each mistake stand its place and its code."""

import numpy as np

import eas
from eas import mk


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def whole_array(x, y, n):
    y = x * 2.0
#       ^^^^^^^ E0309


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def slice_copy(x, y, n):
    y[:n] = x[:n]
#             ^^ E0503


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def method_sum(x, y, n):
    y[0] = x.sum()
#            ^^^ E0205


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def np_sum(x, y, n):
    y[0] = np.sum(x)
#                 ^ E0414


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def np_where(x, y, n):
    i = mk.arange(0, 64)
    mk.store(y, i, np.where(mk.load(x, i) > 0, 1.0, 0.0))
#                           ^^^^^^^^^^^^^^^^^ E0414


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def len_of(x, y, n):
    for k in range(len(x)):
#                      ^ E0421
        y[k] = x[k].astype(np.float16)


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def boolean_index(x, y, n):
    y[x > 0] = 0.0
#     ^ E0302


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def enumerate_array(x, y, n):
    for k, v in enumerate(x):
#                         ^ E0404
        y[k] = v


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def new_array(x, y, n):
    buf = np.empty(16, dtype=np.float32)
#         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ E0432
    for k in range(16):
        buf[k] = x[k]
    y[0] = buf[3]


@eas.kernel(examples=[("*f32[:, :]", "*f32[:]", "i32")])
def row_of(x, y, n):
    row = x[0]
#           ^ E0502
    y[0] = row[3]


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def keepdims(x, y, n):
    v = mk.load(x, mk.arange(0, 64))
    s = mk.sum(v, axis=0, keepdims=True)
#                         ^^^^^^^^ E0428
    mk.store(y, mk.arange(0, 64), v / s)


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def random(x, y, n):
    y[0] = np.random.rand()
#          ^^^^^^^^^^^^^^ E0411


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def print_fmt(x, y, n):
    print("value %f" % x[0])
#                      ^^^^ E0414
    y[0] = x[0]


@eas.kernel(examples=[("*f32[:]", "*f32[:]", "i32")])
def string_format(x, y, n):
    assert x[0] > 0, "bad {}".format(x[0])
#                                    ^^^^ E0414
    y[0] = x[0]

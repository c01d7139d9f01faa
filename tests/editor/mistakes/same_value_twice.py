"""A value that a statement has twice. Below each mistake stand its place and its code."""

import eas
from eas import mk


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def offsets(x, y, n):
    f = n * 0.5
    mk.store(y, f, f)
#               ^ E0501


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def nested(x, y, n):
    f = mk.arange(0, 64) * 0.5
    mk.store(y, f, mk.load(x, mk.arange(0, 64)) + f)
#               ^ E0501


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def masks(x, y, n):
    f = mk.arange(0, 64) * 0.5
    mk.store(y, mk.arange(0, 64), f, mask=f)
#                                         ^ E0301


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def arrays(x, y, n):
    mk.store(y, y, 1.0)
#               ^ E0302
    mk.store(y, 0, y)
#                  ^ E0302


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def index(x, y, n):
    f = n * 0.5
    y[f] = f
#     ^ E0501
    y[n] = x[f] + f
#            ^ E0501
    y[f] += f
#     ^ E0501


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def text(x, y, n):
    s = "a"
    y[0] = n * 1.0 if s == "b" else s + n
#                                   ^ E0302
    y[1] = mk.maximum(s, s)
#                     ^ E0302


@eas.kernel(examples=[("*f32", "*f32", "i32")])
def bits(x, y, n):
    v = x[0]
    y[0] = (v + v) + (v & n) + v
#                     ^ E0301
    y[1] = v + (n << v) + v
#                    ^ E0301

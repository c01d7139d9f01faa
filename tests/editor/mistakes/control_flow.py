"""What kernels do not have of Python. Below each mistake stand its place and its code."""

import eas
from eas import mk


@eas.kernel(examples=[("*f32[:]", "f32")])
def with_try(x, v):
    try:
#   ^^^ E0101
        x[0] = 1.0 / v
    except ZeroDivisionError:
        x[0] = 0.0


@eas.kernel(examples=[("*f32[:]", "f32")])
def with_raise(x, v):
    if v < 0.0:
        raise ValueError("negative")
#       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ E0102
    x[0] = v


@eas.kernel(examples=[("*f32[:]",)])
def with_import(x):
    import math
#   ^^^^^^^^^^^ E0109
    x[0] = 1.0


@eas.kernel(examples=[("*f32[:]",)])
def with_del(x):
    v = x[0]
    del v
#   ^^^^^ E0107


@eas.kernel(examples=[("*f32[:]",)])
def with_dictionary(x):
    table = {"a": 1.0}
#           ^^^^^^^^^^ E0110
    x[0] = 2.0


@eas.kernel(examples=[("*f32[:]", "f32")])
def with_result(x, v):
    x[0] = v
    return v
#          ^ E0424

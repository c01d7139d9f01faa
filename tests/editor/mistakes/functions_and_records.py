"""Records, inner functions, wrappers and statements over lines. Below each mistake stand its place and its code."""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import eas
from eas import mk


def logged(f):
    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k)
    return inner


@logged
def helper(v):
    return v + one_undefined
#              ^^^^^^^^^^^^^ E0201


@eas.kernel(examples=[("*f32", "i32")])
def through_wrapper(x, n):
    x[0] = helper(x[1])


class Pair(NamedTuple):
    a: float
    b: float


@dataclass(frozen=True)
class Vec:
    x: float
    y: float

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.z)
#                                                   ^ E0205

    def norm(self):
        return mk.sqrt(self.x * self.x + missing_y)


@dataclass
class Mutable:
    x: float


@eas.kernel(examples=[("*f32", "i32")])
def records(x, n):
    p = Pair(x[0])
#       ^^^^ E0413
    q = Vec(x[0], x[1]) + Vec(1.0, 2.0)
    x[3] = q.norm()


@eas.kernel(examples=[("*f32", "i32")])
def mutable(x, n):
    m = Mutable(x[0])
#       ^^^^^^^ E0411
    m.x = 3.0
    v = Vec(1.0, 2.0)
    v.x = 3.0
#   ^^^ E0409
    x[0] = m.x + v.z
#                  ^ E0205


@eas.kernel(examples=[("*f32", "i32")])
def nested(x, n):
    def outer(v):
        def inner(w):
            return w * not_there
#                      ^^^^^^^^^ E0201
        return inner(v) + 1
    x[0] = outer(x[1])


def apply(f, v):
    return f(v)
#          ^ E0411


@eas.kernel(examples=[("*f32", "i32")])
def higher_order(x, n):
    x[0] = apply(lambda t: t + gone, x[1])
#                              ^^^^ E0201
    x[1] = apply(mk.sqrtt, x[1])
#                   ^^^^^ E0205
    x[2] = apply(3, x[1])


@eas.kernel(examples=[("*f32", "i32")])
def nonlocal_use(x, n):
    count = 0
    def bump():
        nonlocal count
#       ^^^^^^^^^^^^^^ E0106
        count += 1
    bump()
    x[0] = count


@eas.kernel(examples=[("*f32", "i32")])
def star_args(x, n):
    args = (x, 0, 1.0)
    mk.store(*args)
    mk.store(*args, wrong=3)
#                   ^^^^^ E0428
    kw = {"mask": n > 0}
#        ^^^^^^^^^^^^^^^ E0110
    mk.store(x, 0, 1.0, **kw)
#                       ^^^^ E0412


@eas.kernel(examples=[("*f32", "i32")])
def continuation(x, n):
    x[0] = x[1] + \
        x[2] * \
        undefinedx
#       ^^^^^^^^^^ E0201
    x[3] = (x[1]
            if n > 0
            else nothingness)
#                ^^^^^^^^^^^ E0201
    y = """
#       ^^^ E0302
    text""" + x[1]


@eas.kernel(examples=[("*f32", "i32")])
def f_nested(x, n):
    print(f"{x[0]:.2f} {f'{undefined_inner}'}", sep=n)
#            ^^^^ E0426
    print(x[0], end="")
#               ^^^ E0428
    print(x)
#         ^ E0423


@eas.kernel(examples=[("*f32", "i32")])
def loops(x, n):
    for k in range(0, n, 0):
#                        ^ E0420
        x[k] = 1.0
    for k in range(0.5, n):
#                  ^^^ E0403
        x[k] = 1.0
    for a, b in zip(range(n), x):
#                   ^^^^^^^^ E0702
        x[a] = b
    while x[0] > 0:
        pass
    else:
        x[0] = breaks
#              ^^^^^^ E0201
    for s in "abc":
        x[0] = s
#              ^ E0302


@eas.kernel(examples=[("*f32", "i32")])
def augmented(x, n):
    total += x[0]
#   ^^^^^ E0203
    x[0] @= x[1]
#   ^^^^^^^^^^^^ E0307
    n //= 0
    x[0] **= "a"
#            ^^^ E0302
    x[1] = n


@eas.kernel(examples=[("*f32", "i32")])
def branches(x, n):
    if n > 0:
        v = x[0]
    elif n < 0:
        v = (1, 2)
    x[0] = v
#          ^ E0202
    if n == 3:
        w = mk.arange(0, 4)
    else:
        w = mk.arange(0, 8)
#       ^^^^^^^^^^^^^^^^^^^ E0310
    mk.store(x, w, 1.0)
    y = x if n > 0 else None
#                       ^^^^ E0310
    mk.store(y, 0, 1.0)

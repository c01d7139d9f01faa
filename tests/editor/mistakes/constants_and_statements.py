"""Several mistakes in a kernel, and constants from outside. Below each mistake stand its place and its code."""

import math

import eas
from eas import mk

SETTINGS = {"scale": 2.0}


class Layer:
    scale = 2.0

    @eas.kernel(examples=[("*f32", "i32")])
    def forward(x, n):
        x[0] = self.scale * n
#              ^^^^ E0201


@eas.kernel(examples=[("*f32", "i32")])
def several(x, n):
    a = x[0] + undefined_one
#              ^^^^^^^^^^^^^ E0201
    b = a + 1
    c = mk.sqrt("four")
#               ^^^^^^ E0302
    d = c * 2
    x[1] = undefined_two(b, d)
#          ^^^^^^^^^^^^^ E0201
    for k in range(undefined_three):
#                  ^^^^^^^^^^^^^^^ E0201
        x[k] = k
    if undefined_four:
#      ^^^^^^^^^^^^^^ E0201
        x[0] = undefined_five
#              ^^^^^^^^^^^^^^ E0201


@eas.kernel(examples=[("*f32", "i32")])
def dict_key(x, n):
    x[0] = SETTINGS["scael"]
#                   ^^^^^^^ E0707
    x[1] = SETTINGS.scale
#                   ^^^^^ E0205


@eas.kernel(examples=[("*f32", "i32")])
def math_domain(x, n):
    x[0] = math.sqrt(-1.0)
#          ^^^^^^^^^^^^^^^ E0701
    x[1] = math.exp(x[2])
#                   ^^^^ E0414
    x[2] = 1 / 0
#          ^^^^^ E0701


@eas.kernel(examples=[("*f32", "i32")])
def walrus_match(x, n):
    match n:
        case 0:
            x[0] = 1.0
        case [a, b]:
#            ^^^^^^ E0115
            x[0] = 2.0
    if (m := n * 2) > "3":
#                     ^^^ E0302
        x[0] = m


@eas.kernel(examples=[("*f32", "i32")])
def generators(x, n):
    x[0] = sum(x[k] for k in range(n))
#                            ^^^^^^^^ E0702
    x[1] = max(x[k] for k in range(4))
    x[2] = [x[k] for k in range(n)][0]
#                         ^^^^^^^^ E0702


@eas.kernel(examples=[("*f32", "i32")])
def tuple_mismatch(x, n):
    a, b = x[0], x[1], x[2]
#   ^^^^ E0407
    c, *d = n
#           ^ E0406
    x[0] = a + b + c


@eas.kernel(examples=[("*f32", "i32")])
def lambda_default(x, n):
    f = lambda v, w=2: v ** w + q
    x[0] = f(1.0, 2, 3)
#                    ^ E0427


@eas.kernel(examples=[("*f32", "i32")])
def chained(x, n):
    x[0] = 1.0 if 0 < n < "z" else 0.0
#                         ^^^ E0302
    x[0] += None
#           ^^^^ E0302
    x[1] = n is None
    x[2] = n in [1, 2, 3]


@eas.kernel(examples=[("*f32", "i32")])
def complex_number(x, n):
    x[0] = 2j * n
#          ^^ E0119
    x[1] = x[0].real
#               ^^^^ E0205
    x[2] = n.bit_length()
#            ^^^^^^^^^^ E0205
    x[3] = x[0].item()
#               ^^^^ E0205

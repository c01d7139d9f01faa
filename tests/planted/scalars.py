"""Single elements, blocks of one lane, and offsets that need more than 32 bits."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a[3:4]},
    a=numbers(4),
    out=zeros(1),
    bug={"AT": 4},
    twin={"AT": 3},
)
@eas.kernel
def offset_that_is_an_argument(a, out, AT):
    mk.store(out, 0, mk.load(a, AT))  # BUG


@planted(
    "R0102",
    "out",
    lambda out, **_: {"out": np.append(out[1:], 1)},
    out=zeros(4),
    bug={"AT": -1},
    twin={"AT": 3},
)
@eas.kernel
def negative_offset_that_is_an_argument(out, AT):
    mk.store(out, AT, 1.0)  # BUG


@planted(
    "R0104",
    "a",
    lambda a, **_: {"out": a[-1:]},
    a=numbers(4),
    out=zeros(1),
    bug={"AT": -5},
    twin={"AT": -1},
)
@eas.kernel
def negative_index_that_is_an_argument(a, out, AT):
    out[0] = a[AT]  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a[:1]}, a=numbers(4), out=zeros(1))
@eas.kernel
def constant_before_the_start(a, out, WRONG: eas.constexpr):
    mk.store(out, 0, mk.load(a, 0 - WRONG))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(4), out=zeros(4), grid=(4,))
@eas.kernel
def block_of_one_lane(a, out, WRONG: eas.constexpr):
    i = mk.program_id(0) + mk.arange(0, 1)
    mk.store(out, i + WRONG, mk.load(a, i))  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a[:8]},
    a=numbers(8),
    out=zeros(8),
    bug={"FAR": 2**40},
    twin={"FAR": 0},
)
@eas.kernel
def far_behind_the_end(a, out, FAR: mk.i64):
    i = mk.arange(0, 8)
    mk.store(out, i, mk.load(a, FAR + i))  # BUG


@planted(
    "R0102",
    "out",
    lambda a, **_: {"out": a},
    a=numbers(8),
    out=zeros(8),
    bug={"FAR": -(2**40)},
    twin={"FAR": 0},
)
@eas.kernel
def far_before_the_start(a, out, FAR: mk.i64):
    i = mk.arange(0, 8)
    mk.store(out, FAR + i, mk.load(a, i))  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a[:8]},
    a=numbers(8),
    out=zeros(8),
    bug={"FAR": 2**62 - 1},
    twin={"FAR": 0},
)
@eas.kernel
def offset_whose_bytes_wrap(a, out, FAR: mk.i64):
    i = mk.arange(0, 8)
    mk.store(out, i, mk.load(a, i + FAR * 2))  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a[:8]},
    a=numbers(8),
    out=zeros(8),
    bug={"FAR": 2**32},
    twin={"FAR": 0},
)
@eas.kernel
def offset_whose_low_half_is_inside(a, out, FAR: mk.i64):
    i = mk.arange(0, 8)
    mk.store(out, i, mk.load(a, i + FAR))  # BUG


@planted(
    "R0104",
    "a",
    lambda a, **_: {"out": a[:8]},
    a=numbers(8),
    out=zeros(8),
    bug={"FAR": 2**32},
    twin={"FAR": 0},
)
@eas.kernel
def index_whose_low_half_is_inside(a, out, FAR: mk.i64):
    i = mk.arange(0, 8)
    out[i] = a[i + FAR]  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a[:8]},
    a=numbers(8),
    out=zeros(8),
    bug={"FAR": 2**30},
    on_interpret="R0108",
    twin={"FAR": 0},
)
@eas.kernel
def offset_of_32_bits_that_wraps(a, out, FAR):
    i = mk.arange(0, 8)
    mk.store(out, i, mk.load(a, i + FAR * 2))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(4, 4), out=zeros(4, 4), grid=(4, 4))
@eas.kernel
def element_of_each_program(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.program_id(1)
    mk.store(out, i * 4 + j + WRONG, mk.load(a, i * 4 + j))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a[:1] + a[-1:]}, a=numbers(9), out=zeros(1))
@eas.kernel
def one_of_two_loads(a, out, WRONG: eas.constexpr):
    first = mk.load(a, 0)
    last = mk.load(a, 8 + WRONG)  # BUG
    mk.store(out, 0, first + last)


@planted("R0104", "x", lambda x, **_: {"x": x * 2}, x=numbers(5), N=5)
@eas.kernel
def updated_in_a_loop(x, N, WRONG: eas.constexpr):
    for i in range(N + WRONG):
        x[i] *= 2.0  # BUG


@planted("R0102", "x", lambda x, **_: {"x": x[::-1]}, x=numbers(10), N=10)
@eas.kernel
def swapped_in_place(x, N, WRONG: eas.constexpr):
    for i in range(N // 2):
        j = N - i if WRONG else N - 1 - i
        left, right = mk.load(x, i), mk.load(x, mk.minimum(j, N - 1))
        mk.store(x, i, right)
        mk.store(x, j, left)  # BUG

"""Offsets that begin or end one too early or too late."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(64))
@eas.kernel
def read_behind_the_end(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i + WRONG))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(64))
@eas.kernel
def read_before_the_start(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i - WRONG))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(64))
@eas.kernel
def write_behind_the_end(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i + WRONG, mk.load(a, i))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(64))
@eas.kernel
def write_before_the_start(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i - WRONG, mk.load(a, i))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a[::-1]}, a=numbers(50), out=zeros(50), N=50)
@eas.kernel
def reverse_from_n(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    v = mk.load(a, N - i if WRONG else N - 1 - i, mask=i < N)  # BUG
    mk.store(out, i, v, mask=i < N)


def differences(a):
    return np.diff(a, prepend=a[:1])


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": differences(a)},
    a=numbers(100),
    out=zeros(100),
    N=100,
    grid=(4,),
)
@eas.kernel
def difference_to_the_left(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 32 + mk.arange(0, 32)
    left = mk.load(a, i - 1 if WRONG else mk.maximum(i - 1, 0), mask=i < N)  # BUG
    mk.store(out, i, mk.load(a, i, mask=i < N) - left, mask=i < N)


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": np.append(a[1:], 0)},
    a=numbers(100),
    out=zeros(100),
    N=100,
    grid=(4,),
)
@eas.kernel
def neighbour_to_the_right(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 32 + mk.arange(0, 32)
    right = mk.load(a, i + 1, mask=i < N if WRONG else i + 1 < N)  # BUG
    mk.store(out, i, right, mask=i < N)


@planted("R0102", "out", lambda out, **_: {"out": np.ones_like(out)}, out=zeros(128), grid=(4,))
@eas.kernel
def only_the_last_program(out, WRONG: eas.constexpr):
    pid = mk.program_id(0)
    i = pid * 32 + mk.arange(0, 32)
    mk.store(out, i + (pid // 3) * WRONG, 1.0)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(128), out=zeros(128), grid=(4,))
@eas.kernel
def only_the_first_program(a, out, WRONG: eas.constexpr):
    pid = mk.program_id(0)
    i = pid * 32 + mk.arange(0, 32)
    mk.store(out, i, mk.load(a, mk.where(pid == 0, i - WRONG, i)))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(64))
@eas.kernel
def only_one_lane(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, mk.where(i == 37, i + 27 * WRONG, i)))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a[::3]}, a=numbers(94), out=zeros(32))
@eas.kernel
def every_third_and_one_more(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 32)
    mk.store(out, i, mk.load(a, 3 * i + WRONG))  # BUG


@planted("R0102", "x", lambda x, **_: {"x": np.append(x[1:], 0)}, x=numbers(64))
@eas.kernel
def shift_in_place(x, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    v = mk.load(x, i + 1, mask=i < 63)
    mk.store(x, i + WRONG, v)  # BUG


@planted(
    "R0102",
    "out",
    lambda out, **_: {"out": np.ones_like(out)},
    out=zeros(64),
    N=6400,
    bug={"N": 6400},
    twin={"N": 64},
    grid=(100,),
)
@eas.kernel
def length_of_another_array(out, N):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    mk.store(out, i, 1.0, mask=i < N)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a[:1]}, a=numbers(64), out=zeros(1))
@eas.kernel
def read_that_nothing_uses(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.load(a, i + WRONG)  # BUG
    mk.store(out, 0, mk.load(a, 0))

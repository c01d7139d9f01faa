"""Bugs on a path that only some lanes, or some programs, take."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


def shifted_where_even(a, **_):
    return {"out": np.where(np.arange(64) % 2 == 0, a, -a)}


@planted("R0101", "a", shifted_where_even, a=numbers(64), out=zeros(64))
@eas.kernel
def in_an_if(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    if i % 2 == 0:
        v = mk.load(a, i + 64 * WRONG)  # BUG
    else:
        v = -mk.load(a, i)
    mk.store(out, i, v)


@planted("R0101", "a", shifted_where_even, a=numbers(64), out=zeros(64))
@eas.kernel
def in_an_else(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    if i % 2 == 0:
        v = mk.load(a, i)
    else:
        v = -mk.load(a, i + WRONG)  # BUG
    mk.store(out, i, v)


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(50), out=zeros(50), N=50)
@eas.kernel
def lanes_that_should_have_returned(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    if i > N if WRONG else i >= N:
        return
    v = mk.load(a, i, mask=i < N)
    mk.store(out, i, v)  # BUG


@planted("R0104", "out", lambda out, **_: {"out": np.ones_like(out)}, out=zeros(6), grid=(8,))
@eas.kernel
def programs_that_should_have_returned(out, WRONG: eas.constexpr):
    pid = mk.program_id(0)
    if pid >= out.shape[0] + WRONG:
        return
    out[pid] = 1.0  # BUG


@planted(
    "R0101", "a", lambda a, **_: {"out": np.where(a > 10, a, 0)}, a=numbers(50), out=zeros(50), N=50
)
@eas.kernel
def conditions_in_the_wrong_order(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    if (mk.load(a, i) > 10.0 and i < N) if WRONG else (i < N and mk.load(a, i) > 10.0):  # BUG
        mk.store(out, i, mk.load(a, i))


@planted("R0101", "a", lambda a, **_: {"out": np.append(a[1:], a[0])}, a=numbers(64), out=zeros(64))
@eas.kernel
def in_a_conditional_expression(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    v = mk.load(a, i + 1) if i < 63 + WRONG else mk.load(a, 0)  # BUG
    mk.store(out, i, v)


def matched(a, **_):
    return {"out": np.array([a[0], a[2], a[3], a[3]])}


def choose(a, kind, shift):
    match kind:
        case 0:
            return mk.load(a, 0)
        case 1 | 2:
            return mk.load(a, kind + 1 + shift)  # BUG
        case _:
            return mk.load(a, 3)


@planted("R0101", "a", matched, a=numbers(4), out=zeros(4), grid=(4,))
@eas.kernel
def in_one_case_of_a_match(a, out, WRONG: eas.constexpr):
    pid = mk.program_id(0)
    mk.store(out, pid, choose(a, pid, WRONG))


@planted(
    "R0102",
    "out",
    lambda out, **_: {"out": np.where(np.arange(64) < 20, 1, 2).astype("f4")},
    out=zeros(64),
    N=20,
)
@eas.kernel
def in_nested_branches(out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    if i < N:
        mk.store(out, i, 1.0)
    elif i < 64:
        if i % 2 == 1 and i > 60:
            mk.store(out, i + WRONG, 2.0)  # BUG
        else:
            mk.store(out, i, 2.0)


@planted(
    "R0101",
    "a",
    lambda a, n, **_: {"out": a[n - 1] * (n > 0)},
    a=numbers(16),
    out=zeros(16),
    n=np.arange(16, dtype="i4"),
)
@eas.kernel
def guard_that_lets_zero_through(a, n, out, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    length = mk.load(n, i)
    v = 0.0
    if length > 0 - WRONG:
        v = mk.load(a, length - 1)  # BUG
    mk.store(out, i, v)


@planted("R0101", "a", lambda a, **_: {"out": a[:8]}, a=numbers(8), out=zeros(8), N=8)
@eas.kernel
def below_an_assert_and_a_print(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 8)
    assert N == 8, "N is the length"
    print("N is", N)
    v = mk.load(a, i + WRONG)  # BUG
    assert v > 0.0
    mk.store(out, i, v)


def running(a, **_):
    return {"out": np.array([a[:n].sum() for n in np.arange(16) % 5], "f4")}


@planted("R0101", "a", running, a=numbers(4), out=zeros(16))
@eas.kernel
def lanes_that_leave_a_loop_one_by_one(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    s, k = 0.0, 0
    while True:
        if k == i % 5 + WRONG:
            break
        s += mk.load(a, k)  # BUG
        k += 1
    mk.store(out, i, s)

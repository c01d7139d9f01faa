"""Bugs that only one trip of a loop has."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


def total(a, **_):
    return {"out": a.sum(keepdims=True)}


@planted("R0101", "a", total, a=numbers(20), out=zeros(1), N=20)
@eas.kernel
def last_trip(a, out, N, WRONG: eas.constexpr):
    s = 0.0
    for i in range(N + WRONG):
        s += mk.load(a, i)  # BUG
    mk.store(out, 0, s)


@planted("R0101", "a", lambda a, **_: {"out": np.diff(a)}, a=numbers(21), out=zeros(20), N=21)
@eas.kernel
def first_trip(a, out, N, WRONG: eas.constexpr):
    for i in range(1 - WRONG, N):
        left = mk.load(a, i - 1)  # BUG
        if i > 0:
            mk.store(out, i - 1, mk.load(a, i) - left)


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(16, 8), out=zeros(16, 8))
@eas.kernel
def a_trip_in_the_middle(a, out, WRONG: eas.constexpr):
    j = mk.arange(0, 8)
    for i in range(16):
        offs = mk.where(i == 7, i + 100 * WRONG, i) * 8 + j
        mk.store(out, offs, mk.load(a, i * 8 + j))  # BUG


@planted("R0101", "a", total, a=numbers(20), out=zeros(1), N=20)
@eas.kernel
def while_less_or_equal(a, out, N, WRONG: eas.constexpr):
    s, i = 0.0, 0
    while i <= N if WRONG else i < N:
        s += mk.load(a, i)  # BUG
        i += 1
    mk.store(out, 0, s)


@planted(
    "R0101", "a", lambda a, **_: {"out": a.reshape(8, 16).sum(0)}, a=numbers(128), out=zeros(16)
)
@eas.kernel
def offsets_that_are_carried(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    offs, s = i, mk.zeros((16,))
    for _ in range(8):
        s += mk.load(a, offs)  # BUG
        offs += 16 + WRONG
    mk.store(out, i, s)


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a.reshape(8, 16).sum(0)},
    a=numbers(128),
    out=zeros(16),
    N=128,
)
@eas.kernel
def pointer_that_advances(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    p, s = a + i, mk.zeros((16,))
    for _ in range(0, N + WRONG, 16):
        s += mk.load(p)  # BUG
        p += 16
    mk.store(out, i, s)


@planted(
    "R0101", "a", lambda a, **_: {"out": a.sum(1)}, a=numbers(5, 70), out=zeros(5), N=70, grid=(5,)
)
@eas.kernel
def columns_in_blocks(a, out, N, WRONG: eas.constexpr):
    row, i = mk.program_id(0), mk.arange(0, 32)
    s = mk.zeros((32,))
    for start in range(0, N, 32):
        s += mk.load(a, row * N + start + i, mask=i < N if WRONG else start + i < N)  # BUG
    mk.store(out, row, mk.sum(s))


@planted("R0104", "a", lambda a, **_: {"out": a.sum(1)}, a=numbers(4, 6), out=zeros(4))
@eas.kernel
def inner_loop(a, out, WRONG: eas.constexpr):
    for i in range(4):
        s = 0.0
        for j in range(6 + WRONG):
            s += a[i, j]  # BUG
        out[i] = s


@planted(
    "R0101",
    "a",
    lambda a, lengths, **_: {"out": np.cumsum(np.append(0, a))[lengths].astype("f4")},
    a=numbers(32),
    out=zeros(16),
    bug={"lengths": np.array([*range(15), 33], "i4")},
    twin={"lengths": np.array([*range(15), 32], "i4")},
)
@eas.kernel
def loop_of_its_own_length_per_lane(a, lengths, out):
    i = mk.arange(0, 16)
    length = mk.load(lengths, i)
    s, k = 0.0, 0
    while k < length:
        s += mk.load(a, k)  # BUG
        k += 1
    mk.store(out, i, s)


@planted("R0101", "a", lambda a, **_: {"out": a[::-1]}, a=numbers(20), out=zeros(20), N=20)
@eas.kernel
def backwards(a, out, N, WRONG: eas.constexpr):
    for i in range(N - 1 + WRONG, -1, -1):
        v = mk.load(a, i)  # BUG
        if i < N:
            mk.store(out, N - 1 - i, v)


@planted("R0101", "a", total, a=numbers(20), out=zeros(1))
@eas.kernel
def break_that_comes_too_late(a, out, WRONG: eas.constexpr):
    s, i = 0.0, 0
    while True:
        if WRONG == 0 and i == 20:
            break
        s += mk.load(a, i)  # BUG
        if WRONG and i == 20:
            break
        i += 1
    mk.store(out, 0, s)


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a[1:].sum(keepdims=True)},
    a=numbers(20),
    out=zeros(1),
    N=20,
)
@eas.kernel
def continue_that_lets_one_through(a, out, N, WRONG: eas.constexpr):
    s = 0.0
    for i in range(N):
        if i + 1 >= N + WRONG:
            continue
        s += mk.load(a, i + 1)  # BUG
    mk.store(out, 0, s)


@planted(
    "R0101", "a", lambda a, **_: {"out": a.reshape(4, 16).sum(0)}, a=numbers(64), out=zeros(16)
)
@eas.kernel
def unrolled(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    s = mk.zeros((16,))
    for k in mk.static_range(4):
        s += mk.load(a, i + k * 16 + (WRONG if k == 3 else 0))  # BUG
    mk.store(out, i, s)


@planted("R0102", "out", lambda out, **_: {"out": np.ones_like(out)}, out=zeros(40), N=40)
@eas.kernel
def fill_in_steps(out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 8)
    start = 0
    while start < N:
        mk.store(out, start + i, 1.0, mask=None if WRONG else start + i < N)  # BUG
        start += 8 - WRONG


def collatz(n):
    return n // 2 if n % 2 == 0 else 3 * n + 1


def visits(out, **_):
    counts, n = np.zeros_like(out), 6
    while n != 1:
        counts[n] += 1
        n = collatz(n)
    return {"out": counts}


@planted("R0104", "out", visits, out=zeros(17, dtype="i4"), bug={"START": 7}, twin={"START": 6})
@eas.kernel
def trip_that_depends_on_data(out, START):
    n = START
    while n != 1:
        out[n] += 1  # BUG
        n = collatz(n)

"""Elements of other sizes than 4 bytes."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a},
    a=numbers(33, dtype="f2"),
    out=zeros(33, dtype="f2"),
    N=33,
)
@eas.kernel
def halves(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i, mask=i < N + WRONG), mask=i < N)  # BUG


@planted(
    "R0102",
    "out",
    lambda a, **_: {"out": a},
    a=numbers(33, dtype="i1"),
    out=zeros(33, dtype="i1"),
    N=33,
)
@eas.kernel
def bytes_(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i, mask=i < N), mask=i < N + WRONG)  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a},
    a=numbers(33, dtype="f8"),
    out=zeros(33, dtype="f8"),
    N=33,
)
@eas.kernel
def doubles(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i, mask=i < N + WRONG), mask=i < N)  # BUG


@planted(
    "R0102", "out", lambda a, **_: {"out": a > 9}, a=numbers(33), out=zeros(33, dtype="?"), N=33
)
@eas.kernel
def bools(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i, mask=i < N) > 9.0, mask=i < N + WRONG)  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a.sum(keepdims=True)},
    a=numbers(33, dtype="i8"),
    out=zeros(1, dtype="i8"),
)
@eas.kernel
def sum_of_longs(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, 0, mk.sum(mk.load(a, i, mask=i < 33 + WRONG)))  # BUG


@planted(
    "R0102",
    "out",
    lambda a, **_: {"out": a},
    a=numbers(33, dtype="u2"),
    out=zeros(33, dtype="u2"),
    N=33,
)
@eas.kernel
def shorts_before_the_start(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i - WRONG, mk.load(a, i, mask=i < N), mask=i < N)  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a},
    a=numbers(64, dtype="bfloat16"),
    out=zeros(64, dtype="bfloat16"),
)
@eas.kernel
def brain_floats(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i + WRONG))  # BUG


@planted(
    "R0101", "a", lambda a, **_: {"out": a}, a=numbers(32, dtype="u8"), out=zeros(32, dtype="u8")
)
@eas.kernel
def size_taken_from_bytes(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 32)
    mk.store(out, i, mk.load(a, i * (8 if WRONG else 1)))  # BUG


@planted(
    "R0102",
    "out",
    lambda a, **_: {"out": np.repeat(a, 2).astype("f8")},
    a=numbers(32),
    out=zeros(64, dtype="f8"),
)
@eas.kernel
def output_of_another_size(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i + 33 * WRONG, mk.load(a, i // 2))  # BUG

"""Atomic operations outside of an array."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


def counts(a, bins, **_):
    return {"bins": np.bincount(a, minlength=len(bins)).astype("i4")}


@planted("R0103", "x", lambda x, **_: {"x": x + 1}, x=numbers(64, dtype="i4"))
@eas.kernel
def add_behind_the_end(x, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.atomic_add(x, i + WRONG, 1)  # BUG


@planted("R0103", "x", lambda x, **_: {"x": x + 1}, x=numbers(100), N=100, grid=(2,))
@eas.kernel
def add_with_a_wrong_mask(x, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    mk.atomic_add(x, i, 1.0, mask=i <= N if WRONG else i < N)  # BUG


@planted("R0103", "x", lambda x, **_: {"x": x + 1}, x=numbers(64, dtype="i4"))
@eas.kernel
def add_in_a_loop(x, WRONG: eas.constexpr):
    i = mk.arange(0, 8)
    for k in range(8 + WRONG):
        mk.atomic_add(x, k * 8 + i, 1)  # BUG


BINNED = (numbers(128) % 10).astype("i4")


@planted(
    "R0103",
    "bins",
    counts,
    bug={"a": np.where(np.arange(128) == 77, 10, BINNED).astype("i4")},
    twin={"a": BINNED},
    bins=zeros(10, dtype="i4"),
    grid=(4,),
)
@eas.kernel
def histogram(a, bins):
    i = mk.program_id(0) * 32 + mk.arange(0, 32)
    mk.atomic_add(bins, mk.load(a, i), 1)  # BUG


@planted(
    "R0103",
    "bins",
    counts,
    bug={"a": np.where(np.arange(128) == 5, -1, BINNED).astype("i4")},
    twin={"a": BINNED},
    bins=zeros(10, dtype="i4"),
    grid=(4,),
)
@eas.kernel
def histogram_with_half_a_mask(a, bins):
    i = mk.program_id(0) * 32 + mk.arange(0, 32)
    bin = mk.load(a, i)
    mk.atomic_add(bins, bin, 1, mask=bin < 10)  # BUG


@planted("R0103", "x", lambda x, **_: {"x": np.full_like(x, 7)}, x=zeros(8, dtype="i4"), grid=(8,))
@eas.kernel
def compare_and_swap(x, WRONG: eas.constexpr):
    mk.atomic_cas(x, mk.program_id(0) + WRONG, 0, 7)  # BUG


@planted(
    "R0103",
    "x",
    lambda x, **_: {"x": np.arange(32, dtype="i4"), "old": x},
    x=numbers(32, dtype="i4"),
    old=zeros(32, dtype="i4"),
)
@eas.kernel
def exchange(x, old, WRONG: eas.constexpr):
    i = mk.arange(0, 32)
    mk.store(old, i, mk.atomic_xchg(x, i - WRONG, i))  # BUG


@planted(
    "R0103",
    "x",
    lambda a, **_: {"x": a.reshape(4, 16).max(0)},
    a=numbers(64, dtype="i4"),
    x=zeros(16, dtype="i4"),
)
@eas.kernel
def maximum_of_columns(a, x, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.atomic_max(x, i // 4 + WRONG if WRONG else i % 16, mk.load(a, i))  # BUG


@planted(
    "R0103",
    "x",
    lambda a, **_: {"x": a.min(keepdims=True)},
    a=numbers(64),
    x=zeros(1) + 99,
    grid=(2,),
)
@eas.kernel
def minimum_in_one_element(a, x, WRONG: eas.constexpr):
    i = mk.program_id(0) * 32 + mk.arange(0, 32)
    mk.atomic_min(x, mk.program_id(0) * WRONG, mk.min(mk.load(a, i)))  # BUG


@planted("R0103", "x", lambda x, **_: {"x": x | 1}, x=zeros(33, dtype="u4"), N=33)
@eas.kernel
def bits_under_a_condition(x, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    if i < N + WRONG:
        mk.atomic_or(x, i, 1)  # BUG


def compacted(a, **_):
    kept = np.sort(a[a % 2 == 0])
    return {
        "out": np.append(kept, np.zeros(len(a) - len(kept), a.dtype)),
        "count": np.array([len(kept)], "i4"),
    }


@planted(
    "R0102",
    "out",
    compacted,
    a=numbers(64, dtype="i4"),
    out=zeros(64, dtype="i4"),
    count=zeros(1, dtype="i4"),
    bug={"count": np.array([33], "i4")},
    twin={"count": zeros(1, dtype="i4")},
)
@eas.kernel
def place_from_a_counter(a, out, count):
    for i in range(64):
        v = mk.load(a, i)
        if v % 2 == 0:
            mk.store(out, mk.atomic_add(count, 0, 1), v)  # BUG


@planted(
    "R0103", "x", lambda x, **_: {"x": x + np.arange(64, dtype="i4")}, x=numbers(64, dtype="i4")
)
@eas.kernel
def add_of_each_thread(x, WRONG: eas.constexpr):
    t = mk.tid(0, 64)
    mk.atomic_add(x, t + WRONG, t)  # BUG


@planted(
    "R0103",
    "shared",
    lambda a, **_: {"out": np.bincount(a, minlength=8).astype("i4")},
    a=(numbers(64) % 8).astype("i4"),
    out=zeros(8, dtype="i4"),
)
@eas.kernel
def histogram_in_threadgroup_memory(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 64)
    shared = mk.alloc_tg(8, mk.i32)
    if t < 8:
        shared[t] = 0
    mk.barrier()
    mk.atomic_add(shared, a[t] + WRONG, 1)  # BUG
    mk.barrier()
    if t < 8:
        out[t] = shared[t]

"""Thread programs."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted("R0104", "out", lambda a, **_: {"out": a}, a=numbers(50), out=zeros(50))
@eas.kernel
def more_threads_than_elements(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 64)
    v = a[t] if t < 50 else 0.0
    if WRONG or t < 50:
        out[t] = v  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(100), out=zeros(100), N=100, grid=(4,))
@eas.kernel
def less_or_equal(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 32 + mk.tid(0, 32)
    v = mk.load(a, i, mask=i <= N if WRONG else i < N)  # BUG
    mk.store(out, i, v, mask=i < N)


@planted(
    "R0101", "a", lambda a, **_: {"out": np.append(a[1:], a[:1])}, a=numbers(64), out=zeros(64)
)
@eas.kernel
def neighbour_of_the_last_thread(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 64)
    mk.store(out, t, mk.load(a, t + 1 if WRONG else (t + 1) % 64))  # BUG


@planted(
    "R0101", "a", lambda a, **_: {"out": a.sum(keepdims=True)}, a=numbers(100), out=zeros(1), N=100
)
@eas.kernel
def loop_in_steps_of_the_threads(a, out, N, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    shared = mk.alloc_tg(32, mk.f32)
    s = 0.0
    for i in range(t, N + WRONG, 32):
        s += mk.load(a, i)  # BUG
    shared[t] = s
    mk.barrier()
    if t == 0:
        total = 0.0
        for k in range(32):
            total += shared[k]
        mk.store(out, 0, total)


@planted(
    "R0104", "shared", lambda a, **_: {"out": a.sum(keepdims=True)}, a=numbers(64), out=zeros(1)
)
@eas.kernel
def tree_that_begins_too_wide(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 64)
    shared = mk.alloc_tg(64, mk.f32)
    shared[t] = a[t]
    mk.barrier()
    step = 32
    while step > 0:
        if t < step + WRONG:
            v = shared[t + step]  # BUG
        else:
            v = 0.0
        mk.barrier()
        shared[t] = shared[t] + v
        mk.barrier()
        step = step // 2
    if t == 0:
        out[0] = shared[0]


@planted(
    "R0102", "out", lambda a, **_: {"out": a.reshape(2, 32).sum(1)}, a=numbers(64), out=zeros(2)
)
@eas.kernel
def one_result_of_each_simdgroup(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 64)
    s = mk.simd_sum(mk.load(a, t))
    if mk.lane_id() == 0:
        mk.store(out, mk.sg_id() + WRONG, s)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(64), grid=(2,))
@eas.kernel
def program_of_the_wrong_size(a, out, WRONG: eas.constexpr):
    t, pid = mk.tid(0, 32), mk.program_id(0)
    mk.store(out, pid * 32 + t, mk.load(a, pid * (32 + 32 * WRONG) + t))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a[::-1]}, a=numbers(64), out=zeros(64))
@eas.kernel
def reversed_behind_a_barrier(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 64)
    shared = mk.alloc_tg(64, mk.f32)
    mk.store(shared, t, mk.load(a, t))
    mk.barrier()
    mk.store(out, 63 - t - WRONG, mk.load(shared, t))  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a.reshape(8, 8) @ a.reshape(8, 8)},
    a=numbers(64),
    out=zeros(8, 8),
)
@eas.kernel
def matrix_of_a_simdgroup(a, out, WRONG: eas.constexpr):
    mk.tid(0, 32)
    acc = mk.mma(mk.mma_zero(), a, 0, a, WRONG)  # BUG
    mk.mma_store(acc, out, 0)


@planted(
    "R0102",
    "out",
    lambda a, **_: {"out": a.reshape(8, 8) @ a.reshape(8, 8)},
    a=numbers(64),
    out=zeros(8, 8),
)
@eas.kernel
def stored_matrix_of_a_simdgroup(a, out, WRONG: eas.constexpr):
    mk.tid(0, 32)
    acc = mk.mma(mk.mma_zero(), a, 0, a, 0)
    mk.mma_store(acc, out, 0, 8 + WRONG)  # BUG


@planted(
    "R0104", "x", lambda x, **_: {"x": np.where(np.arange(64) % 2 == 0, x + 1, x)}, x=numbers(64)
)
@eas.kernel
def threads_that_return_early(x, WRONG: eas.constexpr):
    t = mk.tid(0, 64)
    if t % 2 == 1:
        return
    x[t + 2 * WRONG] = x[t] + 1.0  # BUG

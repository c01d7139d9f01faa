"""Memory from `mk.alloc_tg`, in thread programs and in programs over blocks."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted("R0104", "tile", lambda a, **_: {"out": a}, a=numbers(32), out=zeros(32))
@eas.kernel
def write_behind_the_end(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    tile = mk.alloc_tg(32, mk.f32)
    tile[t + WRONG] = a[t]  # BUG
    mk.barrier()
    out[t] = tile[t]


@planted("R0104", "tile", lambda a, **_: {"out": a}, a=numbers(32), out=zeros(32))
@eas.kernel
def read_behind_the_end(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    tile = mk.alloc_tg(32, mk.f32)
    tile[t] = a[t]
    mk.barrier()
    out[t] = tile[t + WRONG]  # BUG


@planted("R0102", "tile", lambda a, **_: {"out": a}, a=numbers(32), out=zeros(32))
@eas.kernel
def flat_write_before_the_start(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    tile = mk.alloc_tg(32, mk.f32)
    mk.store(tile, t - WRONG, a[t])  # BUG
    mk.barrier()
    out[t] = mk.load(tile, t)


@planted("R0101", "tile", lambda a, **_: {"out": a}, a=numbers(32), out=zeros(32), grid=(1,))
@eas.kernel
def flat_read_behind_the_end(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    tile = mk.alloc_tg(32, mk.f32)
    mk.store(tile, t, a[t])
    mk.barrier()
    out[t] = mk.load(tile, t + WRONG)  # BUG


@planted("R0104", "tile", lambda a, **_: {"out": a.T}, a=numbers(4, 8), out=zeros(8, 4))
@eas.kernel
def tile_with_its_axes_swapped(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    i, j = t // 8, t % 8
    tile = mk.alloc_tg((4, 8), mk.f32)
    tile[i, j] = a[i, j]
    mk.barrier()
    out[j, i] = tile[j, i] if WRONG else tile[i, j]  # BUG


@planted("R0104", "tile", lambda a, **_: {"out": a}, a=numbers(4, 8), out=zeros(4, 8))
@eas.kernel
def column_that_is_in_the_next_row(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    i, j = t // 8, t % 8
    tile = mk.alloc_tg((4, 9), mk.f32)
    tile[i, j + 2 * WRONG] = a[i, j]  # BUG
    mk.barrier()
    out[i, j] = tile[i, j]


def neighbours(a, **_):
    padded = np.pad(a, 1)
    return {"out": padded[:-2] + padded[2:]}


@planted("R0104", "tile", neighbours, a=numbers(32), out=zeros(32))
@eas.kernel
def tile_without_its_halo(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    tile = mk.alloc_tg(33 if WRONG else 34, mk.f32)
    tile[t + 1] = a[t]
    if t == 0:
        tile[0] = 0.0
    if t < 1 - WRONG:
        tile[t + 33] = 0.0
    mk.barrier()
    out[t] = tile[t] + tile[t + 2]  # BUG


@planted(
    "R0101", "tile", lambda a, **_: {"out": np.full(32, a.sum())}, a=numbers(32), out=zeros(32)
)
@eas.kernel
def last_trip_of_a_loop(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    tile = mk.alloc_tg(32, mk.f32)
    mk.store(tile, t, mk.load(a, t))
    mk.barrier()
    s = 0.0
    for k in range(32 + WRONG):
        s += mk.load(tile, k)  # BUG
    mk.store(out, t, s)


@planted("R0101", "tile", lambda a, **_: {"out": a[::-1]}, a=numbers(64), out=zeros(64), grid=(1,))
@eas.kernel
def read_in_a_program_over_blocks(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    tile = mk.alloc_tg(64, mk.f32)
    mk.store(tile, i, mk.load(a, i))
    mk.barrier()
    mk.store(out, i, mk.load(tile, 63 - i - WRONG))  # BUG


@planted("R0102", "tile", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(64), grid=(2,))
@eas.kernel
def write_in_a_program_over_blocks(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 32)
    start = mk.program_id(0) * 32
    tile = mk.alloc_tg(32, mk.f32)
    mk.store(tile, i + (start if WRONG else 0), mk.load(a, start + i))  # BUG
    mk.barrier()
    mk.store(out, start + i, mk.load(tile, i))


@planted("R0104", "tile", lambda a, **_: {"out": a.T}, a=numbers(4, 8), out=zeros(8, 4))
@eas.kernel
def tile_of_a_program_over_blocks(a, out, WRONG: eas.constexpr):
    i, j = mk.arange(0, 4)[:, None], mk.arange(0, 8)[None, :]
    tile = mk.alloc_tg((4, 8), mk.f32)
    tile[i, j + WRONG] = a[i, j]  # BUG
    mk.barrier()
    out[j, i] = tile[i, j]


@planted("R0101", "second", lambda a, **_: {"out": a}, a=numbers(32), out=zeros(32))
@eas.kernel
def one_of_two_tiles(a, out, WRONG: eas.constexpr):
    t = mk.tid(0, 32)
    first = mk.alloc_tg(64, mk.f32)
    second = mk.alloc_tg(32, mk.f32)
    mk.store(first, t + 32, mk.load(a, t))
    mk.barrier()
    mk.store(second, t, mk.load(first, t + 32))
    mk.barrier()
    mk.store(out, t, mk.load(second, t + 32 * WRONG))  # BUG


@planted(
    "R0101",
    "tile",
    lambda a, index, **_: {"out": a[index]},
    a=numbers(32),
    out=zeros(32),
    bug={"index": np.arange(1, 33, dtype="i4")},
    twin={"index": np.arange(32, dtype="i4")[::-1].copy()},
)
@eas.kernel
def gather_from_a_tile(a, index, out):
    t = mk.tid(0, 32)
    tile = mk.alloc_tg(32, mk.f32)
    mk.store(tile, t, mk.load(a, t))
    mk.barrier()
    mk.store(out, t, mk.load(tile, mk.load(index, t)))  # BUG

"""Masks that are missing, or let too many lanes through."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(100), out=zeros(100), N=100, grid=(2,))
@eas.kernel
def forgotten_at_a_load(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    v = mk.load(a, i, mask=None if WRONG else i < N)  # BUG
    mk.store(out, i, v, mask=i < N)


@planted(
    "R0102", "out", lambda a, **_: {"out": a}, a=numbers(100), out=zeros(100), N=100, grid=(2,)
)
@eas.kernel
def forgotten_at_a_store(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    v = mk.load(a, i, mask=i < N)
    mk.store(out, i, v, mask=None if WRONG else i < N)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(100), out=zeros(100), N=100, grid=(2,))
@eas.kernel
def less_or_equal_at_a_load(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    v = mk.load(a, i, mask=i <= N if WRONG else i < N)  # BUG
    mk.store(out, i, v, mask=i < N)


@planted(
    "R0102", "out", lambda a, **_: {"out": a}, a=numbers(100), out=zeros(100), N=100, grid=(2,)
)
@eas.kernel
def less_or_equal_at_a_store(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    v = mk.load(a, i, mask=i < N)
    mk.store(out, i, v, mask=i <= N if WRONG else i < N)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(100), out=zeros(100), N=100, grid=(2,))
@eas.kernel
def mask_of_the_lane_and_not_of_the_offset(a, out, N, WRONG: eas.constexpr):
    lane = mk.arange(0, 64)
    i = mk.program_id(0) * 64 + lane
    v = mk.load(a, i, mask=lane < N if WRONG else i < N)  # BUG
    mk.store(out, i, v, mask=i < N)


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(5, 9), out=zeros(5, 9), M=5, N=9)
@eas.kernel
def mask_of_rows_for_columns(a, out, M, N, WRONG: eas.constexpr):
    i, j = mk.arange(0, 8)[:, None], mk.arange(0, 16)[None, :]
    offs, is_row, is_column = i * N + j, i < M, j < N
    v = mk.load(a, offs, mask=is_row & is_column)
    mk.store(out, offs, v, mask=is_column if WRONG else is_row & is_column)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(5, 9), out=zeros(5, 9), M=5, N=9)
@eas.kernel
def masks_joined_by_or(a, out, M, N, WRONG: eas.constexpr):
    i, j = mk.arange(0, 8)[:, None], mk.arange(0, 16)[None, :]
    offs, is_row, is_column = i * N + j, i < M, j < N
    v = mk.load(a, offs, mask=is_row | is_column if WRONG else is_row & is_column)  # BUG
    mk.store(out, offs, v, mask=is_row & is_column)


@planted(
    "R0101", "a", lambda a, **_: {"out": np.pad(a[:-3], (3, 0))}, a=numbers(64), out=zeros(64), N=64
)
@eas.kernel
def lower_end_is_not_masked(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    j = i - 3
    v = mk.load(a, j, mask=j < N if WRONG else (j >= 0) & (j < N))  # BUG
    mk.store(out, i, v)


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(100), out=zeros(100), N=100, grid=(2,))
@eas.kernel
def mask_that_is_inverted(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    v = mk.load(a, i, mask=i >= N if WRONG else not i >= N)  # BUG
    mk.store(out, i, v, mask=i < N)


@planted(
    "R0102", "out", lambda a, **_: {"out": a}, a=numbers(100), out=zeros(100), N=100, grid=(2,)
)
@eas.kernel
def mask_of_a_size_rounded_up(a, out, N, WRONG: eas.constexpr):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    v = mk.load(a, i, mask=i < N)
    mk.store(out, i, v, mask=i < mk.cdiv(N, 8) * 8 if WRONG else i < N)  # BUG


@planted(
    "R0101",
    "b",
    lambda a, b, **_: {"out": a + np.pad(b, (0, 30))},
    a=numbers(100),
    b=numbers(70),
    out=zeros(100),
    N=100,
    M=70,
    grid=(2,),
)
@eas.kernel
def mask_of_the_longer_array(a, b, out, N, M, WRONG: eas.constexpr):
    i = mk.program_id(0) * 64 + mk.arange(0, 64)
    v = mk.load(b, i, mask=i < N if WRONG else i < M)  # BUG
    mk.store(out, i, mk.load(a, i, mask=i < N) + v, mask=i < N)


@planted(
    "R0102",
    "out",
    lambda a, keep, **_: {"out": a * keep},
    a=numbers(60),
    keep=numbers(60) % 2 == 0,
    out=zeros(60),
)
@eas.kernel
def mask_from_an_array_without_the_bound(a, keep, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    is_kept = mk.load(keep, i, mask=i < 60, other=bool(WRONG))
    v = mk.load(a, i, mask=is_kept & (i < 60))
    mk.store(out, i, v, mask=is_kept)  # BUG

"""Indices of `a[i, j]` outside of their axis, also where the element they lead to is inside."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted("R0104", "a", lambda a, **_: {"out": a}, a=numbers(8, 16), out=zeros(8, 16), grid=(8,))
@eas.kernel
def transposed_read(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 16)
    out[i, j] = a[j, i] if WRONG else a[i, j]  # BUG


@planted("R0104", "out", lambda a, **_: {"out": a.T}, a=numbers(8, 16), out=zeros(16, 8), grid=(8,))
@eas.kernel
def transposed_write(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 16)
    if WRONG:
        out[i, j] = a[i, j]  # BUG
    else:
        out[j, i] = a[i, j]


@planted("R0104", "a", lambda a, **_: {"out": a}, a=numbers(8, 16), out=zeros(8, 16))
@eas.kernel
def transposed_tile(a, out, WRONG: eas.constexpr):
    i, j = mk.arange(0, 8)[:, None], mk.arange(0, 16)[None, :]
    out[i, j] = a[j, i] if WRONG else a[i, j]  # BUG


@planted(
    "R0104", "a", lambda a, **_: {"out": a[:-1]}, a=numbers(4, 16), out=zeros(3, 16), grid=(3,)
)
@eas.kernel
def column_that_is_in_the_next_row(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 16)
    out[i, j] = a[i, j + WRONG]  # BUG


@planted(
    "R0104",
    "a",
    lambda a, **_: {"out": a[1:, 0] + a[1:, 1]},
    a=numbers(5, 7),
    out=zeros(4),
    grid=(4,),
)
@eas.kernel
def sum_that_starts_in_the_row_before(a, out, WRONG: eas.constexpr):
    i = mk.program_id(0) + 1
    s = 0.0
    for j in range(2):
        s += a[i, j - 8 * WRONG]  # BUG
    out[i - 1] = s


@planted("R0104", "out", lambda a, **_: {"out": a}, a=numbers(4, 16), out=zeros(4, 16), grid=(4,))
@eas.kernel
def row_behind_the_last(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 16)
    out[i + WRONG, j] = a[i, j]  # BUG


@planted(
    "R0104", "a", lambda a, **_: {"out": a}, a=numbers(3, 4, 5), out=zeros(3, 4, 5), grid=(3, 4, 5)
)
@eas.kernel
def three_axes_in_reverse(a, out, WRONG: eas.constexpr):
    i, j, k = mk.program_id(0), mk.program_id(1), mk.program_id(2)
    out[i, j, k] = a[k, j, i] if WRONG else a[i, j, k]  # BUG


@planted("R0104", "x", lambda x, **_: {"x": x + 1}, x=numbers(6, 4))
@eas.kernel
def updated_in_place(x, WRONG: eas.constexpr):
    i, j = mk.arange(0, 6)[:, None], mk.arange(0, 4)[None, :]
    x[i, j + WRONG] += 1.0  # BUG


@planted("R0104", "a", lambda a, **_: {"out": a}, a=numbers(16), out=zeros(16))
@eas.kernel
def counted_from_the_end_too_far(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    out[i] = a[i - 16 - WRONG]  # BUG


@planted(
    "R0104",
    "b",
    lambda a, b, **_: {"out": a + np.append(b, 0)},
    a=numbers(9),
    b=numbers(8),
    out=zeros(9),
    grid=(9,),
)
@eas.kernel
def length_of_the_other_array(a, b, out, WRONG: eas.constexpr):
    i = mk.program_id(0)
    s = a[i]
    if i < (a.shape[0] if WRONG else b.shape[0]):
        s += b[i]  # BUG
    out[i] = s


@planted("R0104", "a", lambda a, **_: {"out": a.sum(0)}, a=numbers(8, 16), out=zeros(16))
@eas.kernel
def rows_counted_by_columns(a, out, WRONG: eas.constexpr):
    j = mk.arange(0, 16)
    s = mk.zeros((16,))
    for i in range(a.shape[1 if WRONG else 0]):
        s += a[i, j]  # BUG
    out[j] = s


@planted("R0104", "a", lambda a, **_: {"out": a.T}, a=numbers(12, 20), out=zeros(20, 12))
@eas.kernel
def extents_swapped_in_the_condition(a, out, WRONG: eas.constexpr):
    i, j = mk.arange(0, 32)[:, None], mk.arange(0, 32)[None, :]
    rows, columns = (20, 12) if WRONG else (12, 20)
    if i < rows and j < columns:
        out[j, i] = a[i, j]  # BUG


@planted("R0104", "a", lambda a, **_: {"out": a[:4, 6]}, a=numbers(5, 7), out=zeros(4))
@eas.kernel
def column_of_all_lanes_in_the_next_row(a, out, WRONG: eas.constexpr):
    j = mk.arange(0, 4)
    out[j] = a[j, mk.program_id(0) + 6 + WRONG]  # BUG

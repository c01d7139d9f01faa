"""Strides that belong to another axis, another array or another unit."""

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(8, 16), out=zeros(8, 16), grid=(8,))
@eas.kernel
def row_that_is_too_long(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 16)
    mk.store(out, i * 16 + j, mk.load(a, i * (16 + WRONG) + j))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(8, 16), out=zeros(8, 16), R=16, C=1)
@eas.kernel
def swapped_strides(a, out, R, C, WRONG: eas.constexpr):
    i, j = mk.arange(0, 8)[:, None], mk.arange(0, 16)[None, :]
    v = mk.load(a, i * C + j * R if WRONG else i * R + j * C)  # BUG
    mk.store(out, i * R + j * C, v)


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(8, 16), out=zeros(8, 16), grid=(8,))
@eas.kernel
def stride_in_bytes(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 16)
    mk.store(out, i * (64 if WRONG else 16) + j, mk.load(a, i * 16 + j))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a.T}, a=numbers(8, 16), out=zeros(16, 8))
@eas.kernel
def transposed_with_the_strides_of_the_input(a, out, WRONG: eas.constexpr):
    i, j = mk.arange(0, 8)[:, None], mk.arange(0, 16)[None, :]
    v = mk.load(a, i * 16 + j)
    mk.store(out, j * (16 if WRONG else 8) + i, v)  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a.sum(1)},
    a=numbers(6, 10),
    out=zeros(6),
    M=6,
    N=10,
    grid=(6,),
)
@eas.kernel
def pointer_to_a_wrong_row(a, out, M, N, WRONG: eas.constexpr):
    pid = mk.program_id(0)
    row = a + (pid + WRONG) * N
    v = mk.load(row + mk.arange(0, 16), mask=mk.arange(0, 16) < N)  # BUG
    mk.store(out, pid, mk.sum(v))


@planted(
    "R0102", "out", lambda a, **_: {"out": a}, a=numbers(2, 4, 8), out=zeros(2, 4, 8), grid=(2,)
)
@eas.kernel
def stride_of_a_batch(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 4)[:, None] * 8 + mk.arange(0, 8)[None, :]
    batch = mk.program_id(0) * 32
    mk.store(out + batch * (1 + WRONG) + i, mk.load(a + batch + i))  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a[:, :8]},
    a=numbers(8, 20),
    out=zeros(8, 8),
    bug={"STRIDE": 23},
    twin={"STRIDE": 20},
    grid=(8,),
)
@eas.kernel
def stride_argument_of_another_array(a, out, STRIDE):
    i, j = mk.program_id(0), mk.arange(0, 8)
    mk.store(out, i * 8 + j, mk.load(a, i * STRIDE + j))  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a[:, :4]},
    a=numbers(4, 8)[:, ::2],
    out=zeros(4, 4),
    grid=(4,),
)
@eas.kernel
def strides_of_the_array_taken_twice(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 4)
    offs = (i * a.strides[0] + j * a.strides[1]) * (1 + WRONG)
    out[i, j] = mk.load(a, offs)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(3, 4, 5), out=zeros(3, 4, 5))
@eas.kernel
def strides_of_three_axes(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 3)[:, None, None]
    j = mk.arange(0, 4)[None, :, None]
    k = mk.arange(0, 5)[None, None, :]
    v = mk.load(a, i * (20 + 4 * WRONG) + j * 5 + k)  # BUG
    mk.store(out, i * 20 + j * 5 + k, v)

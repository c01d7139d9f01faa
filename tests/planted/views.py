"""Views of larger arrays, empty arrays and arrays of one element."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(100)[20:84], out=zeros(64))
@eas.kernel
def neighbour_in_the_array_around_a_view(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i + WRONG))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(100)[20:84])
@eas.kernel
def neighbour_before_a_view(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i - WRONG, mk.load(a, i))  # BUG


@planted("R0104", "a", lambda a, **_: {"out": a}, a=numbers(128)[::2], out=zeros(64))
@eas.kernel
def every_second_element(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    out[i] = a[i + WRONG]  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(64)[::-1], out=zeros(64))
@eas.kernel
def below_the_memory_of_a_reversed_view(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, (i + WRONG) * a.strides[0]))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(64)[::-1], out=zeros(64))
@eas.kernel
def above_the_memory_of_a_reversed_view(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, i * a.strides[0] + WRONG))  # BUG


@planted("R0104", "out", lambda a, **_: {"out": a}, a=numbers(16), out=zeros(31)[::-2])
@eas.kernel
def reversed_view_that_is_written(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    out[i + WRONG] = a[i]  # BUG


@planted("R0104", "a", lambda a, **_: {"out": a}, a=numbers(16, 8).T, out=zeros(8, 16), grid=(8,))
@eas.kernel
def transposed_view(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 16)
    out[i, j] = a[j, i] if WRONG else a[i, j]  # BUG


@planted(
    "R0104", "a", lambda a, **_: {"out": a}, a=numbers(8, 16)[:, 2:10], out=zeros(8, 8), grid=(8,)
)
@eas.kernel
def columns_of_a_larger_array(a, out, WRONG: eas.constexpr):
    i, j = mk.program_id(0), mk.arange(0, 8)
    out[i, j] = a[i, j + WRONG]  # BUG


@planted(
    "R0104", "a", lambda a, **_: {"out": a}, a=np.broadcast_to(numbers(1), (16,)), out=zeros(16)
)
@eas.kernel
def one_element_for_all(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    out[i] = a[i + WRONG]  # BUG


@planted("R0102", "out", lambda out, **_: {"out": out}, out=zeros(0), N=0)
@eas.kernel
def write_to_an_empty_array(out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    mk.store(out, i, 1.0, mask=i < N + WRONG)  # BUG


@planted("R0101", "a", lambda a, **_: {}, a=zeros(0), out=zeros(1))
@eas.kernel
def read_of_an_empty_array(a, out, WRONG: eas.constexpr):
    if a.shape[0] > 0 - WRONG:
        mk.store(out, 0, mk.load(a, 0))  # BUG


@planted("R0104", "a", lambda a, **_: {}, a=zeros(4, 0), out=zeros(4))
@eas.kernel
def axis_without_elements(a, out, WRONG: eas.constexpr):
    for i in range(a.shape[0]):
        for j in range(a.shape[1] + WRONG):
            out[i] = a[i, j]  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a * 2}, a=numbers(1), out=zeros(1))
@eas.kernel
def array_of_one_element(a, out, WRONG: eas.constexpr):
    mk.store(out, WRONG, mk.load(a, 0) * 2.0)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(8, 8)[::2, ::-2], out=zeros(4, 4))
@eas.kernel
def view_of_two_strides(a, out, WRONG: eas.constexpr):
    i, j = mk.arange(0, 4)[:, None], mk.arange(0, 4)[None, :]
    v = mk.load(a, i * a.strides[0] + (j + WRONG) * a.strides[1])  # BUG
    out[i, j] = v

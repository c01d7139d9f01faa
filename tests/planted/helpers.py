"""Bugs in helpers: the line is that of the helper."""

from typing import NamedTuple

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


def fetch(a, i, shift):
    return mk.load(a, i + shift)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(64), out=zeros(64))
@eas.kernel
def read_by_a_helper(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, fetch(a, i, WRONG))


def put(array, i, value, count, slack):
    mk.store(array, i, value, mask=i < count + slack)  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a}, a=numbers(50), out=zeros(50), N=50)
@eas.kernel
def written_by_a_helper(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    put(out, i, mk.load(a, i, mask=i < N), N, WRONG)


def at(matrix, i, j):
    return matrix[i, j]  # BUG


def trace(matrix, size):
    s = 0.0
    for i in range(size):
        s += at(matrix, i, i)
    return s


@planted(
    "R0104",
    "a",
    lambda a, **_: {"out": np.array([np.trace(a)], "f4")},
    a=numbers(4, 6),
    out=zeros(1),
)
@eas.kernel
def helper_of_a_helper(a, out, WRONG: eas.constexpr):
    out[0] = trace(a, 4 + WRONG)


@planted("R0101", "a", lambda a, **_: {"out": a * a}, a=numbers(32), out=zeros(32))
@eas.kernel
def read_by_a_lambda(a, out, WRONG: eas.constexpr):
    read = lambda i: mk.load(a, i - WRONG)  # BUG  # noqa: E731
    i = mk.arange(0, 32)
    mk.store(out, i, read(i) * mk.load(a, i))


@planted("R0101", "a", lambda a, **_: {"out": a + a}, a=numbers(32), out=zeros(32))
@eas.kernel
def read_by_a_nested_function(a, out, WRONG: eas.constexpr):
    def read(i, shift):
        return mk.load(a, i + shift)  # BUG

    i = mk.arange(0, 32)
    mk.store(out, i, read(i, 0) + read(i, WRONG))


class Window(NamedTuple):
    start: int
    size: int

    def read(self, a, i):
        return mk.load(a, self.start + i, mask=i < self.size)  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a[8:24]}, a=numbers(24), out=zeros(16))
@eas.kernel
def read_by_a_method(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 16)
    mk.store(out, i, Window(8 + WRONG, 16).read(a, i))


def count_up(array, i):
    mk.atomic_add(array, i, 1)  # BUG


@planted("R0103", "x", lambda x, **_: {"x": x + 1}, x=numbers(32, dtype="i4"))
@eas.kernel
def updated_by_a_helper(x, WRONG: eas.constexpr):
    count_up(x, mk.arange(0, 32) + WRONG)

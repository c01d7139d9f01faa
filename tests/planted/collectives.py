"""Loads out of bounds whose values are reduced, scanned or multiplied."""

from typing import Any

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted(
    "R0101", "a", lambda a, **_: {"out": a.sum(keepdims=True)}, a=numbers(60), out=zeros(1), N=60
)
@eas.kernel
def sum_of_a_load(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, 0, mk.sum(mk.load(a, i, mask=None if WRONG else i < N)))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a.max(1)}, a=numbers(8, 16), out=zeros(8))
@eas.kernel
def maximum_of_rows(a, out, WRONG: eas.constexpr):
    i, j = mk.arange(0, 8), mk.arange(0, 16)
    x = mk.load(a, i[:, None] * 16 + j[None, :] + WRONG)  # BUG
    mk.store(out, i, mk.max(x, axis=1))


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": np.array([a.argmin()], "i4")},
    a=numbers(60),
    out=zeros(1, dtype="i4"),
    N=60,
)
@eas.kernel
def place_of_the_minimum(a, out, N, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    x = mk.load(a, i, mask=i <= N if WRONG else i < N, other=1e9)  # BUG
    mk.store(out, 0, mk.argmin(x))


@planted("R0101", "a", lambda a, **_: {"out": np.cumsum(a)}, a=numbers(64), out=zeros(64))
@eas.kernel
def scan_of_a_load(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.cumsum(mk.load(a, i - WRONG)))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": np.cumsum(a)}, a=numbers(64), out=zeros(64))
@eas.kernel
def stored_scan(a, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i + WRONG, mk.cumsum(mk.load(a, i)))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a.sum(1)}, a=numbers(8, 16), out=zeros(8))
@eas.kernel
def stored_sums_of_rows(a, out, WRONG: eas.constexpr):
    i, j = mk.arange(0, 8), mk.arange(0, 16)
    x = mk.load(a, i[:, None] * 16 + j[None, :])
    mk.store(out, i + WRONG, mk.sum(x, axis=1))  # BUG


@planted("R0101", "a", lambda a, **_: {"out": a.sum(keepdims=True)}, a=numbers(64), out=zeros(1))
@eas.kernel
def reduction_by_a_function(a, out, WRONG: eas.constexpr):
    x = mk.load(a, mk.arange(0, 64) + WRONG)  # BUG
    mk.store(out, 0, mk.reduce(x, 0, lambda x, y: x + y))


def product(a, b, **_):
    return {"c": a @ b}


MATRICES: dict[str, Any] = {"a": numbers(16, 32) % 5, "b": numbers(32, 16) % 7, "c": zeros(16, 16)}


@planted("R0101", "a", product, **MATRICES)
@eas.kernel
def left_factor(a, b, c, WRONG: eas.constexpr):
    i, k = mk.arange(0, 16), mk.arange(0, 32)
    x = mk.load(a, (i[:, None] + WRONG) * 32 + k[None, :])  # BUG
    y = mk.load(b, k[:, None] * 16 + i[None, :])
    mk.store(c, i[:, None] * 16 + i[None, :], mk.dot(x, y))


@planted("R0101", "b", product, **MATRICES)
@eas.kernel
def right_factor_in_a_loop(a, b, c, WRONG: eas.constexpr):
    i, k = mk.arange(0, 16), mk.arange(0, 16)
    acc = mk.zeros((16, 16))
    for start in range(0, 32, 16):
        x = mk.load(a, i[:, None] * 32 + start + k[None, :])
        y = mk.load(b, (start + k[:, None]) * (16 + WRONG) + i[None, :])  # BUG
        acc = mk.dot(x, y, acc)
    mk.store(c, i[:, None] * 16 + i[None, :], acc)


@planted("R0102", "c", product, **MATRICES)
@eas.kernel
def stored_product(a, b, c, WRONG: eas.constexpr):
    i, k = mk.arange(0, 16), mk.arange(0, 32)
    x = mk.load(a, i[:, None] * 32 + k[None, :])
    y = mk.load(b, k[:, None] * 16 + i[None, :])
    mk.store(c, i[:, None] * (16 + WRONG) + i[None, :], mk.dot(x, y))  # BUG


@planted("R0101", "a", product, a=numbers(16, 24) % 5, b=numbers(24, 16) % 7, c=zeros(16, 16), K=24)
@eas.kernel
def depth_that_is_not_masked(a, b, c, K, WRONG: eas.constexpr):
    i, k = mk.arange(0, 16), mk.arange(0, 16)
    acc = mk.zeros((16, 16))
    for start in range(0, K, 16):
        inside = start + k < K
        offs = i[:, None] * K + start + k[None, :]
        x = mk.load(a, offs, mask=None if WRONG else inside[None, :])  # BUG
        y = mk.load(b, (start + k[:, None]) * 16 + i[None, :], mask=inside[:, None])
        acc = mk.dot(x, y, acc)
    mk.store(c, i[:, None] * 16 + i[None, :], acc)

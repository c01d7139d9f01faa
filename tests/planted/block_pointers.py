"""Tiles that reach over the edges of an array."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": np.pad(a, ((0, 1), (0, 2)))},
    a=numbers(7, 14),
    out=zeros(8, 16),
)
@eas.kernel
def load_without_a_boundary_check(a, out, WRONG: eas.constexpr):
    p = mk.make_block_ptr(a, (7, 14), (14, 1), (0, 0), (8, 16))
    q = mk.make_block_ptr(out, (8, 16), (16, 1), (0, 0), (8, 16))
    mk.store(q, mk.load(p, boundary_check=() if WRONG else (0, 1)))  # BUG


@planted("R0102", "out", lambda a, **_: {"out": a[:7, :14]}, a=numbers(8, 16), out=zeros(7, 14))
@eas.kernel
def store_without_a_boundary_check(a, out, WRONG: eas.constexpr):
    p = mk.make_block_ptr(a, (8, 16), (16, 1), (0, 0), (8, 16))
    q = mk.make_block_ptr(out, (7, 14), (14, 1), (0, 0), (8, 16))
    mk.store(q, mk.load(p), boundary_check=() if WRONG else (0, 1))  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": np.pad(a, ((0, 1), (0, 2)))},
    a=numbers(7, 14),
    out=zeros(8, 16),
)
@eas.kernel
def check_of_one_axis_only(a, out, WRONG: eas.constexpr):
    p = mk.make_block_ptr(a, (7, 14), (14, 1), (0, 0), (8, 16))
    q = mk.make_block_ptr(out, (8, 16), (16, 1), (0, 0), (8, 16))
    mk.store(q, mk.load(p, boundary_check=(1,) if WRONG else (0, 1)))  # BUG


@planted(
    "R0101",
    "a",
    lambda a, **_: {"out": a.reshape(8, 4, 8).sum(1)},
    a=numbers(8, 32),
    out=zeros(8, 8),
)
@eas.kernel
def advanced_too_far(a, out, WRONG: eas.constexpr):
    p = mk.make_block_ptr(a, (8, 32), (32, 1), (0, 0), (8, 8))
    s = mk.zeros((8, 8))
    for _ in range(4 + WRONG):
        s += mk.load(p)  # BUG
        p = mk.advance(p, (0, 8))
    mk.store(mk.make_block_ptr(out, (8, 8), (8, 1), (0, 0), (8, 8)), s)


@planted("R0101", "a", lambda a, **_: {"out": a}, a=numbers(16), out=zeros(16))
@eas.kernel
def begins_before_the_array(a, out, WRONG: eas.constexpr):
    p = mk.make_block_ptr(a, (16,), (1,), (0 - WRONG,), (16,))
    mk.store(out, mk.arange(0, 16), mk.load(p))  # BUG


@planted(
    "R0102",
    "out",
    lambda a, **_: {"out": a},
    a=numbers(6, 8),
    out=zeros(6, 8),
    bug={"ROWS": 8},
    twin={"ROWS": 6},
)
@eas.kernel
def shape_that_is_not_the_array_s(a, out, ROWS):
    p = mk.make_block_ptr(a, (6, 8), (8, 1), (0, 0), (8, 8))
    q = mk.make_block_ptr(out, (ROWS, 8), (8, 1), (0, 0), (8, 8))
    mk.store(q, mk.load(p, boundary_check=(0,)), boundary_check=(0,))  # BUG

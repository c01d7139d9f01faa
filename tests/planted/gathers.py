"""Indices that come from an array, one of them bad."""

import numpy as np

import eas
from eas import mk
from tests.planted.case import numbers, planted, zeros


def indices(bad=None, dtype="i4", size=64):
    """A permutation of 0 to `size` - 1, with one index replaced."""
    index = np.random.default_rng(0).permutation(size).astype(dtype)
    if bad is not None:
        index[size // 2 + 1] = bad
    return {"index": index}


def gathered(a, index, **_):
    return {"out": a[index]}


def scattered(a, index, **_):
    out = np.zeros_like(a)
    out[index] = a
    return {"out": out}


@planted("R0101", "a", gathered, bug=indices(64), twin=indices(), a=numbers(64), out=zeros(64))
@eas.kernel
def gather(a, index, out):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, mk.load(index, i)))  # BUG


@planted("R0101", "a", gathered, bug=indices(-1), twin=indices(), a=numbers(64), out=zeros(64))
@eas.kernel
def gather_of_a_negative_index(a, index, out):
    i = mk.arange(0, 64)
    j = mk.load(index, i)
    mk.store(out, i, mk.load(a, j, mask=j < 64))  # BUG


@planted("R0102", "out", scattered, bug=indices(64), twin=indices(), a=numbers(64), out=zeros(64))
@eas.kernel
def scatter(a, index, out):
    i = mk.arange(0, 64)
    mk.store(out, mk.load(index, i), mk.load(a, i))  # BUG


@planted(
    "R0102",
    "out",
    scattered,
    bug=indices(-7),
    twin=indices(),
    a=numbers(64),
    out=zeros(64),
    grid=(4,),
)
@eas.kernel
def scatter_by_several_programs(a, index, out):
    i = mk.program_id(0) * 16 + mk.arange(0, 16)
    mk.store(out, mk.load(index, i), mk.load(a, i))  # BUG


@planted(
    "R0101",
    "a",
    gathered,
    bug=indices(2**40, "i8"),
    twin=indices(dtype="i8"),
    a=numbers(64),
    out=zeros(64),
)
@eas.kernel
def gather_of_a_wild_index_of_64_bits(a, index, out):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, mk.load(index, i)))  # BUG


@planted(
    "R0101",
    "a",
    gathered,
    bug=indices(2**32, "i8"),
    twin=indices(dtype="i8"),
    a=numbers(64),
    out=zeros(64),
)
@eas.kernel
def gather_of_an_index_whose_low_half_is_inside(a, index, out):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, mk.load(index, i)))  # BUG


@planted(
    "R0101",
    "a",
    gathered,
    bug=indices(2**32 - 1, "u4"),
    twin=indices(dtype="u4"),
    a=numbers(64),
    out=zeros(64),
)
@eas.kernel
def gather_of_an_unsigned_index(a, index, out):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, mk.load(index, i)))  # BUG


@planted(
    "R0101",
    "a",
    gathered,
    bug=indices(-1, "i1"),
    twin=indices(dtype="i1"),
    a=numbers(64),
    out=zeros(64),
)
@eas.kernel
def gather_of_a_small_index(a, index, out):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(a, mk.load(index, i)))  # BUG


@planted(
    "R0101",
    "index",
    lambda a, index, **_: {"out": a[index[index]]},
    bug=indices(64),
    twin=indices(),
    a=numbers(128),
    out=zeros(64),
)
@eas.kernel
def gather_through_two_arrays(a, index, out):
    i = mk.arange(0, 64)
    j = mk.load(index, mk.load(index, i))  # BUG
    mk.store(out, i, mk.load(a, j))


@planted(
    "R0104",
    "a",
    gathered,
    bug=indices(8, size=8),
    twin=indices(size=8),
    a=numbers(8, 16),
    out=zeros(8, 16),
)
@eas.kernel
def gather_of_rows(a, index, out):
    i, j = mk.arange(0, 8), mk.arange(0, 16)[None, :]
    out[i[:, None], j] = a[index[i][:, None], j]  # BUG


@planted(
    "R0104",
    "out",
    scattered,
    bug=indices(8, size=8),
    twin=indices(size=8),
    a=numbers(8, 16),
    out=zeros(8, 16),
    grid=(8,),
)
@eas.kernel
def scatter_of_rows(a, index, out):
    i, j = mk.program_id(0), mk.arange(0, 16)
    out[index[i], j] = a[i, j]  # BUG


@planted(
    "R0101",
    "table",
    lambda a, table, **_: {"out": table[a]},
    a=(numbers(64) % 9).astype("u1"),
    table=numbers(9),
    out=zeros(64),
)
@eas.kernel
def table_that_is_too_short(a, table, out, WRONG: eas.constexpr):
    i = mk.arange(0, 64)
    mk.store(out, i, mk.load(table, mk.load(a, i).to(mk.i32) + WRONG))  # BUG


def sums_of_rows(a, starts, **_):
    return {"out": np.add.reduceat(a, starts[:-1])}


@planted(
    "R0101",
    "a",
    sums_of_rows,
    bug={"starts": np.array([0, 3, 11, 21], "i4")},
    twin={"starts": np.array([0, 3, 11, 20], "i4")},
    a=numbers(20),
    out=zeros(3),
    grid=(3,),
)
@eas.kernel
def rows_of_a_sparse_matrix(a, starts, out):
    row = mk.program_id(0)
    s = 0.0
    for i in range(mk.load(starts, row), mk.load(starts, row + 1)):
        s += mk.load(a, i)  # BUG
    mk.store(out, row, s)

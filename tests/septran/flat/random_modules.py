"""Random flat modules: well formed as records, with no regard to what they mean."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from eas.ir.types import DTYPES, F32, DType
from eas.septran.flat.affine import Affine, affine, maximum, minimum
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Binary,
    BinaryKind,
    Call,
    Cast,
    Column,
    Comparison,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Index,
    Iota,
    Kernel,
    Map,
    Mma,
    Module,
    Operand,
    Origin,
    ParallelFor,
    Param,
    Passed,
    Privilege,
    Reduce,
    ReduceKind,
    Select,
    Start,
    Stmt,
    Temp,
    Transposed,
    Unary,
    UnaryKind,
    View,
    Wait,
)
from eas.support.location import Loc, SourceName

names = st.sampled_from(["A", "b", "for", "min", "r", "f32", "inf", "two words", "é", "x1"])
dotted = st.sampled_from(["gemm", "dsa.mma", "a.b.c", "with space", "0digit"])
memories = st.sampled_from(["GLOBAL", "SPM"])
dtypes: st.SearchStrategy[DType] = st.sampled_from(list(DTYPES.values()))
numbers = st.one_of(
    st.integers(-300, 300), st.floats(allow_nan=False, width=32), st.just(float("-inf"))
)


def combine(inner: st.SearchStrategy[Affine]) -> st.SearchStrategy[Affine]:
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, n: a * n, inner, st.integers(-9, 9)),
        st.builds(lambda a, n: a // n, inner, st.integers(1, 9)),
        st.builds(lambda a, n: a % n, inner, st.integers(1, 9)),
        st.builds(minimum, inner, inner),
        st.builds(maximum, inner, inner),
    )


leaves: st.SearchStrategy[Affine] = st.one_of(
    st.integers(-40, 40).map(affine), st.sampled_from(["i", "k", "M", "min"]).map(affine)
)
affines = st.recursive(leaves, combine, max_leaves=4)


@st.composite
def views(draw: st.DrawFn) -> View:
    axes = draw(st.lists(st.tuples(affines, st.none() | affines), max_size=3))
    offsets, extents = tuple(o for o, _ in axes), tuple(e for _, e in axes)
    return View(draw(names), draw(memories), offsets, extents, draw(st.none() | affines))


constants = st.one_of(
    st.builds(Const, numbers, dtypes), st.builds(Const, st.booleans(), st.just(DTYPES["bool"]))
)
atoms: st.SearchStrategy[Expr] = st.one_of(
    st.builds(Operand, views()),
    st.builds(Column, views()),
    constants,
    st.builds(Index, affines),
    st.builds(Iota, st.integers(0, 3)),
)
exprs: st.SearchStrategy[Expr] = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(Unary, st.sampled_from(get_args(UnaryKind)), inner),
        st.builds(Binary, st.sampled_from(get_args(BinaryKind)), inner, inner),
        st.builds(Select, inner, inner, inner),
        st.builds(Cast, dtypes, inner),
    ),
    max_leaves=6,
)
spots = st.builds(
    lambda file, a, b, c, d: Loc(SourceName(file), a, b, c, d),
    st.sampled_from(["gemm.map.yaml", 'od"d.py', ""]),
    *[st.integers(0, 99)] * 4,
)
places = st.one_of(
    spots,
    st.builds(
        lambda inner, outer: Loc(
            inner.source, inner.line, inner.column, inner.end_line, inner.end_column, outer
        ),
        spots,
        spots,
    ),
)
origins = st.builds(
    Origin,
    st.sampled_from(["", "A is in SPM", 'a "quote" {']),
    st.none() | places,
    st.none() | places,
)
extents = st.lists(affines, max_size=3).map(tuple)
privileges = st.sampled_from(get_args(Privilege))
passed = st.builds(Passed, privileges, views())
simple: st.SearchStrategy[Stmt] = st.one_of(
    st.builds(
        Alloc,
        names,
        dtypes,
        st.lists(st.integers(0, 64), max_size=3).map(tuple),
        memories,
        st.integers(1, 4),
        st.integers(0, 8),
        st.booleans(),
        origins,
    ),
    st.builds(Copy, views(), views(), st.none() | numbers, origins),
    st.builds(Start, views(), views(), names, st.none() | numbers, origins),
    st.builds(Wait, names, affines, origins),
    st.builds(Barrier, names, memories, origins),
    st.builds(Fill, views(), numbers, origins),
    st.builds(Map, views(), exprs, origins),
    st.builds(
        Reduce, views(), st.sampled_from(get_args(ReduceKind)), views(), st.integers(0, 3), origins
    ),
    st.builds(
        Mma, views(), views(), views(), dotted, st.sampled_from(get_args(Transposed)), origins
    ),
    st.builds(
        Call,
        dotted,
        st.lists(st.one_of(passed, affines, constants), max_size=4).map(tuple),
        origins,
    ),
)


def nest(inner: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    body = st.lists(inner, max_size=3).map(tuple)
    comparisons = st.sampled_from(get_args(Comparison))
    reduced = st.lists(names, max_size=2).map(tuple)
    return st.one_of(
        st.builds(For, names, affines, body, st.integers(1, 4), origins),
        st.builds(ParallelFor, names, affines, names, body, reduced, origins),
        st.builds(If, affines, comparisons, affines, body, origins),
    )


stmts = st.recursive(simple, nest, max_leaves=8)
params = st.lists(st.builds(Param, names, dtypes, extents, memories, privileges), max_size=3).map(
    tuple
)
temps = st.lists(st.builds(Temp, names, st.just(F32), extents, memories), max_size=2).map(tuple)
kernels = st.builds(
    Kernel,
    names,
    params,
    st.lists(st.tuples(names, affines), max_size=2).map(tuple),
    st.integers(1, 1024),
    st.lists(stmts, max_size=5).map(tuple),
)
modules = st.builds(Module, names, dotted, params, temps, st.lists(kernels, max_size=3).map(tuple))

"""Reductions and scans beyond the table: few threads, long rows, moments, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from eas.ir.types import F32
from tests.backends import BACKENDS, TEXT_BACKENDS
from tests.ops.shapes import Shape, offsets
from tests.ops.table.family import Family
from tests.ops.table.reductions import REDUCED
from tests.ops.table.scans import COMBINED
from tests.thorough import on_backends, sampled

FAMILIES = (REDUCED, *COMBINED)
# Rows of simdgroups, rows in simdgroups, rows across them, with more of them than one has lanes.
LONG = ((4, 64), (70, 16), (5, 90), (5, 300), (2, 40, 33))

each_family = pytest.mark.parametrize("family", FAMILIES, ids=[f.name for f in FAMILIES])


@pytest.mark.parametrize("backend", TEXT_BACKENDS)
@pytest.mark.parametrize("threads", [1, 48])
@pytest.mark.parametrize("shape", [(33,), (5, 7)], ids=str)
@each_family
def test_threads_that_fill_no_simdgroup_share_the_work(
    family: Family, shape: Shape, threads: int, backend: Backend
) -> None:
    launch = replace(family.launch(F32, shape), threads=threads)
    launch.run(backend)
    assert list(launch.faults(backend)) == []


@pytest.mark.parametrize(
    ("family", "shape", "backend"),
    on_backends(BACKENDS, [(family, shape) for family in FAMILIES for shape in LONG]),
)
@sampled(3)
def test_rows_of_every_length_are_combined(family: Family, shape: Shape, backend: Backend) -> None:
    launch = family.launch(F32, shape)
    launch.run(backend)
    assert list(launch.faults(backend)) == []


def merge_moments(n, mean, m2, n_b, mean_b, m2_b):
    """Chan's formula: two parts of a variance."""
    total = n + n_b
    delta = mean_b - mean
    share = n_b / total
    return total, mean + delta * share, m2 + m2_b + delta * delta * n * share


@eas.kernel
def moments(x, mean, m2, AXIS: eas.constexpr, SHAPE: eas.constexpr):
    v = mk.load(x, offsets(SHAPE))
    to = offsets(SHAPE[:AXIS] + SHAPE[AXIS + 1 :])
    _, average, spread = mk.reduce((mk.full_like(v, 1.0), v, mk.zeros_like(v)), AXIS, merge_moments)
    mk.store(mean, to, average)
    mk.store(m2, to, spread)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("shape", "axis"), [((1,), 0), ((1100,), 0), ((5, 7), 0), ((5, 7), 1), ((3, 1, 4), 2)], ids=str
)
def test_moments_are_merged(shape: Shape, axis: int, backend: Backend) -> None:
    x = np.random.default_rng(0).integers(-2, 3, shape).astype(np.float32)
    rest = shape[:axis] + shape[axis + 1 :] or (1,)
    mean, m2 = np.zeros(rest, np.float32), np.zeros(rest, np.float32)
    moments[(1,)](x, mean, m2, AXIS=axis, SHAPE=shape, _backend=backend)
    np.testing.assert_allclose(mean, x.mean(axis).reshape(rest), atol=1e-6)
    spread = (x.var(axis) * shape[axis]).reshape(rest)
    np.testing.assert_allclose(m2, spread, rtol=1e-5, atol=1e-5)


@eas.kernel
def reduce_bools(x, out, FUNCTION: eas.constexpr):
    mk.store(out, 0, FUNCTION(mk.load(x, mk.arange(0, 4))))


@pytest.mark.parametrize("name", ["max", "argmin"])
def test_a_refused_reduction_is_named_as_it_was_written(name: str) -> None:
    with pytest.raises(eas.CompileError, match=f"`mk.{name}` takes numbers, not bool"):
        reduce_bools.to_ir("*bool", "*i32", FUNCTION=getattr(mk, name))

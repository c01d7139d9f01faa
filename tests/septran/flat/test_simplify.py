"""What sizes and loops decide is dropped, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from eas.septran.flat.interpret import run_module
from eas.septran.flat.parser import parse_module
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.simplify import simplify
from eas.septran.flat.substitution import bind_sizes
from tests.septran.modules import gemm, nothing, random


def test_whole_tiles_have_constant_extents() -> None:
    module = simplify(bind_sizes(gemm(2), {"M": 64, "N": 48, "K": 32}))
    assert "min" not in str(module)


def test_symbolic_sizes_stay_as_they_are() -> None:
    assert simplify(gemm(2)) == gemm(2)


@pytest.mark.parametrize("sizes", [(64, 48, 32), (37, 53, 29), (16, 24, 8)])
def test_the_result_is_the_same(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    module = bind_sizes(expand_pipelines(gemm(3)), {"M": m, "N": n, "K": k})
    a, b = random("f32", m, k), random("f32", k, n)
    found, expected = nothing("f32", m, n), nothing("f32", m, n)
    run_module(simplify(module), [found, a, b])
    run_module(module, [expected, a, b])
    np.testing.assert_array_equal(found, expected)


def test_conditions_that_are_decided_are_dropped() -> None:
    head = "module m(Y: f32 [8] GLOBAL w) machine c {\n"
    kernel = head + "kernel k(Y: f32 [8] GLOBAL w) grid [] threads 1 {\nfor i < 8 {\n"
    line = "fill Y.GLOBAL[i : 1] 0.0\n"
    text = (
        f"{kernel}if i < 8 {{\n{line}}}\nif i > 7 {{\n{line}}}\nif i < 7 {{\n{line}}}\n}}\n}}\n}}\n"
    )
    expected = f"{kernel}{line}if i < 7 {{\n{line}}}\n}}\n}}\n}}\n"
    assert simplify(parse_module(text)) == parse_module(expected)

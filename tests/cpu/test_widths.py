"""Kernels in vectors of all widths, not only of this machine's: their results against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.passes import relax
from eas.runtime.cpu import Executable, jit, llvm
from eas.support.cache import open_cache
from tests.kernels.case import Arguments
from tests.test_kernels import arrays_of, case_of, compare
from tests.thorough import sampled

KERNELS = (
    *("add", "collatz", "gather_i64", "histogram", "layernorm", "mandelbrot", "matmul_tiles"),
    *("odd_even_sort", "prefix_sum", "prime_factors", "reduce_3d", "gelu", "simd_reduce"),
    *("softmax", "top_k", "transpose"),
)


@pytest.fixture(params=(4, 8, 16))
def width(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Code for vectors of so many lanes, in a cache of its own; eight are of AVX2."""
    monkeypatch.setenv("EAS_CACHE_DIR", str(tmp_path))
    if request.param == 8 and jit.is_x86() and jit.vector_width() == 16:
        monkeypatch.setattr(llvm, "host_name", lambda: "x86-64-v3")
        monkeypatch.setattr(llvm, "host_features", lambda: "")
    monkeypatch.setattr(jit, "vector_width", lambda: request.param)
    return request.param


def launch(kernel: eas.Kernel, arguments: Arguments, grid: tuple[int, ...]) -> None:
    compiled = kernel.compile(**arguments)
    executable = Executable(relax(compiled.function), open_cache(suffix=".o"))
    assert executable.run(compiled.binding.bind(arguments), grid) == ()


@sampled(5)
@pytest.mark.parametrize("name", KERNELS)
def test_the_width_of_vectors_does_not_change_results(name: str, width: int) -> None:
    case = case_of(name)
    arguments = case.arguments()
    expected = arrays_of(case.arguments()) | case.reference(**case.arguments())
    grid = case.grid or (-(-arguments["N"] // arguments["BLOCK"]),)
    launch(case.kernel, arguments, grid)
    for array, result in arrays_of(arguments).items():
        compare(array, result, expected[array], case.tolerance)


@eas.kernel
def count_down(x, trips, total, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v, n, s = mk.load(x, i), 0, 0.0
    while v > 0:
        v -= 1
        n += 1
        s += v
    mk.store(trips, i, n)
    mk.store(total, i, s)


def test_lanes_keep_their_values_in_loops_of_many_trips(width: int) -> None:
    x = np.arange(0, 5000, 5, dtype="i4")
    trips, total = np.zeros(1000, "i4"), np.zeros(1000, "f4")
    launch(count_down, {"x": x, "trips": trips, "total": total, "BLOCK": 1000}, (1,))
    np.testing.assert_array_equal(trips, x)
    np.testing.assert_array_equal(total, x * (x - 1) // 2)

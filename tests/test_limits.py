"""Kernels that are too large are refused with a code, soon, and not by a crash."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk


def load(path: Path, text: str) -> Any:
    path.write_text("import eas\nfrom eas import mk\n" + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_of(error: pytest.ExceptionInfo[eas.CompileError]) -> str:
    return error.value.diagnostics[0].code


def test_a_chain_of_seven_hundred_elifs_is_refused(tmp_path: Path) -> None:
    cases = "".join(f"    elif n == {i}:\n        out[0] = {i}\n" for i in range(1, 700))
    body = "@eas.kernel\ndef choose(out, n):\n    if n == 0:\n        out[0] = 0\n" + cases
    module = load(tmp_path / "chain.py", body)
    with pytest.raises(eas.CompileError) as caught:
        module.choose.to_ir("*i32", "i32")
    assert code_of(caught) == "E0902"


@pytest.mark.parametrize("count", [900, 1000])
def test_a_sum_of_that_many_terms_is_refused(tmp_path: Path, count: int) -> None:
    total = " + ".join(["n"] * count)
    module = load(
        tmp_path / "long_sum.py", f"@eas.kernel\ndef add_up(out, n):\n    out[0] = {total}\n"
    )
    with pytest.raises(eas.CompileError) as caught:
        module.add_up.to_ir("*i32", "i32")
    assert code_of(caught) == "E0902"


@eas.kernel
def endless_static_range(out: Any) -> None:
    for i in mk.static_range(10**12):
        out[i] = 1


@eas.kernel
def nested_static_ranges(out: Any) -> None:
    for i in mk.static_range(4096):
        for j in mk.static_range(4096):
            out[i] = j


@eas.kernel
def endless_tuple(out: Any) -> None:
    out[0] = len((1,) * 10**9)


@pytest.mark.parametrize("kernel", [endless_static_range, nested_static_ranges, endless_tuple])
def test_what_is_too_long_to_be_written_out_is_refused(kernel: Any) -> None:
    with pytest.raises(eas.CompileError) as caught:
        kernel.to_ir("*i32")
    assert code_of(caught) == "E0703"


@eas.kernel
def wrapping_constant(out: Any, C: eas.constexpr) -> None:
    out[0] = C + 1


def test_numpy_constants_wrap_without_a_warning() -> None:
    out = np.zeros(1, np.int8)
    wrapping_constant[1](out, C=np.int8(127))
    assert out[0] == -128


@eas.kernel
def scale_f64(a: Any) -> None:
    a[0] = a[0] * 2.0


def test_what_metal_lacks_is_an_error_with_a_place() -> None:
    with pytest.raises(eas.CompileError) as caught:
        scale_f64.to_msl("*f64[:]")
    assert code_of(caught) == "E1001"
    assert caught.value.lineno is not None


@eas.kernel
def nothing(out: Any) -> None:
    out[0] = 0


def test_a_grid_that_is_given_twice_is_refused() -> None:
    with pytest.raises(eas.LaunchError, match="the grid is given twice"):
        nothing[1](np.zeros(1, np.int32), _grid=2)


def test_an_error_of_a_grid_function_names_the_kernel() -> None:
    def grid(meta: dict[str, int]) -> int:
        return meta["BLOCK"]

    with pytest.raises(eas.LaunchError, match=r"nothing.*raised KeyError: 'BLOCK'"):
        nothing[grid](np.zeros(1, np.int32))

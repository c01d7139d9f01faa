"""A value in registers is as large as what is used of its buffer, and results stay right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from eas.septran.flat.parser import parse_module
from eas.septran.operators import Operator, load
from eas.septran.targets.register_tiles import register_shapes
from tests.septran.operators import FOLDER, Case, attention, error_of, gemm

GEMM = FOLDER / "gemm"
ATTENTION = FOLDER / "flash_attention"


def load_gemm(machine: str = "cpu") -> Operator:
    return load(GEMM / "gemm_logic.py", GEMM / f"gemm.{machine}.map.yaml")


def load_attention(machine: str = "cpu") -> Operator:
    return load(ATTENTION / "flash_attention_logic.py", ATTENTION / f"{machine}.map.yaml")


def shapes(operator: Operator, **sizes: Any) -> dict[str, list[int]]:
    """The shapes of the blocks of a kernel by the names of their buffers."""
    [(_, kernel)] = operator._compiled(operator.build_flat(**sizes))  # pyright: ignore[reportPrivateUsage]
    found = re.findall(r"%([A-Za-z_]\w*)\.\d+: f32\[([\d, ]+)\]", kernel.ir)
    return {name: [int(extent) for extent in shape.split(",")] for name, shape in found}


@pytest.mark.parametrize(
    ("m", "n", "tile"),
    [(16, 16, [16, 16]), (5, 40, [8, 64]), (1, 256, [8, 256]), (131, 300, [128, 256])],
)
def test_a_sum_in_registers_is_no_larger_than_its_array(m: int, n: int, tile: list[int]) -> None:
    assert shapes(load_gemm(), M=m, N=n, K=64)["C_register"] == tile


def test_axes_that_meet_have_one_extent() -> None:
    found = shapes(load_attention(), H=2, M=1, N=300, D=64)
    assert (found["S"], found["P"], found["O_register"]) == ([8, 128], [8, 128], [8, 64])
    assert found["m"] == found["l"] == found["total"] == [8]


@pytest.mark.parametrize("machine", ["cpu", "apple_gpu"])
@pytest.mark.parametrize(
    ("make", "case"),
    [
        pytest.param(load_gemm, gemm((3, 70, 5), "f4"), id="gemm"),
        pytest.param(load_attention, attention((2, 1, 70, 16), "f4"), id="attention"),
        pytest.param(load_attention, attention((1, 40, 3, 8), "f4"), id="few keys"),
    ],
)
def test_small_arrays_give_what_numpy_does(
    make: Callable[[str], Operator], case: Case, machine: str
) -> None:
    arguments, expected = case
    make(machine)(*arguments)
    assert error_of(arguments[0], expected) < 2e-5


FLAT = """
module add(C: f32 [16] GLOBAL w) machine cpu {
  kernel add(C: f32 [16] GLOBAL w) grid [i < 1] threads 1 {
    alloc a: f32 [128] REGISTER slots 1 pad 0
    alloc b: f32 [128] REGISTER slots 1 pad 0
    alloc c: f32 [128] REGISTER slots 1 pad 0
    fill a.REGISTER[0 : 128] 1.0
    fill b.REGISTER[0 : 16] 2.0
    fill c.REGISTER[0 : 16] 3.0
    map b.REGISTER[0 : 16] = a.REGISTER[0 : 16] + b.REGISTER[0 : 16]
    copy C.GLOBAL[0 : 16] <- b.REGISTER[0 : 16]
  }
}
"""


def test_a_value_is_as_large_as_those_that_it_meets() -> None:
    [kernel] = parse_module(FLAT).kernels
    expected = {"a": (128,), "b": (128,), "c": (16,)}
    assert register_shapes(kernel, frozenset({"REGISTER"})) == expected

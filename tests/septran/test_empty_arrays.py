"""Arrays without elements: the result is that of NumPy, on every machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas.septran.logic.loading import load_logic
from eas.septran.operators import load
from tests.septran.operators import EXAMPLES, FOLDER, Example, skip_unless_it_runs
from tests.septran.small import codes, host, make, on_every_machine, refusal
from tests.thorough import sampled

RUNS = ("cpu", "apple_gpu", "c")
SIZES = {
    "gemm": ((0, 5, 7), (4, 0, 7), (4, 5, 0), (0, 0, 0), (4, 0, 0)),
    "batched_gemm": ((0, 4, 5, 7), (2, 0, 5, 7), (2, 4, 0, 7), (2, 4, 5, 0)),
    "softmax": ((0, 5),),
    "layernorm": ((0, 5),),
    "conv2d": ((0, 4, 5, 3, 3, 3, 2), (1, 4, 0, 3, 3, 3, 2), (1, 4, 5, 3, 3, 3, 0)),
    "flash_attention": ((0, 5, 5, 8), (2, 0, 5, 8)),
}
CASES = [
    pytest.param(example, mapping, sizes, id=f"{mapping.name}-{sizes}")
    for example in EXAMPLES
    for mapping in example.mappings
    if "arm_sme" not in mapping.name and load(example.logic_file, mapping).target in RUNS
    for sizes in SIZES[example.name]
]


@sampled(5)
@pytest.mark.parametrize(("example", "mapping", "sizes"), CASES)
def test_an_operator_takes_empty_arrays(
    example: Example, mapping: Path, sizes: tuple[int, ...]
) -> None:
    arrays, expected = example.make(sizes, "f4")
    operator = load(example.logic_file, mapping)
    skip_unless_it_runs(operator)
    operator(*arrays)
    assert arrays[0].shape == expected.shape
    assert np.allclose(arrays[0], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("sizes", SIZES["gemm"])
def test_a_task_takes_empty_arrays_at_once(sizes: tuple[int, ...]) -> None:
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    arrays, expected = gemm.make(sizes, "f4")
    load_logic(gemm.logic_file).tasks["gemm_host_logic"](*arrays)
    assert np.array_equal(arrays[0], expected)


ROWS = """
@task.define(leaf=True)
def leaf(Y, X):
    {statement}


@task.define(shapes="Y[M] X[M,N]")
def main(Y, X):
    task.launch(leaf, Y, X)
"""


@on_every_machine
@pytest.mark.parametrize(
    "statement", ["Y[...] = mk.sum(X, axis=1)", 'task.call_primitive("row_sum", Y, X)']
)
def test_the_sum_of_no_elements_is_zero(statement: str, machine: str, tmp_path: Path) -> None:
    y = np.full(3, np.nan, "f4")
    make(tmp_path, ROWS.format(statement=statement), host(machine))(y, np.zeros((3, 0), "f4"))
    assert (y == 0).all()


@on_every_machine
@pytest.mark.parametrize(
    "statement", ["Y[...] = mk.max(X, axis=1)", 'task.call_primitive("row_max", Y, X)']
)
def test_the_maximum_of_no_elements_is_refused(
    statement: str, machine: str, tmp_path: Path
) -> None:
    operator = make(tmp_path, ROWS.format(statement=statement), host(machine))
    error = refusal(operator, np.zeros(3, "f4"), np.zeros((3, 0), "f4"))
    assert codes(error) == ["S804"]
    assert "of no elements has no value" in str(error)


def test_softmax_of_rows_without_elements_is_refused_as_in_numpy() -> None:
    operator = load(FOLDER / "softmax/softmax_logic.py", FOLDER / "softmax/softmax.cpu.map.yaml")
    error = refusal(operator, np.zeros((3, 0), "f4"), np.zeros((3, 0), "f4"))
    assert codes(error) == ["S804"]

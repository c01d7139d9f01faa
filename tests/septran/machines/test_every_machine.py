"""Machines that ship are checked, printed and explained; a first mapping for them is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from eas.septran.files import load_machine
from eas.septran.files.writing import to_yaml
from eas.septran.logic.loading import load_logic
from eas.septran.lowering.skeleton import make_skeleton
from eas.septran.operators import load
from tests.septran.operators import EXAMPLES, Example, error_of, skip_unless_it_runs
from tests.thorough import sampled

TEXTS = {"openblas": "c", "gemmini": "c", "opencl": "opencl", "arm_sme": "c"}
every_machine = pytest.mark.parametrize("machine", TEXTS)
every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)


@sampled(5)
@pytest.mark.parametrize(
    "machine",
    [
        each if each != "arm_sme" else pytest.param(each, marks=pytest.mark.thorough)
        for each in TEXTS
    ],
)
@every_example
def test_a_first_mapping_is_legal_and_right(example: Example, machine: str, tmp_path: Path) -> None:
    mapping = tmp_path / "first.map.yaml"
    tasks = load_logic(example.logic_file).tasks
    mapping.write_text(to_yaml(make_skeleton(tasks, load_machine(machine))), "utf-8")
    operator = load(example.logic_file, mapping)
    skip_unless_it_runs(operator)
    arrays, expected = example.make(example.sizes[0], "f4")
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


@every_machine
def test_an_operator_is_checked_printed_and_explained(machine: str) -> None:
    [gemm] = [example for example in EXAMPLES if example.name == "gemm"]
    [mapping] = [each for each in gemm.mappings if f".{machine}." in each.name]
    operator = load(gemm.logic_file, mapping)
    operator.check(M=100, N=96, K=64)
    assert f"gemm_host_logic for {machine}" in operator.emit(TEXTS[machine], M=100, N=96, K=64)
    assert f"on {machine}" in str(operator.explain(M=100, N=96, K=64))

"""f64: it keeps its digits on machines that have it, and is refused by those that do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas import septran
from tests.septran.operators import EXAMPLES, FOLDER, error_of
from tests.septran.small import codes, refusal

BY_NAME = {each.name: each for each in EXAMPLES}


def mapping(name: str, machine: str) -> Path:
    return FOLDER / name / f"{name}.{machine}.map.yaml"


SMALLER = "task_mappings: {gemm_block: {tunables: {block_k: 16}}}\n"  # tiles of f64 are large


@pytest.mark.parametrize("name", ["gemm", "softmax"])
def test_sums_of_f64_are_f64_on_the_cpu(name: str, tmp_path: Path) -> None:
    example = BY_NAME[name]
    arrays, expected = example.make(example.sizes[0], "f8")
    overlay = tmp_path / "smaller.map.yaml"
    overlay.write_text(SMALLER)
    overlays = [overlay] if name == "gemm" else []
    septran.load(example.logic_file, [mapping(name, "cpu"), *overlays])(*arrays)
    assert error_of(arrays[0], expected) <= 1e-14


def test_metal_refuses_f64_with_a_code_of_septran() -> None:
    example = BY_NAME["softmax"]
    operator = septran.load(example.logic_file, mapping("softmax", "apple_gpu"))
    error = refusal(operator, np.zeros((4, 4)), np.zeros((4, 4)))
    assert codes(error) == ["S701"]
    assert "Metal has no f64" in str(error)

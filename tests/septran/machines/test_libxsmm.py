"""LIBXSMM as a machine of a test's folder: a real library, opt-in, where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from eas.septran.operators import load
from eas.septran.targets.build import Program
from eas.septran.targets.needs import missing
from tests.septran.operators import EXAMPLES, Sizes, error_of

FOLDER = Path(__file__).parent / "libxsmm"
EXAMPLE = {example.name: example for example in EXAMPLES}
MAPPINGS = {"gemm": "gemm.map.yaml", "flash_attention": "flash_attention.map.yaml"}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("gemm", (131, 95, 200)),
        ("gemm", (256, 256, 256)),
        ("flash_attention", (2, 37, 53, 16)),
    ],
)
def test_operators_move_to_it_by_a_mapping(name: str, sizes: Sizes) -> None:
    operator = load(EXAMPLE[name].logic_file, FOLDER / MAPPINGS[name])
    if missing(operator.library):
        pytest.skip("LIBXSMM is not installed")
    arrays, expected = EXAMPLE[name].make(sizes, "f4")
    program = Program(operator.flat(*arrays), operator.library)
    program(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5
    assert program.call_counts()["libxsmm_sgemm"] > 0


def test_a_mapping_for_it_is_checked_where_it_is_not_installed() -> None:
    operator = load(EXAMPLE["gemm"].logic_file, FOLDER / MAPPINGS["gemm"])
    operator.check(M=256, N=256, K=256)
    assert "libxsmm_product(" in operator.emit("c", M=256, N=256, K=256)

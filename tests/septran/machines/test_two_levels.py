"""A machine of two levels, with other names than those that ship: everything is in `kestrel`."""

from __future__ import annotations

from pathlib import Path

import pytest

from eas.septran.flat.nodes import Alloc, walk
from eas.septran.operators import Operator, load
from eas.septran.targets.build import Program
from tests.septran.machines.moved import EXAMPLE, at_odd_sizes, is_right
from tests.septran.operators import Sizes
from tests.thorough import thorough

FOLDER = Path(__file__).parent / "kestrel"


def kestrel(name: str) -> Operator:
    return load(EXAMPLE[name].logic_file, FOLDER / f"{name}.map.yaml")


@at_odd_sizes
@pytest.mark.parametrize("dtype", ["f4", pytest.param("f2", marks=thorough)])
def test_an_operator_moves_to_it_by_one_mapping(name: str, sizes: Sizes, dtype: str) -> None:
    assert is_right(kestrel(name), name, sizes, dtype)


def test_each_level_has_its_own_copies() -> None:
    """Tiles of A and B are fetched once for each cluster and step, and pushed to its engine."""
    arrays, _ = EXAMPLE["gemm"].make((64, 64, 96), "f4")
    operator = kestrel("gemm")
    program = Program(operator.flat(*arrays), operator.library)
    program(*arrays)
    counts, clusters, steps = program.call_counts(), 2 * 2, 3
    assert counts["KST_Fetch"] == clusters * (2 * steps + 1)  # and the result once
    assert counts["KST_Push"] == clusters * (2 * steps + 2)  # and the sums, there and back
    assert counts["KST_Multiply"] == clusters * steps
    assert counts["blocks"] == 64 // 4 * (64 // 16) * (96 // 8)


def test_intermediate_results_lie_in_the_nearest_memory() -> None:
    [kernel] = kestrel("softmax").flat(M=16, N=32).kernels
    places = {stmt.name: stmt.memory for stmt in walk(kernel.body) if isinstance(stmt, Alloc)}
    assert set(places) > {"X_l2", "X_vmem", "total", "reduced"}
    assert {places["total"], places["reduced"]} == {"VMEM"}

"""Which primitive computes a leaf: the binding of its own instance, or of one that calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eas.septran.flat.nodes import Mma, walk
from eas.septran.operators import load
from tests.septran.operators import FOLDER

MAPPING = """\
machine: awesomedsa
entrypoint: host
task_mappings:
  host:
    task_name: gemm_host_logic
    proc: HOST
    tunables: {{block_m: 16, block_n: 16}}
    calls: {{gemm_block_logic: block}}
{host}
  block:
    task_name: gemm_block_logic
    proc: CORE
    tunables: {{block_k: 8}}
    calls: {{gemm_leaf_logic: leaf}}
{block}
  leaf:
    task_name: gemm_leaf_logic
    proc: CORE
{leaf}
"""
MMA = "    leaf_task_bindings: {gemm_leaf_logic: gemm_leaf_mma}"
SYSTOLIC = "    leaf_task_bindings: {gemm_leaf_logic: gemm_leaf_systolic}"


@pytest.mark.parametrize(
    ("host", "block", "leaf", "primitive"),
    [
        ("", "", "", "gemm_leaf_mma"),
        (SYSTOLIC, "", "", "gemm_leaf_systolic"),
        ("", SYSTOLIC, "", "gemm_leaf_systolic"),
        ("", "", SYSTOLIC, "gemm_leaf_systolic"),
        (SYSTOLIC, MMA, "", "gemm_leaf_mma"),
        (MMA, "", SYSTOLIC, "gemm_leaf_systolic"),
    ],
)
def test_the_innermost_binding_is_taken(
    host: str, block: str, leaf: str, primitive: str, tmp_path: Path
) -> None:
    mapping = tmp_path / "bound.map.yaml"
    mapping.write_text(MAPPING.format(host=host, block=block, leaf=leaf), "utf-8")
    [kernel] = load(FOLDER / "gemm/gemm_logic.py", mapping).flat(M=32, N=32, K=32).kernels
    [product] = [stmt for stmt in walk(kernel.body) if isinstance(stmt, Mma)]
    assert product.primitive == primitive
    place = product.origin.yaml
    assert place is not None
    bound = "leaf_task_bindings" in "".join((host, block, leaf))
    line = mapping.read_text("utf-8").splitlines()[place.line - 1]
    assert (primitive in line) == bound

"""Mappings that add the same products in the same order have equal bits, not only near results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas.septran.operators import load
from tests.septran.operators import EXAMPLES, Array

[GEMM] = [example for example in EXAMPLES if example.name == "gemm"]
MAPPING = """\
machine: {machine}
entrypoint: gemm_host
task_mappings:
  gemm_host:
    task_name: gemm_host_logic
    proc: HOST
    tunables: {{block_m: {m}, block_n: {n}}}
    calls: {{gemm_block_logic: gemm_block}}
  gemm_block:
    task_name: gemm_block_logic
    proc: {proc}
    mems: {mems}
    tunables: {{block_k: 8}}
    pipeline: {stages}
"""
# Tiles of C, memories and stages; the sum over K is cut into the same pieces of 8.
VARIANTS = {
    "cpu": ("BLOCK", ["{C: REGISTER, A: SHARED, B: SHARED}", "{C: SHARED, A: SHARED, B: SHARED}"]),
    "apple_gpu": ("BLOCK", ["{C: REGISTER, A: SHARED, B: SHARED}", "{C: REGISTER, A: SHARED}"]),
    "awesomedsa": ("CORE", ["{C: ACC, A: SPM, B: SPM}", "{C: SPM, A: ACC, B: SPM}"]),
}


@pytest.mark.parametrize("machine", VARIANTS)
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_tiles_memories_and_stages_change_no_bit(machine: str, dtype: str, tmp_path: Path) -> None:
    proc, memories = VARIANTS[machine]
    results: list[Array] = []
    for mems in memories:
        for m, n, stages in ((16, 16, 1), (16, 16, 2), (8, 24, 3)):
            path = tmp_path / "gemm.map.yaml"
            text = MAPPING.format(machine=machine, proc=proc, mems=mems, m=m, n=n, stages=stages)
            path.write_text(text, "utf-8")
            arrays, _ = GEMM.make((37, 45, 29), dtype)
            load(GEMM.logic_file, path)(*arrays)
            results.append(arrays[0])
    # A sum of f16 is rounded in each step unless it is in registers: memories are compared in f32.
    groups = [results] if dtype == "f4" else [results[:3], results[3:]]
    for group in groups:
        assert all(np.array_equal(each, group[0]) for each in group)

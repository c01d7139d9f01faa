"""Mappings that add the same products in the same order have equal bits, not only near results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas.septran.operators import load
from tests.septran.operators import EXAMPLES, Array
from tests.thorough import sampled, thorough

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


@sampled(3)
@pytest.mark.parametrize("machine", VARIANTS)
@pytest.mark.parametrize("dtype", ["f4", pytest.param("f2", marks=thorough)])
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


BATCHED = """\
machine: {machine}
entrypoint: host
task_mappings:
  host:
    task_name: batched_gemm
    proc: HOST
    tunables: {{block_m: {m}, block_n: {n}}}
    calls: {{gemm_block: block}}
  block:
    task_name: gemm_block
    proc: {proc}
    mems: {mems}
    tunables: {{block_k: 8}}
    pipeline: {stages}
"""
ROWS = """\
machine: {machine}
entrypoint: layernorm
task_mappings:
  layernorm:
    task_name: layernorm
    proc: HOST
    tunables: {{rows: {rows}}}
    calls: {{layernorm_block: block}}
  block:
    task_name: layernorm_block
    proc: {proc}
    mems: {mems}
"""
PLACES = {
    "cpu": ["{Y: NONE}", "{Y: REGISTER, X: SHARED}", "{X: REGISTER, weight: SHARED}"],
    "apple_gpu": ["{Y: NONE}", "{Y: REGISTER, X: SHARED}", "{X: REGISTER, weight: SHARED}"],
    "awesomedsa": ["{Y: NONE}", "{Y: SPM, X: ACC}", "{X: SPM, weight: SPM, bias: ACC}"],
}


def results_of(name: str, texts: list[str], folder: Path, dtype: str = "f4") -> list[Array]:
    """What mappings of an operator make of the same arrays."""
    [example] = [each for each in EXAMPLES if each.name == name]
    results: list[Array] = []
    for text in texts:
        path = folder / "equal.map.yaml"
        path.write_text(text, "utf-8")
        arrays, _ = example.make(example.sizes[0], dtype)
        load(example.logic_file, path)(*arrays)
        results.append(arrays[0])
    return results


@sampled(3)
@pytest.mark.parametrize("machine", VARIANTS)
def test_an_epilogue_has_the_same_bits_in_every_memory(machine: str, tmp_path: Path) -> None:
    proc, memories = VARIANTS[machine]
    texts = [
        BATCHED.format(machine=machine, proc=proc, mems=mems, m=m, n=n, stages=stages)
        for mems in memories
        for m, n, stages in ((16, 16, 1), (8, 24, 3))
    ]
    first, *others = results_of("batched_gemm", texts, tmp_path)
    assert all(np.array_equal(each, first) for each in others)


@sampled(3)
@pytest.mark.parametrize("machine", PLACES)
def test_rows_have_the_same_bits_in_every_memory(machine: str, tmp_path: Path) -> None:
    proc = VARIANTS[machine][0]
    texts = [ROWS.format(machine=machine, proc=proc, mems=mems, rows=4) for mems in PLACES[machine]]
    first, *others = results_of("layernorm", texts, tmp_path)
    assert all(np.array_equal(each, first) for each in others)


CONVOLUTION = """\
machine: {machine}
entrypoint: host
task_mappings:
  host:
    task_name: conv2d
    proc: HOST
    tunables: {{rows: {rows}, columns: {columns}, outputs: 16}}
    calls: {{conv2d_block: block}}
  block: {{task_name: conv2d_block, proc: {proc}, mems: {outer}, calls: {{conv2d_row: row}}}}
  row:
    task_name: conv2d_row
    proc: {proc}
    mems: {inner}
    tunables: {{channels: 8}}
    calls: {{conv2d_taps: taps}}
  taps: {{task_name: conv2d_taps, proc: {proc}}}
"""
HALOS = {
    "cpu": [("{}", "{Y: REGISTER}"), ("{X: SHARED}", "{Y: SHARED, W: SHARED}")],
    "apple_gpu": [("{}", "{Y: REGISTER, X: SHARED}"), ("{X: SHARED}", "{Y: REGISTER, W: SHARED}")],
    "awesomedsa": [("{}", "{Y: ACC, X: SPM}"), ("{X: SPM}", "{Y: SPM, W: ACC}")],
}


@sampled(3)
@pytest.mark.parametrize("machine", HALOS)
def test_halos_change_no_bit(machine: str, tmp_path: Path) -> None:
    texts = [
        CONVOLUTION.format(
            machine=machine, proc=VARIANTS[machine][0], outer=outer, inner=inner, rows=m, columns=n
        )
        for outer, inner in HALOS[machine]
        for m, n in ((2, 8), (3, 16))
    ]
    first, *others = results_of("conv2d", texts, tmp_path)
    assert all(np.array_equal(each, first) for each in others)

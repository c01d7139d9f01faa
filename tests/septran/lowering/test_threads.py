"""`threads` of an instance: the threads of a program, or an error where there are no such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas.septran.operators import Operator, load
from tests.septran.operators import FOLDER, error_of, gemm

GEMM = FOLDER / "gemm"
SIZES: dict[str, Any] = {"M": 64, "N": 64, "K": 64}


def gemm_with(folder: Path, machine: str, overlay: str) -> Operator:
    file = folder / "threads.map.yaml"
    file.write_text(f"task_mappings:\n  {overlay}\n", "utf-8")
    return load(GEMM / "gemm_logic.py", [GEMM / f"gemm.{machine}.map.yaml", file])


def codes_of(operator: Operator) -> list[tuple[str, str]]:
    with pytest.raises(eas.CompileError) as caught:
        operator.flat(**SIZES)
    return [(each.code, each.message) for each in caught.value.diagnostics]


@pytest.mark.parametrize("threads", [32, 64, 96, 256, 1024])
def test_a_program_has_the_threads_of_its_block(threads: int, tmp_path: Path) -> None:
    operator = gemm_with(tmp_path, "apple_gpu", f"gemm_block: {{threads: {threads}}}")
    [kernel] = operator.flat(**SIZES).kernels
    assert kernel.threads == threads
    text = operator.emit("metal", **SIZES)
    assert f" · {threads} threads per program" in text
    assert f"{threads} threads" in str(operator.explain(**SIZES))
    arrays, expected = gemm((37, 45, 29), "f4")
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


def test_without_a_number_a_program_has_the_machines_threads() -> None:
    operator = load(GEMM / "gemm_logic.py", GEMM / "gemm.apple_gpu.map.yaml")
    assert " · 128 threads per program" in operator.emit("metal", **SIZES)


def test_the_texts_of_gpus_have_the_threads(tmp_path: Path) -> None:
    operator = gemm_with(tmp_path, "h100", "gemm_block: {threads: 384}")
    assert "threads=384" in operator.emit("tilelang", M=256, N=256, K=256)


def test_one_thread_needs_no_barrier(tmp_path: Path) -> None:
    operator = gemm_with(tmp_path, "apple_gpu", "gemm_block: {threads: 1, pipeline: 1}")
    assert "threadgroup_barrier" not in operator.emit("metal", **SIZES)
    c = np.full((37, 45), np.nan, np.float32)
    a, b = np.ones((37, 29), np.float32), np.ones((29, 45), np.float32)
    operator(c, a, b)
    assert (c == 29).all()


@pytest.mark.parametrize(
    ("machine", "overlay", "message"),
    [
        (
            "apple_gpu",
            "gemm_block: {threads: 1025}",
            "`gemm_block` asks for 1025 threads, and BLOCK has up to 1024",
        ),
        (
            "apple_gpu",
            "gemm_host: {threads: 2}",
            "`gemm_host` asks for 2 threads, and HOST has 1",
        ),
        ("cpu", "gemm_block: {threads: 2}", "`gemm_block` asks for 2 threads, and BLOCK has 1"),
        (
            "awesomedsa",
            "gemm_block: {threads: 4}",
            "`gemm_block` asks for 4 threads, and CORE has 1",
        ),
        (
            "apple_gpu",
            "gemm_block: {threads: 64, calls: {gemm_leaf_logic: leaf}}\n"
            "  leaf: {task_name: gemm_leaf_logic, proc: BLOCK, threads: 32}",
            "`leaf` asks for 32 threads, in a program of 64",
        ),
        (
            "apple_gpu",
            "gemm_block: {calls: {gemm_leaf_logic: leaf}}\n"
            "  leaf: {task_name: gemm_leaf_logic, proc: SIMDGROUP, threads: 16}",
            "`leaf` asks for 16 threads, and SIMDGROUP has 32",
        ),
    ],
)
def test_threads_that_a_processor_does_not_have_are_refused(
    machine: str, overlay: str, message: str, tmp_path: Path
) -> None:
    assert codes_of(gemm_with(tmp_path, machine, overlay)) == [("S402", message)]


def test_two_leaves_of_a_program_agree_on_its_threads(tmp_path: Path) -> None:
    overlay = (
        "gemm_block: {calls: {gemm_leaf_logic: multiply, zero_leaf: clear}}\n"
        "  multiply: {task_name: gemm_leaf_logic, proc: BLOCK, threads: 64}\n"
        "  clear: {task_name: zero_leaf, proc: BLOCK, threads: 32}"
    )
    message = "a program of 32 threads has a part that asks for 64"
    assert codes_of(gemm_with(tmp_path, "apple_gpu", overlay)) == [("S402", message)]

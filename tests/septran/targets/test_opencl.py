"""OpenCL C: rows over work-items, started copies with events, and what is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import eas
from eas.septran.operators import load
from eas.septran.targets import opencl_device, opencl_run
from tests.septran.operators import EXAMPLES, FOLDER, attention, error_of, skip_unless_it_runs
from tests.septran.small import codes, make, refusal
from tests.thorough import thorough

EXAMPLE = {example.name: example for example in EXAMPLES}
GEMM = FOLDER / "gemm" / "gemm.opencl.map.yaml"
FLASH = FOLDER / "flash_attention" / "opencl.map.yaml"
CONV2D = FOLDER / "conv2d" / "conv2d.opencl.map.yaml"  # whose tiles have three axes


@pytest.mark.parametrize("stages", [2, *(pytest.param(n, marks=thorough) for n in (1, 3))])
@pytest.mark.parametrize(
    ("name", "mapping", "case"),
    [("gemm", GEMM, 0), ("flash_attention", FLASH, 0), ("conv2d", CONV2D, 2)],
)
def test_any_number_of_stages_gives_the_same(
    name: str, mapping: Path, case: int, stages: int, tmp_path: Path
) -> None:
    text = re.sub(r"pipeline: \d", f"pipeline: {stages}", mapping.read_text("utf-8"))
    (tmp_path / mapping.name).write_text(text, "utf-8")
    example = EXAMPLE[name]
    operator = load(example.logic_file, tmp_path / mapping.name)
    skip_unless_it_runs(operator)
    arrays, expected = example.make(example.sizes[case], "f4")
    text = operator.emit("opencl", *arrays)
    assert ("async_work_group_copy" in text) == (stages > 1)
    assert ("wait_group_events" in text) == (stages > 1)
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


def test_a_copy_is_started_only_after_all_have_read_what_it_overwrites() -> None:
    text = load(EXAMPLE["gemm"].logic_file, GEMM).emit("opencl", M=128, N=64, K=64)
    loop = text[text.index("for (int64_t p = 0") :]
    first = loop.index("barrier(")
    second = loop.index("barrier(", first + 1)
    assert first < loop.index("async_work_group_copy") < second < loop.index("total +=")
    assert loop.index("while (p_copies_started") < second


AHEAD_OF_SHARED = """\
machine: opencl
entrypoint: host
task_mappings:
  host:
    task_name: conv2d
    proc: HOST
    tunables: {rows: 48, columns: 3, outputs: 32}
    calls: {conv2d_block: block}
  block:
    task_name: conv2d_block
    proc: BLOCK
    mems: {Y: SHARED, X: SHARED}
    threads: 32
    pipeline: 3
    calls: {conv2d_row: row}
  row:
    task_name: conv2d_row
    proc: BLOCK
    tunables: {channels: 3}
    mems: {X: REGISTER}
    calls: {conv2d_taps: taps}
  taps: {task_name: conv2d_taps, proc: BLOCK, calls: {product_leaf: product}}
  product: {task_name: product_leaf, proc: BLOCK, mems: {X: SHARED}}
"""


def test_copies_that_run_ahead_wait_for_what_other_work_items_have_written(tmp_path: Path) -> None:
    (tmp_path / "ahead.map.yaml").write_text(AHEAD_OF_SHARED, "utf-8")
    example = EXAMPLE["conv2d"]
    operator = load(example.logic_file, tmp_path / "ahead.map.yaml")
    skip_unless_it_runs(operator)
    arrays, expected = example.make((1, 33, 9, 8, 3, 3, 1), "f4")
    text = operator.emit("opencl", *arrays)
    written, prologue = text.index("X_shared[x0"), text.index("for (int64_t y_ahead")
    assert "barrier(" in text[written:prologue]
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


ROWS = """
@task.define(leaf=True)
def leaf(Y, X, w):
    Y[...] = X * w


@task.define
def block(Y, X, w):
    task.launch(leaf, Y, X, w)


@task.define(shapes="Y[M,N] X[M,N] w[N]")
def main(Y, X, w):
    Yp = task.partition(Y, by="rows", tile=8)
    Xp = task.partition(X, by="rows", tile=8)
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(block, Yp[i, 0], Xp[i, 0], w)
"""
MAPPING = """\
machine: opencl
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST, calls: {{block: block}}}}
  block: {{task_name: block, proc: BLOCK, mems: {{Y: {y}, X: {x}, w: {w}}}}}
"""


@pytest.mark.parametrize(
    ("y", "x", "w"),
    [
        ("REGISTER", "REGISTER", "NONE"),
        ("SHARED", "REGISTER", "SHARED"),
        ("NONE", "SHARED", "GLOBAL"),
        ("NONE", "NONE", "REGISTER"),
    ],
)
def test_memories_are_those_of_the_mapping(y: str, x: str, w: str, tmp_path: Path) -> None:
    operator = make(tmp_path, ROWS, MAPPING.format(y=y, x=x, w=w))
    skip_unless_it_runs(operator)
    X = np.arange(21 * 5, dtype=np.float32).reshape(21, 5)
    weights = np.arange(5, dtype=np.float32)
    Y = np.zeros_like(X)
    operator(Y, X, weights)
    assert np.array_equal(Y, X * weights)


def test_registers_that_a_statement_would_read_across_work_items_are_refused(
    tmp_path: Path,
) -> None:
    operator = make(tmp_path, ROWS, MAPPING.format(y="REGISTER", x="NONE", w="REGISTER"))
    error = refusal(operator, M=16, N=8)
    assert codes(error) == ["S701"]
    assert "OpenCL spreads the rows of" in str(error)
    assert "use another memory" in str(error)


def test_names_that_mean_something_in_opencl_are_spelled_otherwise(tmp_path: Path) -> None:
    logic = re.sub(r"\bw\b", "half", ROWS)
    mapping = MAPPING.format(y="NONE", x="SHARED", w="NONE").replace(" w:", " half:")
    operator = make(tmp_path, logic, mapping)
    skip_unless_it_runs(operator)
    X = np.ones((9, 3), np.float32)
    Y = np.zeros_like(X)
    operator(Y, X, np.arange(3, dtype=np.float32))
    assert np.array_equal(Y, np.arange(3) * X)


@pytest.fixture
def new_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Programs of a test have a process of their own."""
    kept = opencl_run.device_process
    monkeypatch.setattr(opencl_run, "device_process", cache(kept.__wrapped__))
    yield
    opencl_run.device_process(os.getpid())[0].close()


def test_without_a_device_the_answer_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pyopencl = pytest.importorskip("pyopencl")
    monkeypatch.setattr(pyopencl, "get_platforms", list)
    monkeypatch.setattr(opencl_device, "open_queue", opencl_device.open_queue.__wrapped__)
    answer = opencl_device.compile_source(opencl_device.Source("", "", (), 1))
    assert answer.kind == "missing"
    assert "easy_as[opencl]" in answer.text


def test_a_device_that_compiles_nothing_is_named_with_what_its_compiler_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skip_unless_it_runs(load(EXAMPLE["gemm"].logic_file, GEMM))
    monkeypatch.setattr(opencl_device, "_TRIAL", "kernel void trial(")
    monkeypatch.setattr(opencl_device, "open_queue", opencl_device.open_queue.__wrapped__)
    answer = opencl_device.find_device()
    assert answer.kind == "missing"
    assert answer.text.startswith("no OpenCL device here compiles a kernel: ")
    assert "error: " in answer.text


DRIVER = "tests.septran.targets.bad_driver"


@pytest.mark.usefixtures("new_process")
def test_a_driver_that_crashes_is_an_error_and_the_next_call_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    example = EXAMPLE["gemm"]
    operator = load(example.logic_file, GEMM)
    skip_unless_it_runs(operator)
    arrays, expected = example.make((9, 10, 11), "f4")
    with monkeypatch.context() as patched:
        patched.setattr(opencl_run, "_DEVICE", DRIVER)
        with pytest.raises(eas.CompileError) as caught:
            operator(*arrays)
    assert codes(caught.value) == ["S701"]
    assert "crashed while it compiled this: its process died of SIGSEGV" in str(caught.value)
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


@pytest.mark.usefixtures("new_process")
def test_a_driver_that_hangs_is_stopped_and_the_next_call_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    example = EXAMPLE["gemm"]
    operator = load(example.logic_file, GEMM)
    skip_unless_it_runs(operator)
    arrays, expected = example.make((9, 10, 11), "f4")
    operator.build(*arrays)
    with monkeypatch.context() as patched:
        patched.setattr(opencl_run, "_DEVICE", DRIVER)
        patched.setenv("EAS_OPENCL_SECONDS", "0.5")
        with pytest.raises(eas.CompileError) as caught:
            operator(*arrays)
    assert codes(caught.value) == ["S701"]
    assert "stopped while it ran this: no result after 0.5 s" in str(caught.value)
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


def test_a_time_limit_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = load(EXAMPLE["gemm"].logic_file, GEMM)
    skip_unless_it_runs(operator)
    monkeypatch.setenv("EAS_OPENCL_SECONDS", "soon")
    with pytest.raises(eas.CompileError, match="is a number of seconds, not `soon`"):
        operator.build(M=8, N=8, K=8)


def test_a_text_that_pocl_would_optimize_wrongly_gives_what_it_must(tmp_path: Path) -> None:
    example = EXAMPLE["flash_attention"]
    mapping = FLASH.with_name("causal_opencl.map.yaml").read_text("utf-8")
    mapping = re.sub(r"queries: \d+", "queries: 48", mapping)
    mapping = re.sub(r"keys: \d+", "keys: 32", mapping)
    mapping = re.sub(r"l: \w+}", "l: GLOBAL}", mapping)
    mapping = re.sub(r"S: \w+", "S: SHARED", mapping)
    (tmp_path / "causal.map.yaml").write_text(mapping, "utf-8")
    operator = load(example.logic_file, tmp_path / "causal.map.yaml")
    skip_unless_it_runs(operator)
    arrays, expected = attention((1, 65, 65, 8), "f4", is_causal=True)
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5

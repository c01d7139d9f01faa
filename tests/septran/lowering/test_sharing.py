"""Buffers share memory where they do not fit otherwise, and `explain` names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas.septran.flat.nodes import Alloc, Barrier, walk
from eas.septran.flat.parser import parse_module
from eas.septran.lowering.sharing import share_memory
from eas.septran.operators import Operator, load
from tests.septran.operators import FOLDER, attention, error_of

FLASH = FOLDER / "flash_attention"


def flash(folder: Path, queries: int, keys: int, places: str = "") -> Operator:
    overlay = folder / "large.map.yaml"
    overlay.write_text(
        f"task_mappings:\n  host: {{tunables: {{queries: {queries}}}}}\n"
        f"  block: {{tunables: {{keys: {keys}}}{places}}}\n",
        "utf-8",
    )
    logic = FLASH / "flash_attention_logic.py"
    return load(logic, [FLASH / "apple_gpu.map.yaml", overlay], checked=True)


def shared_arrays(operator: Operator, **sizes: Any) -> list[str]:
    [kernel] = operator.flat(**sizes).kernels
    return [s.name for s in kernel.body if isinstance(s, Alloc) and s.memory == "SHARED"]


def test_buffers_that_fit_have_memory_of_their_own(tmp_path: Path) -> None:
    assert shared_arrays(flash(tmp_path, 16, 16), H=1, M=64, N=64, D=32) == [
        "Q_shared",
        "K_shared",
        "V_shared",
    ]


def test_keys_and_values_share_memory_if_they_do_not_fit(tmp_path: Path) -> None:
    operator = flash(tmp_path, 8, 96, ", mems: {Q: NONE}")
    sizes: dict[str, Any] = {"H": 2, "M": 16, "N": 192, "D": 64}
    assert shared_arrays(operator, **sizes) == ["K_shared"]
    text = operator.emit("metal", **sizes)
    assert "threadgroup float K_shared[6144];" in text
    assert "V_shared" not in text
    said = str(operator.explain(**sizes))
    assert "`V_shared` (`block` wants `V` in SHARED) shares its memory" in said


def test_a_kernel_whose_buffers_share_memory_is_right(tmp_path: Path) -> None:
    operator = flash(tmp_path, 8, 96, ", mems: {Q: NONE}")
    arrays, expected = attention((2, 13, 150, 64), "f4")
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


def test_memory_that_is_shared_is_written_again_only_after_a_barrier(tmp_path: Path) -> None:
    operator = flash(tmp_path, 8, 96, ", mems: {Q: NONE}")
    [kernel] = operator.flat(H=2, M=16, N=192, D=64).kernels
    barriers = [stmt for stmt in walk(kernel.body) if isinstance(stmt, Barrier)]
    assert len(barriers) == 4  # before each of the two copies, and after it


def test_what_metal_adds_makes_buffers_share_memory(tmp_path: Path) -> None:
    """K and V of 14,336 bytes each fit into 32,768, but not with what the text has for scores."""
    sizes: dict[str, Any] = {"H": 2, "M": 32, "N": 112, "D": 64}
    operator = flash(tmp_path, 16, 56, ", mems: {Q: NONE}")
    assert shared_arrays(operator, **sizes) == ["K_shared", "V_shared"]
    text = operator.emit("metal", **sizes)
    assert "threadgroup float K_shared[3584];" in text
    assert "V_shared" not in text
    assert "`V_shared` (`block` wants `V` in SHARED) shares its memory" in str(
        operator.explain(**sizes)
    )
    arrays, expected = attention((2, 21, 130, 64), "f4")
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


def test_what_does_not_fit_even_so_is_refused_with_the_whole_table(tmp_path: Path) -> None:
    with pytest.raises(eas.CompileError) as caught:
        flash(tmp_path, 64, 160).flat(H=1, M=128, N=320, D=64)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "S401"
    *rows, names = diagnostic.notes
    assert [row.split(":")[0] for row in rows] == ["K_shared", "V_shared", "Q_shared"]
    assert names == "here block.keys=160, host.queries=64"


def shared_in(statements: str, limit: int = 1024) -> list[str]:
    """The buffers that are left of `S` and `T`, of 1 KiB each."""
    params = "Y: f32 [64, 16] GLOBAL rw, X: f32 [64, 16] GLOBAL r"
    module = parse_module(
        f"module m({params}) machine apple_gpu {{\nkernel k({params}) grid [] threads 32 {{\n"
        "alloc S: f32 [16, 16] SHARED slots 1 pad 0\nalloc T: f32 [16, 16] SHARED slots 1 pad 0\n"
        f"{statements}\n}}\n}}\n"
    )
    [kernel] = module.kernels
    allocations = [stmt for stmt in kernel.body if isinstance(stmt, Alloc)]
    body = [stmt for stmt in kernel.body if not isinstance(stmt, Alloc)]
    return [each.name for each in share_memory(body, allocations, {"SHARED": limit})[1]]


IN_S, IN_T = (f"copy {name}.SHARED[0:16, 0:16] <- X.GLOBAL[0:16, 0:16]" for name in "ST")
FROM_S, FROM_T = (f"copy Y.GLOBAL[0:16, 0:16] <- {name}.SHARED[0:16, 0:16]" for name in "ST")


def test_one_after_the_other_is_one_buffer() -> None:
    assert shared_in("\n".join([IN_S, FROM_S, IN_T, FROM_T])) == ["S"]
    assert shared_in("\n".join([IN_S, FROM_S, IN_T, FROM_T]), 2048) == ["S", "T"]


def test_buffers_that_are_needed_at_the_same_time_are_two() -> None:
    assert shared_in("\n".join([IN_S, IN_T, FROM_S, FROM_T])) == ["S", "T"]


def test_buffers_of_one_trip_are_one() -> None:
    assert shared_in(f"for k < 4 {{\n{IN_S}\n{FROM_S}\n{IN_T}\n{FROM_T}\n}}") == ["S"]


def test_a_buffer_that_a_later_trip_reads_is_its_own() -> None:
    late = f"if k > 0 {{\n{FROM_S}\n}}\n{IN_S}\n{IN_T}\n{FROM_T}"
    assert shared_in(f"for k < 4 {{\n{late}\n}}") == ["S", "T"]


def test_a_buffer_that_a_trip_writes_in_parts_is_its_own() -> None:
    part = "copy S.SHARED[0:8, 0:16] <- X.GLOBAL[0:8, 0:16]"
    assert shared_in(f"for k < 4 {{\n{part}\n{FROM_S}\n{IN_T}\n{FROM_T}\n}}") == ["S", "T"]


def test_a_buffer_of_which_a_trip_reads_another_part_than_it_writes_is_its_own() -> None:
    part = "copy S.SHARED[0:8, 0:16] <- X.GLOBAL[0:8, 0:16]"
    other = "copy Y.GLOBAL[0:8, 0:16] <- S.SHARED[8:8, 0:16]"
    same = "copy Y.GLOBAL[0:8, 0:16] <- S.SHARED[0:8, 0:16]"
    assert shared_in(f"for k < 4 {{\n{part}\n{other}\n{IN_T}\n{FROM_T}\n}}") == ["S", "T"]
    assert shared_in(f"for k < 4 {{\n{part}\n{same}\n{IN_T}\n{FROM_T}\n}}") == ["S"]


def test_the_pair_that_saves_the_most_bytes_shares_memory() -> None:
    """`U` could share with `S` or `T`, too; one of `S` and `T` saves more."""
    params = "Y: f32 [64, 16] GLOBAL rw, X: f32 [64, 16] GLOBAL r"
    allocations = "".join(
        f"alloc {name}: f32 [{rows}, 16] SHARED slots 1 pad 0\n"
        for name, rows in (("U", 8), ("S", 16), ("T", 12))
    )
    uses = "\n".join(
        f"copy {name}.SHARED[0:8, 0:16] <- X.GLOBAL[0:8, 0:16]\n"
        f"copy Y.GLOBAL[0:8, 0:16] <- {name}.SHARED[0:8, 0:16]"
        for name in "UST"
    )
    module = parse_module(
        f"module m({params}) machine apple_gpu {{\nkernel k({params}) grid [] threads 32 {{\n"
        f"{allocations}{uses}\n}}\n}}\n"
    )
    [kernel] = module.kernels
    placed = [stmt for stmt in kernel.body if isinstance(stmt, Alloc)]
    body = [stmt for stmt in kernel.body if not isinstance(stmt, Alloc)]
    _, left = share_memory(body, placed, {"SHARED": 1600})
    assert [(each.name, each.shape) for each in left] == [("U", (8, 16)), ("S", (16, 16))]


TWO_SHAPES = """
import task_lang as task


@task.define(leaf=True)
def double(Y, X):
    Y[...] = X + X


@task.define
def block(Y, Z, A, B):
    task.launch(double, Y, A)
    task.launch(double, Z, B)


@task.define
def host(Y, Z, A, B):
    Yp = task.partition(Y, by="blocks", tile=(64, Y.shape[1]))
    Zp = task.partition(Z, by="blocks", tile=(48, Z.shape[1]))
    Ap = task.partition(A, by="blocks", tile=(64, A.shape[1]))
    Bp = task.partition(B, by="blocks", tile=(48, B.shape[1]))
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(block, Yp[i, 0], Zp[i, 0], Ap[i, 0], Bp[i, 0])
"""
TWO_PLACES = """
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: host, proc: HOST, calls: {{block: block}}}}
  block: {{task_name: block, proc: {proc}, mems: {{A: {memory}, B: {memory}}}}}
"""


@pytest.mark.parametrize(
    ("machine", "proc", "memory", "rows", "capacity"),
    [("apple_gpu", "BLOCK", "SHARED", 1, 32_768), ("awesomedsa", "CORE", "SPM", 6, 196_608)],
)
def test_buffers_of_different_shapes_share_memory_if_they_do_not_fit(
    tmp_path: Path, machine: str, proc: str, memory: str, rows: int, capacity: int
) -> None:
    (tmp_path / "two_logic.py").write_text(TWO_SHAPES, "utf-8")
    text = TWO_PLACES.format(machine=machine, proc=proc, memory=memory)
    (tmp_path / "two.map.yaml").write_text(text, "utf-8")
    operator = load(tmp_path / "two_logic.py", tmp_path / "two.map.yaml", checked=True)
    make = np.random.default_rng(0).standard_normal
    a, b = make((130, 96 * rows)).astype("f4"), make((100, 128 * rows)).astype("f4")
    y, z = np.full_like(a, np.nan), np.full_like(b, np.nan)
    [kernel] = operator.flat(y, z, a, b).kernels
    [array] = [stmt for stmt in kernel.body if isinstance(stmt, Alloc)]
    assert (array.shape, array.bytes, array.is_mixed) == ((64, 128 * rows), capacity, True)
    operator(y, z, a, b)
    np.testing.assert_array_equal(y, a + a)
    np.testing.assert_array_equal(z, b + b)

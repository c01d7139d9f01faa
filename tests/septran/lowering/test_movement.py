"""How much moves: in the flat module, and counted in the texts of Metal and C."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eas.review.metal.counting import count
from eas.review.metal.kernel_costs import barriers_per_loop
from eas.septran.flat.nodes import Alloc, Barrier, Copy, For, walk
from eas.septran.operators import Operator, load
from tests.septran.operators import FOLDER
from tests.septran.small import host, make

GEMM, FLASH = FOLDER / "gemm", FOLDER / "flash_attention"
HEADS: dict[str, Any] = {"H": 2, "M": 128, "N": 96, "D": 32}


def gemm_on(folder: Path, machine: str, tiles: tuple[int, int, int], stages: int = 2) -> Operator:
    m, n, k = tiles
    overlay = folder / "tiles.map.yaml"
    overlay.write_text(
        f"task_mappings:\n  gemm_host: {{tunables: {{block_m: {m}, block_n: {n}}}}}\n"
        f"  gemm_block: {{tunables: {{block_k: {k}}}, pipeline: {stages}}}\n",
        "utf-8",
    )
    return load(GEMM / "gemm_logic.py", [GEMM / f"gemm.{machine}.map.yaml", overlay])


def flash_on(machine: str) -> Operator:
    return load(FLASH / "flash_attention_logic.py", FLASH / f"{machine}.map.yaml")


def loop_of(text: str, head: str) -> str:
    """The text of a loop, from its head to the line that closes it."""
    start = text.index(head)
    margin = re.search(r"( *)$", text[:start])
    assert margin is not None
    return text[start : text.index(f"\n{margin[1]}}}", start)]


def reads_of(name: str, text: str) -> int:
    """How many places in a text read an element of an array."""
    return len(re.findall(rf"= {name}\[", text))


TILES = [(32, 32, 16), (32, 64, 16), (64, 32, 16), (16, 64, 8), (48, 24, 8), (64, 16, 32)]
SIZES: list[dict[str, Any]] = [{"M": 256, "N": 256, "K": 256}, {"M": 131, "N": 95, "K": 67}]


@pytest.mark.parametrize("sizes", SIZES, ids=["even", "ragged"])
@pytest.mark.parametrize("tiles", TILES, ids=lambda tiles: "x".join(map(str, tiles)))
def test_pipelined_gemm_on_metal_has_one_barrier_per_trip(
    tiles: tuple[int, int, int], sizes: dict[str, Any], tmp_path: Path
) -> None:
    operator = gemm_on(tmp_path, "apple_gpu", tiles)
    costs = count(operator.emit("metal", **sizes))
    assert [number for _, number in barriers_per_loop(costs)] == [1]


@pytest.mark.parametrize("tiles", TILES, ids=lambda tiles: "x".join(map(str, tiles)))
def test_gemm_on_metal_copies_two_tiles_per_trip_and_the_sum_once(
    tiles: tuple[int, int, int], tmp_path: Path
) -> None:
    text = gemm_on(tmp_path, "apple_gpu", tiles).emit("metal", M=192, N=192, K=128)
    loop = loop_of(text, "for (int p = 0;")
    assert (reads_of("A", loop), reads_of("B", loop)) == (1, 1)
    assert (reads_of("A", text), reads_of("B", text)) == (2, 2)  # the prologue's, too
    assert len(re.findall(r"\bC\[.*\] = ", text)) == 1
    assert not re.search(r"\bC\[", loop)


@pytest.mark.parametrize("stages", [1, 3])
def test_gemm_in_c_copies_two_tiles_per_trip_and_the_sum_once(stages: int, tmp_path: Path) -> None:
    text = gemm_on(tmp_path, "awesomedsa", (32, 64, 16), stages).emit("c", M=128, N=128, K=128)
    loop = loop_of(text, "for (int64_t p = 0;")
    assert loop.count("vendor_lib_dma_copy") == 2
    prologue = 2 if stages > 1 else 0
    assert text.count("vendor_lib_dma_copy") == 2 + prologue + 1
    assert len(re.findall(r"vendor_lib_dma_copy\(&C\[", text)) == 1


def test_sums_in_registers_are_wide_also_where_their_tile_goes_through_another_memory() -> None:
    [kernel] = flash_on("h100").flat(**HEADS, dtype="f16").kernels
    held = {stmt.name: stmt.dtype.name for stmt in walk(kernel.body) if isinstance(stmt, Alloc)}
    assert (held["O_register"], held["O_shared"]) == ("f32", "f16")


@pytest.mark.parametrize("machine", ["apple_gpu", "awesomedsa", "nvidia_gpu", "h100"])
def test_flash_attention_moves_keys_once_per_step_and_queries_once(machine: str) -> None:
    [kernel] = flash_on(machine).flat(**HEADS).kernels
    [loop] = [stmt for stmt in walk(kernel.body) if isinstance(stmt, For)]
    inside = [stmt.source.buffer for stmt in walk(loop.body) if isinstance(stmt, Copy)]
    assert sorted(inside) == ["K", "V"]
    everywhere = [stmt for stmt in walk(kernel.body) if isinstance(stmt, Copy)]
    assert [stmt.source.buffer for stmt in everywhere].count("Q") == 1
    assert [stmt.target.buffer for stmt in everywhere].count("O") == 1
    stages = 2 if machine == "h100" else 1  # O goes to GLOBAL through SHARED there
    assert len(everywhere) == 3 + stages


def test_flash_attention_on_metal_reads_keys_once_per_step_and_queries_once() -> None:
    text = flash_on("apple_gpu").emit("metal", **HEADS)
    loop = loop_of(text, "for (int j = 0;")
    assert [reads_of(name, loop) for name in "QKV"] == [0, 1, 1]
    assert [reads_of(name, text) for name in "QKV"] == [1, 1, 1]
    assert len(re.findall(r"\bO\[.*\] = ", text)) == 1
    assert not re.search(r"\bO\[.*\] = ", loop)


def test_flash_attention_in_c_copies_keys_once_per_step_and_queries_once() -> None:
    text = flash_on("awesomedsa").emit("c", **HEADS)
    loop = loop_of(text, "for (int64_t j = 0;")
    inner = re.findall(r"vendor_lib_dma_copy\(&?(\w+)\W.*?, &(\w+)\[", loop)
    assert [source for _, source in inner] == ["K", "V"]
    assert loop.count("vendor_lib_dma_copy") == 2
    assert text.count("vendor_lib_dma_copy") == 2 + 2 + 2  # the prologue's, those of Q and O
    assert text.count("vendor_lib_dma_copy(&O[") == 1


def test_the_flat_module_of_pipelined_gemm_has_one_barrier_per_trip(tmp_path: Path) -> None:
    for tiles in TILES:
        [kernel] = gemm_on(tmp_path, "apple_gpu", tiles).flat(M=256, N=256, K=256).kernels
        [loop] = [stmt for stmt in kernel.body if isinstance(stmt, For)]
        assert sum(isinstance(stmt, Barrier) for stmt in loop.body) == 1


STEPS = """
@task.define(leaf=True)
def first(Y, X):
    Y[...] = X * 2.0


@task.define
def block(Y, X):
    for s in task.sequential_range(2):
        for t in task.parallel_range(1):
            task.launch(first, Y[t : t + 1], X[t : t + 1])


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(block, Y, X)
"""


def test_a_window_of_a_single_trip_leaves_the_rest_of_its_tile(tmp_path: Path) -> None:
    block = "  block: {task_name: block, proc: BLOCK, mems: {Y: SHARED}}\n"
    mapping = host("cpu", "calls: {block: block}") + block
    y, x = np.ones((3, 4), "f4"), np.full((3, 4), 5, "f4")
    make(tmp_path, STEPS, mapping)(y, x)
    np.testing.assert_array_equal(y, [[10] * 4, [1] * 4, [1] * 4])


AGAIN = """
@task.define(leaf=True)
def add(Y, X):
    Y[...] = Y + X


@task.define
def block(Y, X):
    Xp = task.partition(X, by="rows", tile=8)
    for k in task.sequential_range(Xp.shape[0]):
        task.launch(add, Y, Xp[k, 0])


@task.define(shapes="Y[M,N] X[K,N]")
def main(Y, X):
    for s in task.sequential_range(2):
        task.launch(block, Y, X)
"""


def test_a_pipeline_is_legal_where_its_loop_has_one_trip_and_the_one_outside_copies_nothing(
    tmp_path: Path,
) -> None:
    block = "  block: {task_name: block, proc: BLOCK, mems: {X: SHARED}, pipeline: 2}\n"
    mapping = host("cpu", "calls: {block: block}") + block
    y, x = np.ones((8, 4), "f4"), np.full((8, 4), 5, "f4")
    make(tmp_path, AGAIN, mapping)(y, x)
    np.testing.assert_array_equal(y, np.full((8, 4), 11))

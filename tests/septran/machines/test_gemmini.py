"""Gemmini: its public calls, panels in its memories, and what only its functions reach."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas.ir.types import DTYPES
from eas.septran.files import load_machine
from eas.septran.flat.affine import affine
from eas.septran.flat.nodes import Alloc, View
from eas.septran.machine_tables import library_of
from eas.septran.operators import Operator, load
from eas.septran.targets.build import Program
from eas.septran.targets.library import Library, Space, TargetError
from eas.septran.targets.spaces import panel_index, place_arrays
from eas.support.records import replace
from tests.septran.operators import EXAMPLES, FOLDER, error_of
from tests.septran.small import codes, make, refusal

[GEMM] = [example for example in EXAMPLES if example.name == "gemm"]
MAPPING = FOLDER / "gemm" / "gemm.gemmini.map.yaml"
SPACE = Space(1 << 60, row=16)


def gemm() -> Operator:
    return load(GEMM.logic_file, MAPPING)


def test_a_product_is_preloads_and_computes_of_16_by_16() -> None:
    arrays, expected = GEMM.make((64, 64, 128), "f4")
    operator = gemm()
    program = Program(operator.flat(*arrays), operator.library)
    program(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5
    counts = program.call_counts()
    assert counts["gemmini_preload"] == 4 * 4 * 8
    assert counts["gemmini_compute_preloaded"] == 4 * 8  # the right factor stays for three more
    assert counts["gemmini_compute_accumulated"] == 3 * 4 * 8
    assert counts["gemmini_mvin"] == 16 + 2 * 2 * 16  # zeros for the sums; tiles of both factors
    assert counts["gemmini_mvout"] == 16
    assert counts["gemmini_fence"] == 2 + 1


def test_without_fences_the_model_has_not_run_its_commands() -> None:
    arrays, _ = GEMM.make((16, 16, 16), "f4")
    operator = gemm()
    library = operator.library
    copies = {arrow: replace(each, wait=None) for arrow, each in library.copies.items()}
    Program(operator.flat(*arrays), replace(library, copies=copies))(*arrays)
    assert np.isnan(arrays[0]).all()


DOUBLED = """
@task.define(leaf=True)
def double(Y, X):
    Y[...] = X + X


@task.define
def block(Y, X):
    task.launch(double, Y, X)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    Yp = task.partition(Y, by="rows", tile=16)
    Xp = task.partition(X, by="rows", tile=16)
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(block, Yp[i, 0], Xp[i, 0])
"""
PLACED = """\
machine: gemmini
entrypoint: host
task_mappings:
  host: {task_name: main, proc: HOST, calls: {block: block}}
  block: {task_name: block, proc: CORE, mems: {Y: NONE, X: MEMORY}}
"""


@pytest.mark.parametrize("memory", ["SPM", "ACC"])
def test_elements_that_only_functions_reach_are_no_business_of_a_leaf(
    memory: str, tmp_path: Path
) -> None:
    error = refusal(make(tmp_path, DOUBLED, PLACED.replace("MEMORY", memory)), M=32, N=32)
    assert codes(error) == ["S701"]
    assert f"has no function for this on `X_{memory.lower()}` in {memory}" in str(error)


def test_the_core_computes_in_global_memory(tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.zeros_like(x)
    make(tmp_path, DOUBLED, PLACED.replace("MEMORY", "GLOBAL"))(y, x)
    assert np.array_equal(y, 2 * x)


def test_a_tile_of_another_multiple_is_refused_and_an_axis_is_not(tmp_path: Path) -> None:
    path = tmp_path / MAPPING.name
    path.write_text(MAPPING.read_text("utf-8").replace("block_k: 64", "block_k: 24"), "utf-8")
    with pytest.raises(eas.CompileError) as caught:
        load(GEMM.logic_file, path).build(M=16, N=16, K=48)
    assert codes(caught.value) == ["S501"]
    assert "takes multiples of 16 for `k`, and it is 24" in str(caught.value)


def test_numbers_of_16_bits_are_refused() -> None:
    error = refusal(gemm(), M=16, N=16, K=16, dtype="f16")
    assert codes(error) == ["S501"]


def test_panels_of_16_columns_lie_one_after_the_other() -> None:
    tile = Alloc("a", DTYPES["f32"], (32, 48), "SPM", slots=2)
    view = View("a", "SPM", (affine(16), affine("j") * 16), (affine(8), affine(16)), affine(1))
    found = panel_index(view, tile, SPACE)
    assert found == affine("j") * (16 * 32) + 16 * 16 + 32 * 48


def test_a_tile_that_begins_inside_of_a_row_is_refused() -> None:
    tile = Alloc("a", DTYPES["f32"], (32, 48), "SPM")
    view = View("a", "SPM", (affine(0), affine(8)), (affine(8), affine(8)))
    with pytest.raises(TargetError, match="begins inside of a row of SPM"):
        panel_index(view, tile, SPACE)


def test_arrays_have_addresses_one_after_the_other_in_whole_rows() -> None:
    operator = gemm()
    [kernel] = operator.flat(M=64, N=64, K=128).kernels
    places = place_arrays(kernel, operator.library)
    base = 1 << 60
    assert places["C_acc"] == 1 << 61
    assert sorted([places["A_spm"], places["B_spm"]]) == [base, base + 2 * 64 * 64 * 4]


def test_rows_count_whole_for_the_capacity() -> None:
    operator = gemm()
    [kernel] = operator.flat(M=64, N=64, K=128).kernels
    narrow = Library("small", spaces={"SPM": Space(0, row=128, capacity=65_537)})
    with pytest.raises(TargetError, match="SPM holds 65,537 bytes"):
        place_arrays(kernel, narrow)
    assert library_of(load_machine("gemmini")).spaces["SPM"].capacity == 256 * 1024 - 2048

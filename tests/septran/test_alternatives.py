"""Several mappings of one logic: the first one is taken whose `when` holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas import septran
from eas.septran.cli import main
from eas.septran.files import alternatives
from eas.septran.operators import Operator
from tests.septran.operators import FOLDER
from tests.septran.small import codes, refusal

GEMM = FOLDER / "gemm"
LOGIC = GEMM / "gemm_logic.py"
TILES = {"large": 64, "middle": 32, "small": 8}
WHEN = {"large": '"M >= 64"', "middle": '["M >= 16", "M < 64"]', "small": '"M < 15"'}


def write(folder: Path, name: str, when: str | None, machine: str = "cpu") -> Path:
    text = (GEMM / f"gemm.{machine}.map.yaml").read_text("utf-8")
    tiles = f"tunables: {{block_m: {TILES[name]}, block_n: 32}}"
    lines = [tiles if "block_m" in line else line.strip() for line in text.splitlines()]
    indents = [len(line) - len(line.lstrip()) for line in text.splitlines()]
    body = "".join(f"{' ' * n}{line}\n" for n, line in zip(indents, lines, strict=True))
    path = folder / f"{name}.map.yaml"
    path.write_text(body + (f"when: {when}\n" if when else ""), "utf-8")
    return path


def three(folder: Path, *more: Path) -> Operator:
    return septran.load(LOGIC, [*(write(folder, name, WHEN[name]) for name in WHEN), *more])


@pytest.mark.parametrize(
    ("m", "name"), [(64, "large"), (63, "middle"), (16, "middle"), (14, "small"), (1, "small")]
)
def test_the_mapping_is_the_one_for_the_sizes(m: int, name: str, tmp_path: Path) -> None:
    [kernel] = three(tmp_path).flat(M=m, N=32, K=8).kernels
    assert [extent.value for _, extent in kernel.grid] == [-(-m // TILES[name]), 1]


def test_arrays_are_given_to_the_mapping_for_their_sizes(tmp_path: Path) -> None:
    operator = three(tmp_path)
    for m in (70, 20, 3):
        a, b, c = np.ones((m, 8), "f4"), np.ones((8, 5), "f4"), np.zeros((m, 5), "f4")
        operator(c, a, b)
        np.testing.assert_array_equal(c, np.full((m, 5), 8))


def test_sizes_between_the_mappings_are_refused_by_each(tmp_path: Path) -> None:
    error = refusal(three(tmp_path), M=15, N=32, K=8)
    assert codes(error) == ["S603"] * 3


def test_the_last_mapping_needs_no_condition(tmp_path: Path) -> None:
    paths = [write(tmp_path, "large", WHEN["large"]), write(tmp_path, "small", None)]
    operator = septran.load(LOGIC, paths)
    grids = [operator.flat(M=m, N=32, K=8).kernels[0].grid for m in (64, 63)]
    assert [grid[0][1].value for grid in grids] == [1, 8]


def test_an_overlay_changes_the_mapping_before_it(tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.map.yaml"
    overlay.write_text("task_mappings: {gemm_host: {tunables: {block_m: 4}}}\n", "utf-8")
    operator = three(tmp_path, overlay)
    grids = [operator.flat(M=m, N=32, K=8).kernels[0].grid for m in (64, 8)]
    assert [grid[0][1].value for grid in grids] == [1, 2]


def test_mappings_for_two_machines_are_no_alternatives(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, "large", WHEN["large"]),
        write(tmp_path, "small", None, machine="apple_gpu"),
    ]
    with pytest.raises(eas.CompileError) as caught:
        septran.load(LOGIC, paths)
    assert codes(caught.value) == ["S113"]


def test_mappings_of_two_tasks_are_no_alternatives(tmp_path: Path) -> None:
    other = tmp_path / "other.map.yaml"
    other.write_text(
        "machine: cpu\nentrypoint: it\ntask_mappings:\n"
        "  it: {task_name: gemm_block_logic, proc: BLOCK, tunables: {block_k: 8}}\n",
        "utf-8",
    )
    with pytest.raises(eas.CompileError) as caught:
        septran.load(LOGIC, [write(tmp_path, "large", WHEN["large"]), other])
    assert codes(caught.value) == ["S203"]


def test_one_mapping_is_tuned_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(write(tmp_path, "large", WHEN["large"])), str(write(tmp_path, "small", None))]
    assert main(["tune", str(LOGIC), *paths]) == 2
    assert "give one mapping" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("conditions", "groups"), [((True, True, False), 3), ((True, False, False), 1)]
)
def test_mappings_are_merged_unless_all_but_the_last_have_conditions(
    tmp_path: Path, conditions: tuple[bool, ...], groups: int
) -> None:
    names = zip(WHEN, conditions, strict=True)
    paths = [write(tmp_path, name, WHEN[name] if has_when else None) for name, has_when in names]
    assert len(alternatives(paths)) == groups

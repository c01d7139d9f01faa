"""A name that is nearly right is corrected, from Python and on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import eas
from eas import septran
from eas.septran.cli import main
from tests.septran.operators import FOLDER

LOGIC = FOLDER / "gemm" / "gemm_logic.py"
MAPPING = (FOLDER / "gemm" / "gemm.apple_gpu.map.yaml").read_text("utf-8")
NEARLY = {
    "a key of a file": ("entrypoint:", "entrypont:", "entrypoint"),
    "a key of an instance": ("    proc: BLOCK", "    proc: BLOCK\n    pipelin: 2", "pipeline"),
    "a task": ("task_name: gemm_block_logic", "task_name: gemm_blok_logic", "gemm_block_logic"),
    "a launch": ("calls: {gemm_block_logic:", "calls: {gemm_blok_logic:", "gemm_block_logic"),
    "an instance": ("gemm_block_logic: gemm_block}", "gemm_block_logic: gemm_blok}", "gemm_block"),
    "the entrypoint": ("entrypoint: gemm_host", "entrypoint: gemm_hots", "gemm_host"),
    "a machine": ("machine: apple_gpu", "machine: aple_gpu", "apple_gpu"),
    "a processor": ("proc: BLOCK", "proc: BLOK", "BLOCK"),
    "a memory": ("A: SHARED", "A: SHRED", "SHARED"),
    "a tunable": ("block_m:", "block_mm:", "block_m"),
    "a primitive": (": simdgroup_mma", ": simdgroup_mmm", "simdgroup_mma"),
    "a leaf": ("gemm_leaf_logic: simd", "gemm_leaf_logik: simd", "gemm_leaf_logic"),
    "a key of a choice": ("pipeline: 2", "pipeline: !tune {tpye: choice, values: [1]}", "type"),
}


@pytest.fixture(params=NEARLY)
def wrong(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    right, nearly, meant = NEARLY[request.param]
    assert right in MAPPING
    file = tmp_path / "gemm.map.yaml"
    file.write_text(MAPPING.replace(right, nearly, 1), "utf-8")
    return file, meant


def test_a_name_is_corrected_in_python(wrong: tuple[Path, str]) -> None:
    file, meant = wrong
    with pytest.raises(eas.CompileError) as caught:
        septran.load(LOGIC, file).build(M=32, N=32, K=32)
    assert f"did you mean `{meant}`?" in str(caught.value)


def test_a_name_is_corrected_on_the_command_line(
    wrong: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    file, meant = wrong
    assert main(["check", str(LOGIC), str(file), "--shape", "M=32,N=32,K=32"]) == 1
    assert f"did you mean `{meant}`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (["--machine", "aple_gpu"], "apple_gpu"),
        (["--dtype", "f32x"], "f32"),
        (["--tune", "gemm_blok.pipeline=2"], "gemm_block.pipeline"),
    ],
)
def test_an_option_is_corrected(
    options: list[str], meant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MAPPING.replace("pipeline: 2", "pipeline: !tune {type: choice, values: [1, 2]}")
    assert text != MAPPING
    file = tmp_path / "gemm.map.yaml"
    file.write_text(text.replace("machine: apple_gpu\n", ""), "utf-8")
    given = options if "--machine" in options else ["--machine", "apple_gpu", *options]
    assert main(["check", str(LOGIC), str(file), *given]) != 0
    assert f"did you mean `{meant}`?" in capsys.readouterr().err

"""Arm's SME in an emulator: outer products into ZA, of two vector lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas.septran.files import load_machine
from eas.septran.operators import Operator, load
from eas.septran.targets import needs
from eas.septran.targets.emulated import EmulatedProgram
from eas.septran.targets.library import NATIVE, TargetError
from eas.support.records import replace
from tests.septran.operators import EXAMPLES, FOLDER, error_of, skip_unless_it_runs

EXAMPLE = {example.name: example for example in EXAMPLES}
MAPPINGS = {
    "gemm": FOLDER / "gemm" / "gemm.arm_sme.map.yaml",
    "flash_attention": FOLDER / "flash_attention" / "arm_sme.map.yaml",
}


def with_lanes(name: str, lanes: int, folder: Path) -> Operator:
    """An operator on the machine with vectors of so many numbers, in a file of its own."""
    text = Path(load_machine("arm_sme").path).read_text("utf-8")
    long, short = "sve-default-vector-length=64,sme512=on", "sve-default-vector-length=32,sme256=on"
    assert long in text
    text = text.replace(long, {16: long, 8: short}[lanes])
    text = text.replace("name: arm_sme\n", f"name: sme_{lanes}\n").replace("native/", f"{NATIVE}/")
    (folder / f"sme_{lanes}.machine.yaml").write_text(text, "utf-8")
    mapping = folder / MAPPINGS[name].name
    text = MAPPINGS[name].read_text("utf-8").replace("machine: arm_sme", f"machine: sme_{lanes}")
    mapping.write_text(text, "utf-8")
    return load(EXAMPLE[name].logic_file, mapping)


@pytest.mark.thorough
@pytest.mark.parametrize("lanes", [8, 16])
def test_products_are_exact_at_both_vector_lengths(lanes: int, tmp_path: Path) -> None:
    """Sums of small integers have no rounding: any order gives the same."""
    operator = with_lanes("gemm", lanes, tmp_path)
    skip_unless_it_runs(operator)
    random = np.random.default_rng(0)
    A, B = (random.integers(-8, 9, shape).astype(np.float32) for shape in ((37, 29), (29, 45)))
    C = np.full((37, 45), np.nan, np.float32)
    program = EmulatedProgram(operator.flat(C, A, B), operator.library)
    program(C, A, B)
    assert np.array_equal(C, A @ B)
    tiles = -(-37 // lanes) * -(-45 // lanes)
    assert program.call_counts() == {"arm_sme_gemm": 1, "fmopa": tiles * 29}


@pytest.mark.thorough
@pytest.mark.parametrize("lanes", [8, 16])
def test_flash_attention_is_right_at_both_vector_lengths(lanes: int, tmp_path: Path) -> None:
    """One of its products has a transposed factor, which ZA turns."""
    operator = with_lanes("flash_attention", lanes, tmp_path)
    skip_unless_it_runs(operator)
    arrays, expected = EXAMPLE["flash_attention"].make((2, 37, 37, 16), "f4")
    operator(*arrays)
    assert error_of(arrays[0], expected) <= 2e-5


def test_an_emulator_that_is_missing_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(needs.shutil, "which", lambda _: None)
    with pytest.raises(eas.CompileError) as caught:
        load(EXAMPLE["gemm"].logic_file, MAPPINGS["gemm"]).build(M=8, N=8, K=8)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "S701"
    assert "the command `qemu-aarch64`, not found here: `apt-get install qemu-user`" in (
        diagnostic.message
    )


@pytest.mark.thorough
def test_what_an_emulator_says_is_reported() -> None:
    operator = load(EXAMPLE["gemm"].logic_file, MAPPINGS["gemm"])
    skip_unless_it_runs(operator)
    library = operator.library
    assert library.emulator is not None
    arrays, _ = EXAMPLE["gemm"].make((8, 8, 8), "f4")
    odd = replace(library.emulator, command=("qemu-aarch64", "-cpu", "no-such-processor"))
    program = EmulatedProgram(operator.flat(*arrays), replace(library, emulator=odd))
    with pytest.raises(TargetError, match="`qemu-aarch64` did not run the program"):
        program(*arrays)

"""A machine with two scratch memories, and a product that adds to f32 only: the folder `otter`."""

from __future__ import annotations

import faulthandler
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from eas.septran.cli import main
from eas.septran.flat.nodes import Alloc, walk
from eas.septran.operators import Operator, load
from eas.septran.targets.build import Program
from tests.septran.machines.moved import EXAMPLE, at_odd_sizes, is_right
from tests.septran.operators import Sizes
from tests.septran.small import codes, refusal
from tests.thorough import thorough

FOLDER = Path(__file__).parent / "otter"


def otter(name: str, folder: Path = FOLDER) -> Operator:
    return load(EXAMPLE[name].logic_file, folder / f"{name}.map.yaml")


def calls_of(name: str, sizes: Sizes, dtype: str) -> dict[str, int]:
    arrays, _ = EXAMPLE[name].make(sizes, dtype)
    operator = otter(name)
    program = Program(operator.flat(*arrays), operator.library)
    program(*arrays)
    return program.call_counts()


@at_odd_sizes
@pytest.mark.parametrize("dtype", ["f2", pytest.param("f4", marks=thorough)])
def test_an_operator_moves_to_it_by_one_mapping(name: str, sizes: Sizes, dtype: str) -> None:
    assert is_right(otter(name), name, sizes, dtype)


@pytest.mark.parametrize("name", ["gemm", "flash_attention"])
def test_a_sum_of_a_product_that_adds_to_f32_only_is_f32(name: str) -> None:
    """Its copy in VMEM is, and so is what it is computed with; the argument stays f16."""
    sizes: Sizes = (32, 24, 40) if name == "gemm" else (1, 16, 32, 8)
    arrays, _ = EXAMPLE[name].make(sizes, "f2")
    [kernel] = otter(name).flat(*arrays).kernels
    dtypes = {each.name: each.dtype.name for each in walk(kernel.body) if isinstance(each, Alloc)}
    results = {"gemm": "C_vmem", "flash_attention": "O_vmem"}
    assert dtypes[results[name]] == "f32"
    assert {dtype for copy, dtype in dtypes.items() if copy.endswith("_wmem")} == {"f16"}
    assert {param.dtype.name for param in kernel.params} == {"f16"}
    assert calls_of(name, sizes, "f2")["multiply"] == {"gemm": 2, "flash_attention": 4}[name]


def test_a_sum_that_stays_in_global_is_refused(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    mapping, machine = tmp_path / "gemm.map.yaml", tmp_path / "otter.machine.yaml"
    mapping.write_text(mapping.read_text("utf-8").replace("C: VMEM, ", ""), "utf-8")
    text = machine.read_text("utf-8").replace("C: [VMEM]", "C: [VMEM, DRAM]")
    machine.write_text(text, "utf-8")
    operator = otter("gemm", tmp_path)
    operator.build(M=32, N=24, K=20, dtype="f32")
    error = refusal(operator, M=32, N=24, K=20, dtype="f16")
    assert codes(error) == ["S501"]
    assert "adds to f32, and this product to f16 in DRAM" in str(error)


def test_the_vector_unit_reduces_rows_to_a_vector() -> None:
    """`mk.max(X, axis=1)` has one number for each row, side by side."""
    assert calls_of("softmax", (16, 32), "f4")["max"] == 2  # one for each block of rows
    assert calls_of("flash_attention", (1, 16, 48, 8), "f4")["max"] == 3  # one for each step


def run(folder: Path, before: str, after: str) -> int:
    """`septran run` with a mistake in the vendor's C."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    source = folder / "otter.c"
    text = source.read_text("utf-8")
    assert before in text
    source.write_text(text.replace(before, after), "utf-8")
    files = [str(EXAMPLE["softmax"].logic_file), str(folder / "softmax.map.yaml")]
    return main(["run", *files, "--shape", "M=16,N=9"])


@pytest.fixture
def quiet() -> Generator[None]:
    """Without the traceback that pytest prints of a process that dies."""
    faulthandler.disable()
    yield
    faulthandler.enable()


@pytest.mark.usefixtures("quiet")
def test_a_library_that_crashes_does_not_end_the_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "int of_token = 0", "*(volatile int *)8 = 0; int of_token = 0") == 1
    said = capfd.readouterr().err
    assert "error[S701]: the library of `otter` did not come back" in said
    assert "its process died of SIGSEGV" in said


@pytest.mark.thorough
@pytest.mark.usefixtures("quiet")
def test_what_a_library_says_before_it_ends_the_process_is_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "int of_token = 0", "assert(keep > 8); int of_token = 0") == 1
    said = capfd.readouterr().err
    assert "keep > 8" in said
    assert "its process died of SIGABRT" in said


def test_bytes_that_a_library_writes_beyond_an_array_are_found(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The last row of the result is copied once more, behind the array."""
    rows = "row < each->rows + (each->target_stride == 36 && each->source_stride == 36); ++row"
    assert run(tmp_path, "row < each->rows; ++row", rows) == 1
    assert "Y: bytes beyond the array were written" in capfd.readouterr().err


@pytest.mark.thorough
def test_an_array_that_a_library_changes_and_should_only_read_is_found(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What it copies to VMEM is changed in DRAM."""
    loop, wrong = (
        "for (int64_t row = 0; row < each",
        "*(char *)each->source ^= each->source_stride == 36;",
    )
    assert run(tmp_path, loop, f"{wrong} {loop}") == 1
    assert "X: it is only read, and it was changed" in capfd.readouterr().err

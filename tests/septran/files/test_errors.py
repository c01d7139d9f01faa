"""Every wrong file under `errors/`: what the user reads, compared with its snapshot."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from eas.septran.files import load_machine
from eas.septran.files.complaints import SHOWN, SeptranError
from tests.septran.files.checking import check, error_of

REPOSITORY = Path(__file__).parent.parent.parent.parent
FOLDER = Path("tests", "septran", "files", "errors")
SEED = Path("tests", "septran", "files", "seed")
NAMES = sorted(path.name for path in (REPOSITORY / FOLDER).glob("*.yaml"))
SnapshotCheck = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are shown as seen from the current folder."""
    monkeypatch.chdir(REPOSITORY)


def name_of(file: str) -> str:
    stem, kind, _ = file.rsplit(".", 2)
    return stem if kind == "map" else f"{stem}_{kind}"


@pytest.mark.parametrize("file", NAMES)
def test_the_errors_of_a_wrong_file_are_those_of_its_snapshot(
    file: str, septran_error_snapshot: SnapshotCheck
) -> None:
    septran_error_snapshot(name_of(file), f"{error_of(FOLDER / file)}\n")


@pytest.mark.parametrize("file", NAMES)
def test_every_mistake_has_a_place_in_a_file(file: str) -> None:
    for diagnostic in error_of(FOLDER / file).diagnostics:
        loc = diagnostic.loc
        assert loc.source.path.startswith(str(FOLDER)) and 1 <= loc.line <= loc.end_line


def test_three_mistakes_of_three_kinds_are_all_reported() -> None:
    error = error_of(FOLDER / "three_mistakes.map.yaml")
    places = [(each.code, each.loc.line, each.loc.column) for each in error.diagnostics]
    assert places == [("S115", 6, 10), ("S116", 7, 25), ("S106", 8, 4)]


def test_files_for_two_machines_are_not_merged(septran_error_snapshot: SnapshotCheck) -> None:
    first, second = FOLDER / "parts/for_cpu.map.yaml", FOLDER / "parts/for_apple_gpu.map.yaml"
    septran_error_snapshot("two_machines", f"{error_of(first, second)}\n")


def test_files_named_for_two_machines_are_not_merged(
    septran_error_snapshot: SnapshotCheck,
) -> None:
    first = SEED / "gemm_on_nvidia_gpu.mapping.yaml"
    second = SEED / "gemm_on_awesomedsa.map.yaml"
    septran_error_snapshot("two_machines_in_names", f"{error_of(first, second)}\n")


def test_a_file_is_not_for_another_machine(septran_error_snapshot: SnapshotCheck) -> None:
    error = error_of(FOLDER / "parts/for_cpu.map.yaml", machine="apple_gpu")
    septran_error_snapshot("another_machine", f"{error}\n")


def test_a_machine_that_is_given_must_be_there(septran_error_snapshot: SnapshotCheck) -> None:
    error = error_of(SEED / "gemm_on_nvidia_gpu.mapping.yaml", machine="nvidia")
    septran_error_snapshot("given_machine", f"{error}\n")


def test_an_error_can_be_sent_to_another_process() -> None:
    error = error_of(FOLDER / "three_mistakes.map.yaml")
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied)) == (SeptranError, str(error))


def test_an_unknown_machine_is_corrected_without_a_file() -> None:
    with pytest.raises(SeptranError) as caught:
        load_machine("aple_gpu")
    assert str(caught.value) == (
        "error[S111]: there is no machine `aple_gpu`\n"
        "  = help: did you mean `apple_gpu`?\n\n"
        "1 error"
    )


def test_an_error_is_a_syntax_error_at_the_first_mistake() -> None:
    error = error_of(FOLDER / "unknown_processor.map.yaml")
    assert isinstance(error, SyntaxError)
    assert (error.lineno, error.offset, error.end_offset) == (4, 49, 54)
    assert error.filename == str(FOLDER / "unknown_processor.map.yaml")


def test_of_very_many_mistakes_some_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    lines = [f"key_{n}: 1" for n in range(200)]
    file = tmp_path / "many_on_cpu.map.yaml"
    file.write_text("\n".join(lines))
    error = error_of(file)
    assert len(error.diagnostics) == SHOWN
    assert error.diagnostics[-1].notes == (f"{200 - SHOWN} more mistakes are not shown",)


def test_the_parts_are_right_by_themselves() -> None:
    for name in ("for_cpu", "for_apple_gpu"):
        check(FOLDER / "parts" / f"{name}.map.yaml")

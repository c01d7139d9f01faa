"""Hostile files: a located error each, in bounded time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from eas.septran.codes import TITLES
from eas.septran.files import SeptranError, load_mapping
from tests.septran.files import measure
from tests.septran.files.hostile import write_all
from tests.thorough import thorough

REPOSITORY = Path(__file__).parent.parent.parent.parent
SECONDS = 20.0  # of the processor's time, on a slow and busy machine
MEGABYTES = 60


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_all(tmp_path_factory.mktemp("hostile"))


def error_of(file: Path) -> SeptranError | None:
    try:
        load_mapping(file)
    except SeptranError as error:
        return error
    return None


def test_there_are_hundreds_of_hostile_files(files: list[Path]) -> None:
    assert len(set(files)) >= 200


def test_every_hostile_file_has_an_error_with_a_code_and_a_place(files: list[Path]) -> None:
    folder = files[0].parent
    for file in files:
        error = error_of(file)
        assert error is not None, f"nothing is wrong with {file.name}"
        for diagnostic in error.diagnostics:
            assert diagnostic.code in TITLES
            assert diagnostic.loc.line >= 1 and diagnostic.loc.column >= 0, file.name
            assert Path(diagnostic.loc.source.path).is_relative_to(folder), file.name
            lines = diagnostic.loc.source.lines
            assert diagnostic.loc.end_line <= max(len(lines), 1), file.name


@thorough
def test_hostile_files_take_little_time_and_memory_and_their_errors_little_room(
    files: list[Path],
) -> None:
    """In a process of its own, whose peak of memory is that of these files."""
    ran = subprocess.run(
        [sys.executable, "-m", measure.__name__, *map(str, files[:200])],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    measured = json.loads(ran.stdout)
    assert measured["seconds"] < SECONDS, measured
    assert measured["megabytes"] < MEGABYTES, measured
    assert measured["characters"] < 2_000_000, measured

"""The examples run, and the tour shows what a newcomer should see first."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from eas.cli import main
from tests.conftest import SnapshotCheck
from tests.thorough import thorough

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "__init__")
# A cluster of processes takes seconds to start.
SLOW = {"blur_in_blocks"}
CASES = [pytest.param(name, marks=thorough if name in SLOW else ()) for name in NAMES]
NEEDED = {"blur_in_blocks": "dask.distributed", "torch_ops": "torch", "torch_training": "torch"}


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.usefixtures("default_backend")
@pytest.mark.parametrize("name", CASES)
def test_an_example_prints_something(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    importlib.import_module(f"examples.{name}").main()
    printed = capsys.readouterr()
    assert printed.out.strip()
    assert printed.err == ""


@thorough
def test_the_examples_have_no_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "examples"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("no errors in ")


def test_the_tour_shows_metal_a_picture_an_error_and_a_caught_bug(
    capsys: pytest.CaptureFixture[str], example_snapshot: SnapshotCheck
) -> None:
    importlib.import_module("examples.tour").main()
    lines = capsys.readouterr().out.splitlines()
    example_snapshot("tour", "".join(f"{line.rstrip()}\n" for line in lines))


def test_the_picture_of_the_tour_has_characters_where_colours_are_not_wanted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.setenv(name, "1")
    importlib.import_module("examples.tour").main()
    assert "@@@" in capsys.readouterr().out

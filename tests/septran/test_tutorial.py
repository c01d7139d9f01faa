"""The tutorial from gemm to a new accelerator: its files are written, its commands are run."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eas.septran.cli import main
from tests.septran.operators import FOLDER, REPOSITORY

PAGE = (REPOSITORY / "docs" / "septran_tutorial.md").read_text("utf-8")
FILE = re.compile(r"^```(?:yaml|python|c)\n(?:#|//) (\S+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the files of the page and the logic of flash attention."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    shutil.copy(FOLDER / "flash_attention" / "flash_attention_logic.py", tmp_path)
    for name, text in FILE.findall(PAGE):
        (tmp_path / name).write_text(text, "utf-8")
    sys.modules.pop("gemm_logic", None)
    yield tmp_path
    sys.modules.pop("gemm_logic", None)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("commands", "shown"), COMMANDS.findall(PAGE), ids=lambda text: text.split()[1]
)
def test_a_command_of_the_tutorial_prints_what_it_shows(
    commands: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = [main(shlex.split(line)[1:]) for line in commands.splitlines()]
    captured = capsys.readouterr()
    printed = captured.out + captured.err
    assert any(codes) == shown.startswith("error")
    position = 0
    for part in shown.split("...\n"):
        wanted = part.rstrip("\n")
        found = printed.find(wanted, position)
        assert found >= 0, f"{wanted}\nis not in\n{printed}"
        position = found + len(wanted)


def test_every_block_of_the_tutorial_is_tried() -> None:
    assert PAGE.count("```sh\n") == len(COMMANDS.findall(PAGE)) == 4
    assert len(FILE.findall(PAGE)) == 8

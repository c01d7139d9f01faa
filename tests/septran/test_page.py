"""`docs/septran.md` is true: it shows the files of the example and what its commands print."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eas.septran.cli import main
from eas.septran.files import load_machine
from eas.septran.logic.leaf_expressions import FUNCTIONS
from eas.septran.logic.primitives import STANDARD
from eas.septran.machine_tables import library_of
from tests.septran.operators import FOLDER, REPOSITORY

PAGE = (REPOSITORY / "docs" / "septran.md").read_text("utf-8")
EXCERPT = re.compile(r"^<!-- (\S+) -->\n```\w+\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```(?:yaml|python)\n# (\S+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@pytest.fixture
def gemm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder of the example, with the files of the page in it."""
    shutil.copytree(FOLDER / "gemm", tmp_path / "gemm")
    monkeypatch.chdir(tmp_path / "gemm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, text in FILE.findall(PAGE):
        Path(name).write_text(f"# {name}\n{text}", "utf-8")
    sys.modules.pop("gemm_logic", None)  # of another folder, or of this one for later tests
    yield
    sys.modules.pop("gemm_logic", None)


def test_the_page_shows_the_files_of_the_example() -> None:
    shown = EXCERPT.findall(PAGE)
    assert [name for name, _ in shown] == ["gemm_logic.py", "gemm.apple_gpu.map.yaml"]
    for name, text in shown:
        assert text in (FOLDER / "gemm" / name).read_text("utf-8")


def test_the_page_of_machines_shows_the_functions_of_a_library() -> None:
    page = (REPOSITORY / "docs" / "septran_machines.md").read_text("utf-8")
    [(name, text)] = EXCERPT.findall(page)
    assert text in (REPOSITORY / name).read_text("utf-8")
    library = library_of(load_machine("awesomedsa"))
    used = {each.name for several in library.operations.values() for each in several}
    used |= set(library.primitives.values())
    assert used <= set(re.findall(r"vendor_lib_\w+", text))


@pytest.mark.usefixtures("gemm")
@pytest.mark.parametrize(
    ("commands", "shown"), COMMANDS.findall(PAGE), ids=lambda text: text.split()[1]
)
def test_a_command_prints_what_the_page_shows(
    commands: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    codes: list[int] = []
    for line in commands.splitlines():
        name, *arguments = shlex.split(line)
        assert name == "septran"
        codes.append(main(arguments))
    captured = capsys.readouterr()
    printed = captured.out + captured.err
    assert any(codes) == shown.startswith("error")
    position = 0
    for part in shown.split("...\n"):
        found = printed.find(part, position)
        assert found >= 0, f"{part}\nis not in\n{printed}"
        position = found + len(part)


def test_every_block_of_the_shell_is_run() -> None:
    assert PAGE.count("```sh\n") == len(COMMANDS.findall(PAGE)) > 0


def test_the_page_names_all_primitives_and_only_functions_that_leaves_have() -> None:
    for name in STANDARD:
        assert f"`{name}`" in PAGE
    assert set(re.findall(r"`mk\.(\w+)", PAGE)) <= set(FUNCTIONS)

"""Every error code of SepTran has a title, a page with examples that are true, and a snapshot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from eas.cli.explain import read_pages, title_of
from eas.septran.codes import TITLES
from tests.septran.files.checking import check, error_of

REPOSITORY = Path(__file__).parent.parent.parent
PAGES = {code: page for code, page in read_pages().items() if code.startswith("S")}
CODE = re.compile(r"S\d{3}")
BLOCK = re.compile(r"^```yaml\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# ([\w.]+\.yaml)\n")


def test_every_code_in_the_sources_has_a_title_and_every_title_a_use() -> None:
    assert set(codes_in_sources()) == set(TITLES)


def codes_in_sources() -> Iterator[str]:
    for file in (REPOSITORY / "septran").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and CODE.fullmatch(value) and file.name != "codes.py":
                yield value


def test_every_code_has_a_page_with_its_title() -> None:
    assert {code: title_of(page) for code, page in PAGES.items()} == TITLES


def test_every_code_has_a_snapshot() -> None:
    texts = (REPOSITORY / "snapshots" / "septran" / "errors").glob("*.txt")
    found = (re.findall(r"^error\[(\w+)\]", each.read_text("utf-8"), re.M) for each in texts)
    assert {code for codes in found for code in codes} == set(TITLES)


@pytest.mark.parametrize("code", TITLES)
def test_the_wrong_example_of_a_page_has_this_error_and_no_other(code: str, tmp_path: Path) -> None:
    error = error_of(*files_of(code, "Wrong", tmp_path))
    assert {diagnostic.code for diagnostic in error.diagnostics} == {code}


@pytest.mark.parametrize("code", TITLES)
def test_the_right_example_of_a_page_has_no_error(code: str, tmp_path: Path) -> None:
    check(*files_of(code, "Right", tmp_path))


def files_of(code: str, heading: str, folder: Path) -> list[Path]:
    """The blocks of YAML below a heading of a page, as files; a comment may give the name."""
    section = PAGES[code].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    files: list[Path] = []
    for block in BLOCK.findall(section):
        name = FILE_NAME.match(block)
        file = folder / (name.group(1) if name else "example.map.yaml")
        file.write_text(block, "utf-8")
        files.append(file)
    return files

"""Every error code of SepTran has a title, a page with examples that are true, and a snapshot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas.cli.explain import read_pages, title_of
from eas.septran.codes import TITLES
from eas.septran.logic.loading import load_logic, load_primitives
from eas.septran.operators import load
from tests.septran.files.checking import SIZES, check

REPOSITORY = Path(__file__).parent.parent.parent
GEMM = REPOSITORY / "examples/septran/gemm/gemm_logic.py"
PAGES = {code: page for code, page in read_pages().items() if code.startswith("S")}
CODE = re.compile(r"S\d{3}")
BLOCK = re.compile(r"^```(yaml|python)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# ([\w.]+\.(?:yaml|py))\n")


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
    with pytest.raises(eas.CompileError) as caught:
        check_page(code, files_of(code, "Wrong", tmp_path))
    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {code}


@pytest.mark.parametrize("code", TITLES)
def test_the_right_example_of_a_page_has_no_error(code: str, tmp_path: Path) -> None:
    check_page(code, files_of(code, "Right", tmp_path))


ABOUT_LOWERING = re.compile(r"S[234579]|S808")
CALL = "call.py"


def check_page(code: str, files: list[Path]) -> None:
    """Does with the files of a page what a command would do with them."""
    logic = [file for file in files if file.suffix == ".py" and file.name != CALL]
    calls = [file for file in files if file.name == CALL]
    if ABOUT_LOWERING.match(code):
        mapping = [file for file in files if file.suffix == ".yaml"]
        operator = load(logic[0] if logic else GEMM, mapping)
        for file in calls:
            exec(file.read_text("utf-8"), {"operator": operator, "np": np})
        sizes: dict[str, Any] = {"M": 64, "N": 64} if logic else dict(SIZES)
        operator.build(**sizes)
    elif code == "S810":
        for primitive in load_primitives(logic[0]).values():
            assert primitive.symbol
    elif logic:
        load_logic(logic[0]).tasks["main"](*(np.zeros((16, 16), np.float32) for _ in range(2)))
    else:
        check(*files)


def files_of(code: str, heading: str, folder: Path) -> list[Path]:
    """The blocks below a heading of a page, as files; a comment may give the name."""
    section = PAGES[code].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    files: list[Path] = []
    for language, block in BLOCK.findall(section):
        name = FILE_NAME.match(block)
        plain = "example.map.yaml" if language == "yaml" else "example_logic.py"
        file = folder / (name.group(1) if name else plain)
        file.write_text(block, "utf-8")
        files.append(file)
    return files

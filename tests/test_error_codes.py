"""Every error code has a title, a page with examples that are true, and a snapshot.

Those of SepTran, which are about YAML, are in `tests/septran/test_error_codes.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.cli.explain import read_pages, title_of
from eas.frontend_ast.source import codes
from eas.runtime import report_codes
from eas.septran import codes as septran_codes

REPOSITORY = Path(__file__).parent.parent
SOURCES = ("frontend_ast", "ir", "llvm", "msl", "runtime", "support")
TITLES = codes.TITLES | report_codes.TITLES
PAGES = {code: page for code, page in read_pages().items() if not code.startswith("S")}
CODE = re.compile(r"[ER]\d{4}")
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)

INDEX = REPOSITORY / "docs" / "errors.md"
INDEX_HEAD = """\
# Error codes

Codes with an E are errors in the text of a kernel, found when it is compiled; codes with an R are
reports of a kernel that runs. `interpret` finds all of them, `cpu` accesses outside of arrays
(R0101 to R0104) and failed asserts, and so does Metal with `_checked=True`. Codes with an H are
reports of `msl-host`, which [host.md](host.md#check-mode) lists. Codes with an S are mistakes in
the files of SepTran. `eas explain E0312` shows a page in a terminal.

| code | what is wrong |
|---|---|"""

# No kernel leads there: why.
NOT_PROVOKED = {
    "E0120": "the grammar of Python 3.11 has nothing that is newer",
    "E0900": "a fault of the compiler",
    "E0901": "a fault of the compiler",
    "E0902": "its kernel is too long for a page; tests/test_limits.py has one",
    "E1002": "a fault of the compiler; tests/metal/test_libraries.py has one",
}
provoked = pytest.mark.parametrize("code", sorted(set(TITLES) - set(NOT_PROVOKED)))


def test_every_code_in_the_sources_has_a_title_and_every_title_a_use() -> None:
    assert set(codes_in_sources()) == set(TITLES)


def codes_in_sources() -> Iterator[str]:
    tables = {REPOSITORY / "frontend_ast" / "source" / "codes.py"}
    files = {file for folder in SOURCES for file in (REPOSITORY / folder).rglob("*.py")}
    for file in files - tables:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and CODE.fullmatch(value):
                yield value


def test_every_code_has_a_page_with_its_title() -> None:
    assert {code: title_of(page) for code, page in PAGES.items()} == TITLES


def test_the_index_lists_every_code(pytestconfig: pytest.Config) -> None:
    if pytestconfig.option.update_snapshots:
        INDEX.write_text(index(), "utf-8")
    assert INDEX.read_text("utf-8") == index()


def index() -> str:
    every = TITLES | septran_codes.TITLES
    lines = [
        f"| [{code}](../{'septran' if code in septran_codes.TITLES else 'frontend_ast'}"
        f"/explanations/{code}.md) | {title} |"
        for code, title in sorted(every.items())
    ]
    return "\n".join([INDEX_HEAD, *lines, ""])


def test_every_code_has_a_snapshot() -> None:
    texts = [file.read_text("utf-8") for file in (REPOSITORY / "snapshots/errors").glob("*.txt")]
    shown = {code for text in texts for code in re.findall(r"^error\[(\w+)\]", text, re.MULTILINE)}
    assert shown == set(TITLES) - set(NOT_PROVOKED)


@pytest.mark.usefixtures("default_backend")
@provoked
def test_the_wrong_example_of_a_page_has_this_error_and_no_other(code: str, tmp_path: Path) -> None:
    with pytest.raises((eas.CompileError, eas.KernelError)) as caught:
        play(example(code, "Wrong"), tmp_path)
    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {code}


@pytest.mark.usefixtures("default_backend")
@provoked
def test_the_right_example_of_a_page_has_no_error(code: str, tmp_path: Path) -> None:
    play(example(code, "Right"), tmp_path)


def example(code: str, heading: str) -> str:
    """The block of Python below a heading of a page."""
    section = PAGES[code].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    [block] = BLOCK.findall(section)
    return block


def play(block: str, folder: Path) -> None:
    """Runs a block as a file of its own, with the names that every page takes for granted."""
    file = folder / "example.py"
    file.write_text(block, "utf-8")
    names: dict[str, Any] = {"__name__": "example", "np": np, "eas": eas, "mk": mk}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAS_MAX_TRIPS", "1000")
        exec(compile(block, str(file), "exec", dont_inherit=True), names)

"""The documentation is true: its code prints what the page shows, its links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import eas
from eas.cli.passes import rows

REPOSITORY = Path(__file__).parent.parent
PAGES = [
    *("README.md", "docs/language.md", "docs/host.md", "docs/streams.md", "docs/tensors.md"),
    "docs/tuning.md",
    "docs/export.md",
]
LINK = re.compile(r"\]\((?!http)([^)#]+)")
EXCERPT = re.compile(
    r"(<!-- (\S+): ([^\n]+) -->\n```\w+\n)(.*?)(?=^```\n)", re.MULTILINE | re.DOTALL
)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("default_backend")
@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_shows(
    page: str, tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAS_TUNING_FILE", str(tmp_path / "tuning.json"))
    path = REPOSITORY / page
    text = path.read_text("utf-8")
    played = play(text, tmp_path)
    if pytestconfig.option.update_snapshots:
        path.write_text(played, "utf-8")
    else:
        assert text == played


@pytest.mark.parametrize("page", ["docs/matmul.md", "docs/reductions.md", "docs/septran_flat.md"])
def test_excerpts_are_what_the_files_say(page: str, pytestconfig: pytest.Config) -> None:
    path = REPOSITORY / page
    text = path.read_text("utf-8")
    right = EXCERPT.sub(lambda found: found[1] + excerpt(found[2], found[3]), text)
    if pytestconfig.option.update_snapshots:
        path.write_text(right, "utf-8")
    else:
        assert text == right


def test_the_table_of_passes_is_that_of_the_targets(pytestconfig: pytest.Config) -> None:
    path = REPOSITORY / "ARCHITECTURE.md"
    text = path.read_text("utf-8")
    head = "| target | | pass | why it stands there |\n|---|---|---|---|\n"
    table = "".join(f"| {where} | {n} | `{name}` | {why} |\n" for where, n, name, why in rows())
    right = re.sub(f"{re.escape(head)}(\\|.*\n)*", lambda _: head + table, text)
    assert right.count(head) == 1
    if pytestconfig.option.update_snapshots:
        path.write_text(right, "utf-8")
    else:
        assert text == right


def excerpt(file: str, begin: str) -> str:
    """The lines of a file from one that begins like that on, as far as they are indented deeper.

    A last line with a closing brace belongs to them.
    """
    lines = (REPOSITORY / file).read_text("utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if line.lstrip().startswith(begin))
    depth = len(lines[first]) - len(lines[first].lstrip())
    last = first + 1
    deeper = " " * (depth + 1)
    while last < len(lines) and (not lines[last] or lines[last].startswith(deeper)):
        last += 1
    last += lines[last : last + 1] != [] and lines[last].strip() == "}"
    return "".join(f"{line[depth:]}\n" for line in lines[first:last])


@pytest.mark.parametrize(
    "page", sorted(REPOSITORY.glob("*.md")) + sorted(REPOSITORY.glob("*/*.md"))
)
def test_links_lead_to_files(page: Path) -> None:
    links = LINK.findall(FENCE.sub("", page.read_text("utf-8")))
    assert [link for link in links if not (page.parent / link).exists()] == []


def play(text: str, folder: Path) -> str:
    """The page with what its blocks of Python really print, in the blocks right below them."""
    names: dict[str, Any] = {"__name__": "page"}
    parts: list[str] = []
    end, printed = 0, ""
    for block in FENCE.finditer(text):
        between, language, code = text[end : block.start()], block[1], block[2]
        is_output = language != "python" and not between
        assert is_output or not printed, f"the page does not show:\n{printed}"
        parts += [between, f"```{language}\n{printed if is_output else code}```\n"]
        printed = output(code, folder, names) if language == "python" else ""
        end = block.end()
    assert not printed, f"the page does not show:\n{printed}"
    return "".join([*parts, text[end:]])


def output(code: str, folder: Path, names: dict[str, Any]) -> str:
    """What a block prints, and the error that it ends with, as the user reads it."""
    # A file of its own, named after the last kernel: kernels are read from their source.
    kernels = re.findall(r"^def (\w+)", code, re.MULTILINE)
    file = folder / f"{kernels[-1] if kernels else 'example'}.py"
    file.write_text(code, "utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
        try:
            exec(compile(code, str(file), "exec"), names)
        except (eas.CompileError, eas.KernelError, eas.LaunchError) as error:
            print(error)
    text = printed.getvalue().rstrip("\n")
    return f"{text}\n" if text else ""

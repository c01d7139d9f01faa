"""Sixty mistakes: their lines and columns are right, and the same in every form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from eas.cli import main
from tests.editor import sarif
from tests.editor.client import Client
from tests.thorough import sampled, thorough

FOLDER = Path(__file__).parent / "mistakes"
FILES = sorted(path.stem for path in FOLDER.glob("*.py"))
every_file = pytest.mark.parametrize("name", FILES)
MARK = re.compile(r"#(?P<before>[ \t]+)(?P<carets>\^+) (?P<code>E\d{4})")

# Code, line, and the first and last column, as characters from 1 on; the last is exclusive.
Spot = tuple[str, int, int, int]


def lines_of(name: str) -> list[str]:
    return (FOLDER / f"{name}.py").read_text("utf-8").split("\n")


def expected(name: str) -> list[Spot]:
    """The marks below the lines of a file."""
    found: list[Spot] = []
    line = 0
    for number, text in enumerate(lines_of(name), 1):
        mark = MARK.fullmatch(text)
        if mark is None:
            line = number
        else:
            found.append((mark["code"], line, mark.start("carets") + 1, mark.end("carets") + 1))
    return sorted(found, key=lambda spot: spot[1:])


def from_utf16(name: str, line: int, column: int) -> int:
    """A column in UTF-16 units as one in characters; both count from 1."""
    data = lines_of(name)[line - 1].encode("utf-16-le")
    return 1 + len(data[: 2 * (column - 1)].decode("utf-16-le"))


@cache
def checked(form: str) -> Any:
    """What `eas check` prints about all files."""
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr("eas.cli.check.print_text", written.append)
        patch.chdir(FOLDER)
        assert main(["check", *(f"{name}.py" for name in FILES), "--format", form]) == 1
    return json.loads(written[0])


@every_file
@sampled(3)
def test_json_has_the_right_places(name: str) -> None:
    found = [
        (each["code"], place["line"], place["column"], place["endColumn"])
        for each in checked("json")["diagnostics"]
        if (place := each["place"])["path"] == f"{name}.py"
    ]
    assert found == expected(name)


@every_file
@thorough
def test_sarif_has_the_right_places(name: str) -> None:
    found: list[Spot] = []
    for result in checked("sarif")["runs"][0]["results"]:
        physical = result["locations"][0]["physicalLocation"]
        if physical["artifactLocation"]["uri"] == f"{name}.py":
            region = physical["region"]
            line = region["startLine"]
            start, end = region["startColumn"], region["endColumn"]
            columns = from_utf16(name, line, start), from_utf16(name, line, end)
            found.append((result["ruleId"], line, *columns))
    assert found == expected(name)


def test_the_log_of_sarif_is_valid() -> None:
    sarif.validate(checked("sarif"))


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


@sampled(3)
@every_file
def test_the_language_server_has_the_right_places(client: Client, name: str) -> None:
    uri = client.open(FOLDER / f"{name}.py")
    found: list[Spot] = []
    for each in client.diagnostics(uri):
        start, end = each["range"]["start"], each["range"]["end"]
        line = start["line"] + 1
        first, last = start["character"] + 1, end["character"] + 1
        columns = from_utf16(name, line, first), from_utf16(name, line, last)
        found.append((each["code"], line, *columns))
    client.close(uri)
    assert found == expected(name)


def test_there_are_sixty_mistakes_of_many_kinds() -> None:
    spots = [spot for name in FILES for spot in expected(name)]
    assert len(spots) >= 60
    assert len({code for code, *_ in spots}) >= 30

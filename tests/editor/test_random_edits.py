"""Random edits: the server lives on, leaves no stale error, and runs nothing that is not saved."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from eas.analysis.analyze import Options
from eas.analysis.outline import lines_of
from eas.analysis.worker import Session
from tests.editor.client import Client
from tests.editor.test_lsp import PLANTED, TEXT

SECOND = """

@eas.kernel(examples=[("*f32[:]", "i32")])
def second(a, n):
    total = 0.0
    for k in range(n):
        total += a[k] * 2.0
    if total > 1.0:
        a[0] = total
"""
SAVED = TEXT + SECOND
WORDS = [
    *("mk.", "mk.load(a, i)", "laod", "eas", "(", ")", "[", "]", ":", "\n", "    ", "\t", " = "),
    *("def ", "return ", "if ", "for k in range(n):\n", "while True:", "lambda: ", "@eas.kernel\n"),
    *('"', "'''", "#", "\\", "\x0c", "\r\n", "\u2028", "𝒳", "ß", "\u0301", "日", "0", "1e9", "**"),
    *(
        "import os\n",
        "from os import *\n",
        "global a",
        "async ",
        "await ",
        "yield ",
        "del a",
        "...",
    ),
    *("BLOCK = 2 ** 64\n", "a[0] = np.save('x', 1)\n", "mk.arange(0, 1 << 30)", "f'{a}'", "\0"),
]


def edit(text: str, chance: random.Random, planted: str) -> str:
    """A text with one random change: something more, something less, or something else."""
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice([0, 0, 0, 1, 2, 5, 20, 100]))
    new = chance.choice([*WORDS, "", "", planted, text[start:end] * 2])
    return text[:start] + new + text[end:]


def run_edits(count: int, folder: Path) -> None:
    sentinel = folder / "sentinel"
    sentinel.write_text("")
    planted = PLANTED.replace("PATH", repr(str(sentinel)))
    calls = [line + "\n" for line in planted.splitlines() if "remove" in line]
    file = folder / "kernels.py"
    file.write_text(SAVED, "utf-8")
    chance = random.Random(count)
    text = SAVED
    with Client() as client:
        uri = client.open(file)
        assert client.diagnostics(uri) == []
        for number in range(count):
            text = edit(text, chance, chance.choice([planted, *calls]))
            if len(text) > 20_000:
                text = SAVED
            client.type(uri, text)
            if number % 2:  # else the next edit arrives while this one is compiled
                client.diagnostics(uri)
            if number % 10 == 9:
                client.at("textDocument/hover", uri, chance.randrange(40), chance.randrange(40))
            if number % 25 == 24:  # back to what was saved: no error may be left
                client.type(uri, SAVED)
                assert client.diagnostics(uri) == []
                text = SAVED
        client.type(uri, SAVED)
        assert client.diagnostics(uri) == []
        line = SAVED.splitlines().index("        a[0] = total")
        assert "text" in client.request("eas/metal", {"uri": uri, "line": line})
    assert sentinel.exists()


def test_random_edits_leave_the_server_as_it_was(tmp_path: Path) -> None:
    run_edits(100, tmp_path)


@pytest.mark.thorough
def test_ten_thousand_random_edits_leave_the_server_as_it_was(tmp_path: Path) -> None:
    run_edits(10_000, tmp_path)


@pytest.mark.parametrize("seed", range(5))
def test_an_analysis_after_many_others_is_the_same_as_a_first_one(
    tmp_path: Path, seed: int
) -> None:
    """Kernels that did not change are not compiled again: their places are moved."""
    path = str(tmp_path / "kernels.py")
    chance = random.Random(seed)
    session = Session(path, io.BytesIO())
    options = Options(with_names=True)
    lines = lines_of(SAVED)
    for _ in range(20):
        at = chance.randrange(len(lines) + 1)
        if chance.random() < 0.6:
            above = lines[at - 1] if at else ""
            indent = above[: len(above) - len(above.lstrip())]
            lines.insert(
                at, indent + chance.choice(["# a note\n", "\n", "pass\n", "q = nothing\n"])
            )
        elif at < len(lines):
            del lines[at]
        text = "".join(lines)
        first = Session(path, io.BytesIO()).analyze(text, options)
        assert session.analyze(text, options) == first

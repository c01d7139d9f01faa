"""The suite uses all cores where that pays, and leaves thorough tests to `--thorough`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE
from tests.thorough import sampled, thorough

REPOSITORY = Path(__file__).parent.parent
CONFIGURATION = '[tool.pytest.ini_options]\nmarkers = ["sampled", "thorough"]\n'
# The suite's own hooks and fixtures; its environment is this run's already.
HOOKS = """
import tests.conftest
for name, value in vars(tests.conftest).items():
    if name.startswith("pytest_") or name.endswith("_snapshot"):
        globals()[name] = value
"""
TESTS = """
import os
import pytest

def test_always(error_snapshot):
    error_snapshot("always", "text\\n")
    print(os.environ.get("PYTEST_XDIST_WORKER", "one process"))

@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.thorough
def test_thorough(number):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "pyproject.toml": CONFIGURATION,
        "conftest.py": HOOKS,
        "cases/test_cases.py": TESTS,
        "snapshots/errors/always.txt": "text\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Runs the small suite on two cores; how it ends and what it prints."""
    plugins = ("-p", "syrupy", *(() if "no:xdist" in options else ("-p", "xdist")))
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rP", *plugins, *options],
        cwd=folder,
        env={
            **own,
            "PYTHONPATH": str(REPOSITORY),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_XDIST_AUTO_NUM_WORKERS": "2",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return ran.returncode, ran.stdout + ran.stderr


LEFT_OUT = "\n3 thorough tests were left out; --thorough runs them, too.\n"
IN_ONE_PROCESS = [
    ("cases/test_cases.py",),
    ("-p", "no:xdist"),
    *(pytest.param(each, marks=thorough) for each in (("-n", "0"), ("--pdb",), ("-s",))),
    pytest.param(("cases/test_cases.py::test_always",), marks=thorough),
]


@thorough
def test_the_suite_uses_workers_and_says_what_it_leaves_out(folder: Path) -> None:
    code, said = run(folder)
    assert code == 0, said
    assert re.search(r"^gw\d$", said, re.MULTILINE)
    assert LEFT_OUT in said
    assert re.search(r"^1 passed in ", said, re.MULTILINE)


@sampled(2)
@pytest.mark.parametrize("options", IN_ONE_PROCESS, ids=str)
def test_a_few_files_and_these_options_stay_in_one_process(
    folder: Path, options: tuple[str, ...]
) -> None:
    code, said = run(folder, *options)
    assert code == 0, said
    assert "one process" in said
    assert (LEFT_OUT in said) == ("::" not in options[0])


@sampled(2)
@pytest.mark.parametrize("workers", ["0", "2"])
def test_thorough_tests_run_if_they_are_asked_for(folder: Path, workers: str) -> None:
    code, said = run(folder, "--thorough", "-n", workers)
    assert code == 0, said
    assert "4 passed" in said
    assert "left out" not in said


TABLE = """
import pytest

@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", ["interpret", "cpu"])
@pytest.mark.parametrize("dtype", ["i32", "f16", "f32"])
@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_table(backend, dtype, size):
    print(backend, dtype, size)
"""


def test_a_sample_of_a_table_has_all_values(folder: Path) -> None:
    (folder / "cases/test_cases.py").write_text(TABLE)
    said = run(folder, "-p", "no:xdist")[1]
    ran = re.findall(r"^(interpret|cpu) (i32|f16|f32) (1|7|64)$", said, re.MULTILINE)
    assert ran == [("interpret", "i32", "1"), ("cpu", "f16", "7"), ("interpret", "f32", "64")]


@thorough
def test_an_unused_snapshot_is_found_although_thorough_tests_are_left_out(folder: Path) -> None:
    (folder / "snapshots/errors/old.txt").write_text("text\n")
    code, said = run(folder)
    assert code == 1, said
    assert "1 snapshot unused" in said
    code, said = run(folder, "--snapshot-update")
    assert code == 0, said
    assert not (folder / "snapshots/errors/old.txt").exists()
    assert (folder / "snapshots/errors/always.txt").exists()

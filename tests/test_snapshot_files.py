"""A snapshot that is missing, changed or unused fails, and `--snapshot-update` accepts it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.thorough import sampled, thorough

REPOSITORY = Path(__file__).parent.parent
in_one_process_and_two = pytest.mark.parametrize(
    "workers", [(), ("-n", "2")], ids=["one_process", "two_workers"]
)
SUITE = """
from tests.conftest import error_snapshot, ir_snapshot, metal_snapshot

def test_two_files(metal_snapshot, ir_snapshot):
    metal_snapshot("add", "kernel void add\\n")
    ir_snapshot("add", "func add\\n")

def test_an_error(error_snapshot):
    error_snapshot("unbound", "error: é is not bound\\n")
"""
STORED = {
    "kernels/add.metal": "kernel void add\n",
    "kernels/add.ir": "func add\n",
    "errors/unbound.txt": "error: é is not bound\n",
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_suite.py").write_text(SUITE)
    for name, text in STORED.items():
        path = tmp_path / "snapshots" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def outcome(suite: Path, *options: str) -> str:
    """Runs the small suite; its last line, and a remark if it failed although each test passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "syrupy", "-p", "xdist"]
    environment = {"PYTHONPATH": str(REPOSITORY), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(
        [*command, *options],
        cwd=suite,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    summary = re.sub(r" in \d.*", "", ran.stdout.strip().splitlines()[-1])
    return (
        f"{summary}, but not all is well" if ran.returncode and "failed" not in summary else summary
    )


def texts(suite: Path) -> dict[str, str]:
    folder = suite / "snapshots"
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in files}


def test_update_writes_exactly_the_texts(suite: Path) -> None:
    for name in STORED:
        (suite / "snapshots" / name).unlink()
    assert outcome(suite, "--snapshot-update") == "2 passed"
    assert texts(suite) == STORED


@sampled(2)
@in_one_process_and_two
def test_stored_snapshots_pass(suite: Path, workers: tuple[str, ...]) -> None:
    assert outcome(suite, *workers) == "2 passed"


def test_a_missing_snapshot_fails(suite: Path) -> None:
    (suite / "snapshots/kernels/add.ir").unlink()
    assert outcome(suite) == "1 failed, 1 passed"


def test_a_changed_snapshot_fails(suite: Path) -> None:
    (suite / "snapshots/kernels/add.metal").write_text("kernel void add")
    assert outcome(suite) == "1 failed, 1 passed"


@sampled(2)
@in_one_process_and_two
def test_an_unused_snapshot_fails(suite: Path, workers: tuple[str, ...]) -> None:
    (suite / "snapshots/kernels/subtract.ir").write_text("func subtract\n")
    assert outcome(suite, *workers) == "2 passed, but not all is well"


@sampled(2)
@pytest.mark.parametrize("selection", [("-k", "two"), ("test_suite.py::test_two_files",)])
def test_a_selection_of_tests_leaves_other_snapshots_alone(
    suite: Path, selection: tuple[str, ...]
) -> None:
    (suite / "snapshots/kernels/two.ir").write_text("func two\n")
    assert outcome(suite, *selection, "--snapshot-update").startswith("1 passed")
    assert "kernels/two.ir" in texts(suite)


@thorough
def test_update_deletes_unused_snapshots(suite: Path) -> None:
    (suite / "snapshots/errors/old.txt").write_text("error\n")
    assert outcome(suite, "--snapshot-update") == "2 passed"
    assert "errors/old.txt" not in texts(suite)

"""Hooks and fixtures for all tests: how the suite runs, a cache of its own, snapshots."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from syrupy.assertion import SnapshotAssertion

from eas.config import automatic
from eas.msl.host import toolchain
from tests import suite
from tests.processes import PATIENCE
from tests.snapshot_files import (
    CFile,
    ErrorFile,
    ExampleFile,
    ExplanationFile,
    FlatFile,
    IrFile,
    MetalFile,
    PythonFile,
    SeptranErrorFile,
    TextFile,
)

# No test depends on how busy the machine is.
settings.register_profile("eas", deadline=None, max_examples=suite.EXAMPLES)
settings.register_profile("thorough", deadline=None)

# Takes the file's name without its suffix, and the text that should be in it.
SnapshotCheck = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "run the thorough tests, too, and more random programs in the others"
    parser.addoption("--thorough", action="store_true", help=words)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "eas")
    _hear_ctrl_c()


def _hear_ctrl_c() -> None:
    """A shell has jobs in the background ignore Ctrl-C; tests send it to processes of their own."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist starts workers
def pytest_cmdline_main(config: pytest.Config) -> None:
    suite.choose_workers(config)


# Before syrupy looks: it finds unused snapshots only if no test that it has seen is deselected.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    suite.leave_out_thorough(config, items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    suite.send_left_out(session)


@pytest.hookimpl(optionalhook=True)  # there is no such hook without pytest-xdist
def pytest_testnodedown(node: Any) -> None:
    suite.receive_left_out(node.config, getattr(node, "workeroutput", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    suite.report_left_out(terminalreporter)


@pytest.fixture(scope="module", autouse=True)
def _frozen_objects() -> None:
    suite.freeze_objects()


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run, which all workers share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if hasattr(request.config, "workerinput") else folder


@pytest.fixture(scope="session", autouse=True)
def _own_environment(request: pytest.FixtureRequest, run_folder: Path) -> Iterator[None]:
    """Kernels are compiled once per run, not taken from other runs, and verified at each pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAS_VERIFY", "1")
        patch.setenv("EAS_CACHE_DIR", str(run_folder / "cache"))
        suite.prepare_children(patch, request.config.rootpath, run_folder / "bytecode")
        yield


@pytest.fixture(scope="session", autouse=True)
def _much_time() -> Iterator[None]:
    """What limits time is for users: here the machine may be busy, or halt a process for others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toolchain, "SECONDS", PATIENCE)
        for variable in ("EAS_HOST_SECONDS", "EAS_METAL_SECONDS"):
            patch.setenv(variable, str(PATIENCE))
        yield


@pytest.fixture(scope="session", autouse=True)
def _same_backend_everywhere() -> Iterator[None]:
    """A Mac's default is its GPU, which reports no faults."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAS_BACKEND", os.environ.get("EAS_BACKEND", "interpret"))
        yield


@pytest.fixture
def default_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches as those of a reader who sets nothing; on a Mac, as on one without a GPU."""
    monkeypatch.delenv("EAS_BACKEND")
    if automatic() == "metal":
        monkeypatch.setenv("EAS_BACKEND", "cpu")


@pytest.fixture
def metal_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/kernels/<name>.metal`."""
    return _check(snapshot, MetalFile)


@pytest.fixture
def ir_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/kernels/<name>.ir`."""
    return _check(snapshot, IrFile)


@pytest.fixture
def error_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/errors/<name>.txt`."""
    return _check(snapshot, ErrorFile)


@pytest.fixture
def flat_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/septran/<name>.flat`."""
    return _check(snapshot, FlatFile)


@pytest.fixture
def septran_error_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/septran/errors/<name>.txt`."""
    return _check(snapshot, SeptranErrorFile)


@pytest.fixture
def explanation_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/septran/<name>.explain.txt`."""
    return _check(snapshot, ExplanationFile)


@pytest.fixture
def c_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/septran/<name>.c`."""
    return _check(snapshot, CFile)


@pytest.fixture
def python_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/septran/<name>.py.txt`."""
    return _check(snapshot, PythonFile)


@pytest.fixture
def example_snapshot(snapshot: SnapshotAssertion) -> SnapshotCheck:
    """Compares with `snapshots/examples/<name>.txt`."""
    return _check(snapshot, ExampleFile)


def _check(snapshot: SnapshotAssertion, file: type[TextFile]) -> SnapshotCheck:
    stored = snapshot.use_extension(file)

    def check(name: str, text: str) -> None:
        assert text == stored(name=name)

    return check

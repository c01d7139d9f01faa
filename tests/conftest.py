"""Fixtures for all tests: a cache of their own, and texts that are compared with a snapshot."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings
from syrupy.assertion import SnapshotAssertion

from eas.config import automatic
from eas.msl.host import toolchain
from tests.processes import PATIENCE
from tests.snapshot_files import ErrorFile, IrFile, MetalFile, TextFile

# No test depends on how busy the machine is.
settings.register_profile("eas", deadline=None)
settings.load_profile("eas")

# Takes the file's name without its suffix, and the text that should be in it.
SnapshotCheck = Callable[[str, str], None]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAS_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _verified_passes() -> Iterator[None]:
    """Every function is verified after every pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAS_VERIFY", "1")
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


def _check(snapshot: SnapshotAssertion, file: type[TextFile]) -> SnapshotCheck:
    stored = snapshot.use_extension(file)

    def check(name: str, text: str) -> None:
        assert text == stored(name=name)

    return check

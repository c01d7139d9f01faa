"""Tests of the backend `metal`: on a simulated Mac, or on this one if that is asked for.

Tests with `any_gpu` are those that every GPU must pass.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from eas.msl.host import Builder, Host, Limits
from eas.support.cache import open_cache
from tests.backends import IS_ON_DEVICE
from tests.metal.forgetting import forget_device
from tests.metal.session import Session
from tests.metal.simulated import Machine, installed
from tests.processes import PATIENCE


@pytest.fixture(scope="session")
def metal_host() -> Iterator[Host]:
    """What runs the kernels of simulated Macs."""
    host = Host(Builder(open_cache()), Limits(PATIENCE))
    yield host
    host.stop()


@pytest.fixture
def machine(metal_host: Host, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A simulated Mac whose GPU is the backend; whatever was made must be freed in the end."""
    gc.freeze()  # the collection below goes through the objects of this test only
    machine = Machine(metal_host)
    monkeypatch.setenv("EAS_BACKEND", "metal")
    with installed(machine):
        forget_device()
        yield machine
        machine.end.set()
        forget_device()
        gc.collect()
    assert machine.troubles == []


@pytest.fixture
def session(machine: Machine) -> Iterator[Session]:
    """A kernel that is ready, and commands that run, on a simulated Mac."""
    del machine
    session = Session()
    yield session
    session.close()


@pytest.fixture
def any_gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU of this machine or of a simulated one is the backend."""
    if IS_ON_DEVICE:
        monkeypatch.setenv("EAS_BACKEND", "metal")
    else:
        # What the compiler writes is inspected in tests/host, and that takes a while.
        request.getfixturevalue("machine").is_strict = False

"""Tests of the backend `metal`: on a simulated Mac, or on the real one if that is asked for.

`EAS_TEST_METAL=device` has the tests that any GPU must pass run on this machine's.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from eas.msl.host import Builder, Host, Limits
from eas.msl.host.cache import open_cache
from eas.runtime.metal import device
from tests.metal.simulated import Machine, install


@pytest.fixture(scope="session")
def metal_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """What runs the kernels of simulated Macs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAS_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        host = Host(Builder(open_cache()), Limits(seconds=20.0))
        yield host
        host.stop()


@pytest.fixture
def machine(metal_host: Host, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A simulated Mac whose GPU is the backend; whatever was made must be freed in the end."""
    machine = Machine(metal_host)
    install(machine, monkeypatch)
    monkeypatch.setenv("EAS_BACKEND", "metal")
    forget_device()
    yield machine
    forget_device()
    gc.collect()
    assert (machine.leaked, machine.strays) == ([], [])


@pytest.fixture
def any_gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU of this machine or of a simulated one is the backend."""
    if os.environ.get("EAS_TEST_METAL") == "device":
        monkeypatch.setenv("EAS_BACKEND", "metal")
    else:
        # What the compiler writes is inspected in tests/host, and that takes a while.
        request.getfixturevalue("machine").is_strict = False


def forget_device() -> None:
    """Has the next launch open the GPU anew."""
    device.opened.cache_clear()

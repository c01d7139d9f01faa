"""Tests of kernels that run on this machine's CPU: with a host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eas.msl.host import Builder, Host, Limits
from eas.support.cache import open_cache
from tests.processes import PATIENCE


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """A host that has time."""
    host = Host(Builder(open_cache()), Limits(PATIENCE))
    yield host
    host.stop()


@pytest.fixture(scope="session")
def checked_host() -> Iterator[Host]:
    """A host that watches every access."""
    host = Host(Builder(open_cache()), Limits(PATIENCE), is_checked=True)
    yield host
    host.stop()

"""Tests of kernels that run on this machine's CPU: with a host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eas.ir.cache import open_cache
from eas.msl.host import Builder, Host, Limits


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """A host with little patience."""
    host = Host(Builder(open_cache()), Limits(seconds=20.0))
    yield host
    host.stop()


@pytest.fixture(scope="session")
def checked_host() -> Iterator[Host]:
    """A host that watches every access."""
    host = Host(Builder(open_cache()), Limits(seconds=60.0), is_checked=True)
    yield host
    host.stop()

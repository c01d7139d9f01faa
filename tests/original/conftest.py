"""What users of the first easy_as know, on every backend and on the GPU of a simulated Mac."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import eas
from tests.metal.conftest import any_gpu, machine, metal_host

__all__ = ["any_gpu", "everywhere", "machine", "metal_host"]


@pytest.fixture(params=["interpret", "cpu", "msl-host", "metal"])
def everywhere(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each backend in turn is the one of all launches."""
    if request.param == "metal":
        request.getfixturevalue("any_gpu")
    with eas.use_backend(request.param):
        yield request.param

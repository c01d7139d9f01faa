"""A plugin of pytest: with `-p tests.metal.everywhere` this machine is a simulated Mac.

`EAS_BACKEND=metal EAS_TEST_METAL=device` then does what it does on a real one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eas.msl.host import default_host
from tests.metal.simulated import Machine, install


@pytest.fixture(scope="session", autouse=True)
def _simulated_mac() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        install(Machine(default_host(), is_strict=False), patch)
        yield

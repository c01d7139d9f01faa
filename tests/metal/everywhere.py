"""A plugin of pytest: with `-p tests.metal.everywhere` this machine is a simulated Mac.

`EAS_BACKEND=metal EAS_TEST_METAL=device` then does what it does on a real one.
"""

from __future__ import annotations

from eas.msl.host import default_host
from tests.metal.simulated import Machine, install


def pytest_configure() -> None:
    # What the compiler writes is inspected in tests/host, and that takes a while.
    install(Machine(default_host(), is_strict=False))

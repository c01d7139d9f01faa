"""Nothing that Python has on POSIX only is needed for a launch.

There is no Windows here: its absence of names is simulated, see `without_posix.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.processes import PATIENCE
from tests.thorough import thorough

CORE = (
    *("tests/test_kernel.py", "tests/test_launch.py", "tests/frontend/test_records.py"),
    *("tests/frontend/test_loops.py", "tests/cpu/test_privatization.py"),
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python as it is without the settings of this suite."""
    ours = ("EAS_BACKEND", "PYTEST_ADDOPTS")
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={name: value for name, value in os.environ.items() if name not in ours},
    )


@thorough
def test_the_core_of_the_suite_passes_without_the_names_of_posix(tmp_path: Path) -> None:
    options = (
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        f"--basetemp={tmp_path / 'base'}",
        "-k",
        "not host",
    )
    done = run("-m", "pytest", "-p", "tests.without_posix", *options, *CORE)
    assert done.returncode == 0, done.stdout + done.stderr


PROGRAM = """
import sys
import numpy as np
import tests.without_posix

sys.platform = "win32"
import eas
from eas.msl.host import HostError, default_host
from tests.kernels.add import add

a, c = np.ones(100, "f4"), np.zeros(100, "f4")
add(a, a, c, 100, BLOCK=64)
assert (c == 2).all()
for backend in ("cpu", "msl-host"):
    try:
        add(a, a, c, 100, BLOCK=64, _backend=backend)
    except eas.LaunchError as error:
        print(error)
try:
    default_host()
except HostError as error:
    print(error)
"""


def test_windows_has_the_interpreter_only() -> None:
    encodings = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")  # the machine's own
    done = run(*encodings, "-c", PROGRAM)
    assert (done.stdout, done.stderr) == (
        "kernel `add`: the backend `cpu` is not available here; available: interpret\n"
        "kernel `add`: the backend `msl-host` is not available here; available: interpret\n"
        "kernels run on Linux and macOS only, not on `win32`\n",
        "",
    )

"""Whether TVM or TileLang can be imported, found out in a process of its own.

They are large, and an installation with the wrong companion library does not raise an exception but
ends the process. So the package never imports them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import Literal

from eas.support.records import frozen

Peer = Literal["tvm", "tilelang"]

_SECONDS = 120.0
_PROGRAM = """
import json, sys
module = __import__(sys.argv[1])
print(json.dumps({"version": str(module.__version__)}))
"""


@frozen
class Probe:
    """What importing a package comes to: its version, or why it cannot be imported."""

    peer: Peer
    python: str
    version: str | None
    reason: str = ""

    @property
    def is_there(self) -> bool:
        return self.version is not None


@cache
def probe(peer: Peer, python: str = sys.executable) -> Probe:
    """Imports a package with some Python, in a process that may die of it."""
    try:
        done = subprocess.run(
            [python, "-c", _PROGRAM, peer],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Probe(peer, python, None, str(error))
    if done.returncode == 0:
        return Probe(peer, python, json.loads(done.stdout.splitlines()[-1])["version"])
    said = done.stderr.strip().splitlines()
    return Probe(peer, python, None, said[-1] if said else f"it ended with {done.returncode}")

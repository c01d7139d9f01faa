"""Triton's interpreter, in a Python of its own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = Path(__file__).with_name("peers") / "with_triton.py"


@dataclass
class Triton:
    """`missing` says why there is none; it is known after a time was requested."""

    python: str
    missing: str = ""

    def seconds(self, name: str, size: str) -> float | None:
        """How long it takes for a kernel of that size, if it has it."""
        if not self.python:
            self.missing = "no --triton-python was given"
        if not size or self.missing:
            return None
        command = [self.python, str(_SCRIPT), name, size]
        environment = os.environ | {"TRITON_INTERPRET": "1"}
        try:
            done = subprocess.run(
                command, check=True, capture_output=True, text=True, env=environment
            )
        except OSError as error:
            self.missing = str(error)
        except subprocess.CalledProcessError as error:
            self.missing = (error.stderr.strip().splitlines() or ["no output"])[-1]
        else:
            return json.loads(done.stdout)[name]
        return None

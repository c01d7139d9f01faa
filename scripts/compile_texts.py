"""Compiles Metal texts on this machine's GPU, and prints a line of JSON about each.

    python -m scripts.compile_texts snapshots/kernels/add.metal ...

`scripts/on_a_mac.py` runs it as a process of its own, because Metal may end it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from eas.runtime import metal


def main(files: Sequence[str]) -> int:
    """The first line describes the GPU. Each other line has the complaint about one text, or ''."""
    why = metal.missing()
    if why:
        _print({"missing": why})
        return 2
    device = metal.default_device()
    _print({"GPU": device.name, "macOS": ".".join(map(str, device.system))})
    for file in files:
        _print({"complaint": compile_on(device, read_program(Path(file)))})
    return 0


def _print(line: dict[str, str]) -> None:
    print(json.dumps(line), flush=True)


def compile_on(device: metal.Device, program: metal.Program) -> str:
    """The complaint about a program; empty if the GPU can run it."""
    try:
        device.pipeline(program)
    except metal.MetalError as error:
        return error.message
    return ""


def read_program(file: Path) -> metal.Program:
    """A text, with the kernel and the version of the language that its head names."""
    text = file.read_text("utf-8")
    kernel = re.search(r"^kernel void (\w+)\(", text, re.MULTILINE)
    version = re.search(r"· Metal (\d+)\.(\d+)$", text, re.MULTILINE)
    if kernel is None or version is None:
        raise ValueError(f"{file} has no kernel, or does not say which Metal it is written in")
    return metal.Program(text, kernel[1], (int(version[1]), int(version[2])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

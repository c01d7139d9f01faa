"""Compiles Metal texts on the GPU at hand, and tells as JSON, line by line, how that goes.

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
    """The first line is about the GPU, the others about a text each: what speaks against it."""
    why = metal.missing()
    if why:
        _tell({"missing": why})
        return 2
    device = metal.default_device()
    _tell({"GPU": device.name, "macOS": ".".join(map(str, device.system))})
    for file in files:
        _tell({"told": compile_on(device, read_program(Path(file)))})
    return 0


def _tell(line: dict[str, str]) -> None:
    print(json.dumps(line), flush=True)


def compile_on(device: metal.Device, program: metal.Program) -> str:
    """What speaks against a program; nothing if the GPU can run it."""
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

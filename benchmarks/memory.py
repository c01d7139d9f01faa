"""Memory over many redefinitions and launches: `python -m benchmarks.memory`.

Each is measured in a process of its own, the worker of `msl-host` included, after a tenth of the
whole has been done: what is allocated once is allocated by then.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BACKENDS = ("cpu", "interpret", "msl-host")
_N, _BLOCK = 64, 32
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

Step = Callable[[int], None]


def launch_again(backend: str) -> Step:
    """Launches one kernel, over and over."""
    kernel, x, y = _define(3), *np.ones((2, _N), np.float32)

    def step(number: int) -> None:
        kernel(x, y, _N, BLOCK=_BLOCK, _backend=backend)

    return step


def define_again(backend: str) -> Step:
    """Defines and launches a kernel with the same text each time, as a function that makes one."""
    x, y = np.ones((2, _N), np.float32)

    def step(number: int) -> None:
        _define(3)(x, y, _N, BLOCK=_BLOCK, _backend=backend)

    return step


def define_another(backend: str) -> Step:
    """Defines and launches a kernel with another text each time, as one who edits a cell."""
    x, y = np.ones((2, _N), np.float32)

    def step(number: int) -> None:
        _define(number)(x, y, _N, BLOCK=_BLOCK, _backend=backend)

    return step


STEPS: dict[str, Callable[[str], Step]] = {
    "launches": launch_again,
    "redefinitions": define_again,
    "redefinitions with another text": define_another,
}

_TEXT = """\
import eas
from eas import mk

@eas.kernel
def scale(x, y, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y + offs, mk.load(x + offs, mask=offs < N) * FACTOR, mask=offs < N)
"""


def _define(factor: int) -> Any:
    """A kernel, its text under the name of the one before, as `importlib.reload` would have it."""
    text = _TEXT.replace("FACTOR", str(factor))
    linecache.cache["<memory>"] = (len(text), None, text.splitlines(keepends=True), "<memory>")
    names: dict[str, Any] = {}
    exec(compile(text, "<memory>", "exec"), names)
    return names["scale"]


def grown(step: Step, count: int) -> tuple[int, int]:
    """The bytes that this process and its children had after a tenth of the steps, and at last."""
    first = count // 10
    for number in range(first):
        step(number)
    before = resident()
    for number in range(first, count):
        step(number)
    return before, resident()


def resident() -> int:
    """The bytes in memory of this process and its children."""
    gc.collect()
    mine = os.getpid()
    return sum(_resident_of(pid) for pid in (mine, *_children(mine)))


def _resident_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:  # there is no such folder here
        return int(_output_of_ps("-o", "rss=", "-p", str(pid))) * 1024


def _children(pid: int) -> list[int]:
    rows = [line.split() for line in _output_of_ps("-A", "-o", "pid=,ppid=,comm=").splitlines()]
    return [int(row[0]) for row in rows if int(row[1]) == pid and row[2] != "ps"]


def _output_of_ps(*options: str) -> str:
    return subprocess.run(["ps", *options], check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=BACKENDS)
    parser.add_argument("--redefinitions", type=int, default=10_000)
    parser.add_argument("--launches", type=int, default=100_000)
    parser.add_argument("--here", nargs=2, metavar=("WHAT", "BACKEND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        what, backend = options.here
        count = options.launches if what == "launches" else options.redefinitions
        before, after = grown(STEPS[what](backend), count)
        each = (after - before) / (count - count // 10)
        sizes = f"{before / 2**20:.1f} MB, then {after / 2**20:.1f} MB"
        print(f"{backend}, {count} {what}: {sizes}, {each:+.1f} bytes each")
        return
    for backend in options.backends:
        for what in STEPS:
            _measure_apart(what, backend)


def _measure_apart(what: str, backend: str) -> None:
    command = [sys.executable, "-m", "benchmarks.memory", *sys.argv[1:], "--here", what, backend]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, check=True, env=os.environ | {"EAS_CACHE_DIR": folder})


if __name__ == "__main__":
    main()

"""Time over size, on one thread and on all: `python -m benchmarks.growth`.

The number of threads is read when a process starts, so each is measured in one of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import cpu_kernels as ours
from benchmarks.measuring import timed

SIZES = [1 << n for n in range(10, 27)]  # 1 K to 64 M elements
_SECONDS = 0.1  # for one size of one kernel

Times = dict[str, list[float]]  # seconds per size, by the name of a line


def measure(threads: int) -> Times:
    """Seconds of a launch for all sizes, on so many threads."""
    environment = os.environ | {"EAS_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "benchmarks.growth", "here"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def measure_here() -> Times:
    return {name: [_best(run) for run in runs] for name, runs in _lines().items()}


def _lines() -> dict[str, Iterator[Callable[[], object]]]:
    return {"add": map(_add, SIZES), "softmax": map(_softmax, SIZES), "gelu": map(_gelu, SIZES)}


def _add(n: int) -> Callable[[], object]:
    a, b, c = np.ones((3, n), np.float32)
    return lambda: ours.add(a, b, c, n, BLOCK=1024, _backend="cpu")


def _softmax(n: int) -> Callable[[], object]:
    x, y = np.ones((2, n), np.float32)
    return lambda: ours.softmax[n // 1024](x, y, 1024, BLOCK=1024, _backend="cpu")


def _gelu(n: int) -> Callable[[], object]:
    x, y = np.ones((2, n), np.float32)
    return lambda: ours.gelu(x, y, n, BLOCK=1024, _backend="cpu")


def _best(run: Callable[[], Any]) -> float:
    run()
    once = timed(run, 1)
    repeats = max(1, int(0.001 / once))
    rounds = max(3, int(_SECONDS / max(once * repeats, 1e-6)))
    return min(timed(run, repeats) for _ in range(rounds))


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure_here()))
        return
    for threads in (1, os.cpu_count() or 1):
        for name, times in measure(threads).items():
            parts = (f"{1e9 * t / n:.3f}" for n, t in zip(SIZES, times, strict=True))
            print(f"{name}, {threads} threads, ns per element: {' '.join(parts)}")


if __name__ == "__main__":
    main()

"""How long the first launch of a process takes: `python -m benchmarks.first_call`.

Each time is of a process of its own: the first `add` of 1,024 numbers, with everything imported;
once with no compiled code on disk, once with what the process before has left there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("eas", "numba", "taichi", "warp")
COLD, CACHED = "cold compile of add", "add from the disk cache"
LIMITS = {COLD: 60e-3, CACHED: 5e-3}  # seconds
_FOLDERS = ("EAS_CACHE_DIR", "NUMBA_CACHE_DIR", "TI_OFFLINE_CACHE_FILE_PATH", "WARP_CACHE_PATH")


def measure(name: str, rounds: int) -> dict[str, float]:
    """The best seconds of a first launch, by what it finds on disk."""
    cold: list[float] = []
    cached: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(_in_fresh_process(name, Path(folder)))
            cached.append(_in_fresh_process(name, Path(folder)))
    return {COLD: min(cold), CACHED: min(cached)}


def _in_fresh_process(name: str, folder: Path) -> float:
    environment = os.environ | dict.fromkeys(_FOLDERS, str(folder))
    command = [sys.executable, "-m", "benchmarks.first_call", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout.split()[-1])


def time_here(name: str) -> float:
    """Seconds of the first launch in this process."""
    arrays: list[Any] = [np.ones(1024, np.float32) for _ in range(3)]
    if name == "eas":
        add: Any = import_module("benchmarks.cpu_kernels").add
        start = time.perf_counter()
        add(*arrays, 1024, BLOCK=1024, _backend="cpu")
        return time.perf_counter() - start
    module = import_module(f"benchmarks.peers.with_{name}")
    if name == "numba":
        module.add.enable_caching()
    arrays = [getattr(module, "shared", lambda array: array)(array) for array in arrays]
    start = time.perf_counter()
    module.add(*arrays)
    return time.perf_counter() - start


def main() -> None:
    if len(sys.argv) > 1:
        print(time_here(sys.argv[1]))
        return
    for name in NAMES:
        try:
            times = measure(name, 3)
        except subprocess.CalledProcessError as error:
            print(f"{name} is missing: {error.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        print(name, *(f"{what}: {1000 * seconds:.1f} ms" for what, seconds in times.items()))


if __name__ == "__main__":
    main()

"""`septran tune --auto` beside TVM's MetaSchedule: as many trials, the same gemm, as many threads.

`EAS_TVM_PYTHON=tvm/bin/python python -m benchmarks.metaschedule` lets each search in processes of
its own, one after the other, and then times what they found interleaved. The environment is that of
`.ci/tvm.txt` with `xgboost-cpu`, `cloudpickle`, `psutil`, `scipy` and `tornado`.

MetaSchedule is run twice: for this computer's processor, and for the processor that LLVM assumes
where none is named (`--cpu` chooses one of the two). We always compile for this computer.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.run import machine
from eas.septran.operators import load

ROOT = Path(__file__).parent.parent
LOGIC = ROOT / "examples" / "septran" / "gemm" / "gemm_logic.py"
PEER = Path(__file__).parent / "metaschedule_search.py"
CPUS = ("native", "default")
_WARMUP, _RUNS = 60, 20  # before and in a sample; threads that slept need some runs to be back
_REST = 0.1  # seconds in which the threads of the other process stop spinning


@dataclass(frozen=True)
class Found:
    """What a search took, and samples of what it found."""

    name: str
    search: float
    samples: list[float]

    @property
    def seconds(self) -> float:
        return statistics.median(self.samples)


def main() -> None:
    options = _parser().parse_args()
    python = os.environ.get("EAS_TVM_PYTHON", "")
    if not python:
        raise SystemExit("EAS_TVM_PYTHON names no Python with TVM")
    os.environ["EAS_NUM_THREADS"] = str(options.threads)
    console = Console()
    console.print(machine())
    console.print(
        f"gemm of {options.size}, f32, {options.threads} threads, {options.trials} trials"
    )
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "best.map.yaml"
        seconds = search_ours(options, ours)
        for cpu in options.cpu or CPUS:
            console.print(table(*compare(options, python, cpu, ours, seconds)))


def search_ours(options: argparse.Namespace, export: Path) -> float:
    """Seconds of our search, from the start of its process to the mapping in a file."""
    sizes = ",".join(f"{name}={options.size}" for name in "MNK")
    command = [sys.executable, "-m", "eas.septran", "tune", str(LOGIC), "--auto"]
    command += ["--machine", "cpu", "--shape", sizes, "--trials", str(options.trials)]
    command += ["--seed", str(options.seed), "--export", str(export)]
    command += ["--db", str(export.with_suffix(".sqlite"))]
    start = time.perf_counter()
    subprocess.run(command, check=True, env=_environment(options), stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(
    options: argparse.Namespace, python: str, cpu: str, ours: Path, seconds: float
) -> tuple[Found, Found]:
    """Our mapping and MetaSchedule's function, timed interleaved."""
    random = np.random.default_rng(0)
    shape = (options.size, options.size)
    arrays = [random.standard_normal(shape).astype(np.float32) for _ in range(3)]
    operator = load(LOGIC, ours)
    with peer(options, python, cpu) as (facts, ask):
        operator(*arrays)
        own, other = list[float](), list[float]()
        for _ in range(options.rounds):
            time.sleep(_REST)
            for _ in range(_WARMUP):
                operator(*arrays)
            start = time.perf_counter()
            for _ in range(_RUNS):
                operator(*arrays)
            own.append((time.perf_counter() - start) / _RUNS)
            time.sleep(_REST)
            other.append(ask())
    name = f"MetaSchedule {facts['version']}, " + (facts["cpu"] or "LLVM's default processor")
    return Found("septran tune --auto", seconds, own), Found(name, facts["seconds"], other)


@contextmanager
def peer(
    options: argparse.Namespace, python: str, cpu: str
) -> Generator[tuple[Any, Callable[[], float]]]:
    """MetaSchedule's process after its search: what it says, and a function that takes a sample."""
    numbers = (options.size, options.trials, options.threads, cpu, options.seed)
    command = [python, str(PEER), *map(str, numbers)]
    process = subprocess.Popen(
        command,
        env=_environment(options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if options.verbose else subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    inward, outward = process.stdin, process.stdout
    try:
        facts = json.loads(_line(process, outward))
        if facts["error"] > 1e-2:
            raise SystemExit(f"MetaSchedule's result is wrong by {facts['error']}")

        def ask() -> float:
            print(_WARMUP, _RUNS, file=inward, flush=True)
            return float(_line(process, outward))

        yield facts, ask
    finally:
        inward.close()
        process.wait()


def _line(process: subprocess.Popen[str], outward: IO[str]) -> str:
    line = outward.readline()
    if not line:
        raise SystemExit(f"MetaSchedule's process ended with {process.wait()}: try --verbose")
    return line


def _environment(options: argparse.Namespace) -> dict[str, str]:
    threads = str(options.threads)
    return {**os.environ, "EAS_NUM_THREADS": threads, "TVM_NUM_THREADS": threads}


def table(ours: Found, other: Found) -> Table:
    made = Table(box=None, pad_edge=False)
    for title in ("", "search, s", "result, ms", "fastest, ms"):
        made.add_column(title, justify="right" if title else "left")
    for found in (ours, other):
        fastest = f"{min(found.samples) * 1e3:.3f}"
        made.add_row(found.name, f"{found.search:.0f}", f"{found.seconds * 1e3:.3f}", fastest)
    speed, share = other.seconds / ours.seconds, ours.search / other.search
    made.add_row("ours", f"{share:.2f} of the time", f"{speed:.2f} times as fast", "")
    return made


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--cpu", action="append", choices=CPUS)
    parser.add_argument("--verbose", action="store_true", help="show what TVM prints")
    return parser


if __name__ == "__main__":
    main()

"""How long the first compile of a kernel takes: `python -m benchmarks.compile_time`.

Each time is of a fresh process: the first `to_msl` of the kernel, the imports not counted. The best
of them is what the machine can do, the median shows how busy it is.
"""

from __future__ import annotations

import inspect
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

from rich.console import Console
from rich.progress import track
from rich.table import Table

import eas.msl
from benchmarks import kernels

PROCESSES = 15


@dataclass(frozen=True)
class Job:
    """A kernel of `benchmarks.kernels`, types for it, and the milliseconds it may take."""

    kernel: str
    types: tuple[str, ...]
    constants: dict[str, int | float]
    limit: float


JOBS = (
    Job("add", ("*f32", "*f32", "*f32", "i32"), {"BLOCK": 256}, 5),
    Job(
        "lattice_boltzmann",
        ("*f32", "*f32", "*bool", "*f32", "i32", "i32"),
        {"OMEGA": 1.7, "FASTEST": 0.2, "BLOCK": 256},
        50,
    ),
)


def main() -> None:
    table = Table("kernel", "lines", "best", "median", "limit", title="The first to_msl, in ms")
    for number, job in enumerate(JOBS):
        times = [time_in_fresh_process(number) for _ in track(range(PROCESSES), job.kernel)]
        colour = "green" if min(times) < job.limit else "red"
        best = f"[{colour}]{min(times):.2f}[/{colour}]"
        median = f"{statistics.median(times):.2f}"
        table.add_row(job.kernel, str(lines_of(job)), best, median, f"{job.limit:g}")
    Console().print(table)


def time_in_fresh_process(number: int) -> float:
    command = [sys.executable, "-m", "benchmarks.compile_time", str(number)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def time_here(job: Job) -> float:
    assert eas.msl.write  # a kernel imports the writer when it is first asked for its text
    kernel = getattr(kernels, job.kernel)
    start = time.perf_counter()
    kernel.to_msl(*job.types, **job.constants)
    return 1000 * (time.perf_counter() - start)


def lines_of(job: Job) -> int:
    """The lines of the kernel's text, without blank ones."""
    source = inspect.getsource(getattr(kernels, job.kernel).fn)
    return sum(bool(line.strip()) for line in source.splitlines())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(time_here(JOBS[int(sys.argv[1])]))
    else:
        main()

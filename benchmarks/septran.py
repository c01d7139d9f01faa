"""SepTran's operators on `cpu` beside our own kernels, NumPy and torch, and what compiling costs.

`python -m benchmarks.septran` runs them interleaved on the same arrays, on as many threads each,
and prints medians; ratios are those of medians. Then it lowers flash attention in this process, and
runs `septran check` in fresh ones. Peers that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import works
from benchmarks.aims import duration
from benchmarks.measuring import Run, prepare, runs_of, sample
from benchmarks.peers import SHOWN, THREADS, load_peers
from benchmarks.run import machine
from benchmarks.works import Work, load_operator

ATTENTION = Path(__file__).parent.parent / "examples" / "septran" / "flash_attention"
SIZES: dict[str, Any] = {"H": 8, "M": 1024, "N": 1024, "D": 64}
OURS, KERNEL = "eas", "kernel"
PEERS = ("numpy", "torch")
_WIDTH = 120


@dataclass(frozen=True)
class Line:
    """A work, its operator, and how fast that should be: by peer, its time by the operator's."""

    work: Work
    run: Run
    least: Mapping[str, float]


def gemm(scale: float) -> Line:
    work, operator = works.matmul(scale), load_operator("gemm", "gemm.cpu")
    a, b, c = work.arguments
    return Line(work, lambda: operator(c, a, b), {KERNEL: 0.97, "numpy": 0.9})


def attention(scale: float) -> Line:
    work, operator = works.attention(scale), load_operator("flash_attention", "cpu")
    q, k, v, out = work.arguments
    return Line(work, lambda: operator(out, q, k, v), {KERNEL: 0.97, "torch": 1.0})


@dataclass
class Contest:
    """The times of an operator, of our kernel and of the peers, a sample of each per round."""

    line: Line
    runs: dict[str, Run]
    repeats: Mapping[str, int]
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def run_round(self) -> None:
        for name, run in self.runs.items():
            self.seconds.setdefault(name, []).append(sample(run, self.repeats[name]))

    @property
    def medians(self) -> dict[str, float]:
        return {name: statistics.median(times) for name, times in self.seconds.items()}

    def ratios(self) -> Iterator[tuple[str, float, float | None]]:
        """The peers, their times by the operator's, and the aims."""
        found = self.medians
        for name, seconds in found.items():
            if name != OURS:
                yield name, seconds / found[OURS], self.line.least.get(name)


def prepare_contest(line: Line, peers: Mapping[str, Any]) -> Contest:
    """Compares the results of all of them first."""
    known = {name: module for name, module in peers.items() if name in PEERS}
    runs = {OURS: line.run, KERNEL: line.work.ours}
    runs |= {name: run for name, run in runs_of(line.work, known).items() if name != OURS}
    return Contest(line, runs, prepare(line.work, runs, 1).repeats)


def median_of(action: Callable[[], object], rounds: int) -> float:
    """The median of the seconds that something takes in this process, after one time before."""
    action()
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def lower(mapping: str, text: str) -> str:
    """Flash attention from its files: a new operator each time."""
    return load_operator("flash_attention", mapping).emit(text, **SIZES)


def small_call() -> Callable[[], None]:
    """A call that is all overhead: it multiplies matrices of 16 by 16."""
    work = works.matmul(0.0)
    a, b, c = (array[:16, :16].copy() for array in work.arguments)
    operator = load_operator("gemm", "gemm.cpu")
    return lambda: operator(c, a, b)


def check_seconds(mapping: str, rounds: int) -> float:
    """The median CPU time of `septran check` of flash attention, with all that it imports.

    As after an installation there is bytecode, in a folder of its own: the first run writes it.
    """
    shape = ",".join(f"{name}={size}" for name, size in SIZES.items())
    files = [str(ATTENTION / each) for each in ("flash_attention_logic.py", f"{mapping}.map.yaml")]
    command = [sys.executable, "-m", "eas.septran", "check", *files, "--shape", shape]
    times: list[float] = []
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(rounds + 1):
            before = _cpu_seconds()
            subprocess.run(command, check=True, capture_output=True, env=environment)
            times.append(_cpu_seconds() - before)
    return statistics.median(times[1:])


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


Waits = Sequence[tuple[str, float, float | None]]  # what, seconds, limit


def measure_waits(rounds: int) -> Waits:
    """What a user waits for, with the limits."""
    return (
        ("a call with 16x16 matrices", median_of(small_call(), 1000), None),
        ("flash attention to flat IR", median_of(lambda: lower("cpu", "flat"), rounds), 0.05),
        ("... to Metal", median_of(lambda: lower("apple_gpu", "metal"), rounds), 0.2),
        ("`septran check`, CPU time", check_seconds("apple_gpu", rounds), 0.8),
    )


def table_of(contests: Sequence[Contest]) -> Table:
    table = Table(title=f"medians on {THREADS} threads; ratios are a peer's time by SepTran's")
    names = [OURS, KERNEL, *PEERS]
    shown = {**SHOWN, OURS: "SepTran", KERNEL: "our kernel"}
    table.add_column("work")
    for name in names:
        table.add_column(shown[name], justify="right")
    table.add_column("ratios")
    for contest in contests:
        found = contest.medians
        cells = [duration(found[name]) if name in found else "" for name in names]
        ratios = [judged(shown[n], ratio, least) for n, ratio, least in contest.ratios()]
        table.add_row(contest.line.work.name, *cells, "\n".join(ratios))
    return table


def judged(name: str, ratio: float, least: float | None) -> str:
    """A ratio beside its aim, in color."""
    if least is None:
        return f"{name}: {ratio:.2f}"
    is_met = ratio >= least
    color, missed = ("green", "") if is_met else ("bold red", " missed")
    return f"[{color}]{name} ≥ {least:g}: {ratio:.2f}{missed}[/]"


def table_of_waits(waits: Waits) -> Table:
    table = Table("what", "median", "limit", title="What a user waits for")
    for what, seconds, limit in waits:
        color = "green" if limit is None or seconds < limit else "bold red"
        table.add_row(
            what, f"[{color}]{duration(seconds)}[/]", "" if limit is None else duration(limit)
        )
    return table


def measure(options: argparse.Namespace, progress: Progress) -> tuple[list[Contest], list[str]]:
    task = progress.add_task("loading the peers", total=2 * options.rounds + 2)
    peers, missing = load_peers()
    contests = [prepare_contest(make(options.scale), peers) for make in (gemm, attention)]
    for number in range(options.rounds):
        for contest in contests:
            shown = f"round {number + 1} of {options.rounds}: {contest.line.work.name}"
            progress.update(task, description=shown, advance=1)
            contest.run_round()
    return contests, [
        f"{SHOWN[name]} is missing: {missing[name]}" for name in PEERS if name in missing
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.septran", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, help="rounds of each operator (21)")
    parser.add_argument("--scale", type=float, default=1.0, help="less work, for a try (1.0)")
    options = parser.parse_args()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        contests, missing = measure(options, progress)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    console.print(table_of(contests))
    console.print(table_of_waits(measure_waits(max(options.rounds // 3, 1))))
    for line in missing:
        console.print(line, highlight=False)
    console.print(machine(), highlight=False)


if __name__ == "__main__":
    main()

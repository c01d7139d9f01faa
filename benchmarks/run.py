"""Measures the `cpu` backend beside its alternatives, interleaved in one run.

`python -m benchmarks.run` prints a table with the aims beside the ratios; `--charts` draws it, and
time over size. Peers that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from benchmarks import first_call, growth
from benchmarks.aims import Aim, Under
from benchmarks.charts import can_draw, draw_growth, draw_ratios
from benchmarks.measuring import Contest, prepare, runs_of
from benchmarks.peers import SHOWN, TRITON, load_peers
from benchmarks.tables import markdown_of, missed, table_of
from benchmarks.triton import Triton
from benchmarks.works import WORKS

FIRST_CALL, GROWTH = "first_call", "growth"
_PROCESSES = 5  # of a first call
_WIDTH = 160  # of a table that goes into a file
_PACKAGES = ("numpy", "torch", "numba", "taichi", "warp-lang", "llvmlite")


@dataclass
class Report:
    """What was measured, a line of the table per name."""

    results: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    aims: dict[str, Sequence[Aim]] = field(default_factory=dict[str, Sequence[Aim]])
    missing: dict[str, str] = field(default_factory=dict[str, str])
    growth: dict[int, growth.Times] = field(default_factory=dict[int, growth.Times])


def measure_all(options: argparse.Namespace, progress: Progress) -> Report:
    """Spreads the rounds of a line over the whole run, so that no line has the worst moment."""
    names: list[str] = options.only or [*WORKS, FIRST_CALL, GROWTH]
    works = [WORKS[name](options.scale) for name in names if name in WORKS]
    task = progress.add_task("loading the peers", total=len(works) * (options.rounds + 2) + 2)
    peers, missing = load_peers()
    contests: list[Contest] = []
    for work in works:
        progress.update(task, description=f"compiling: {work.name}", advance=1)
        contests.append(prepare(work, runs_of(work, peers), options.rounds))
    for round_number in range(options.rounds):
        for contest in contests:
            shown = f"round {round_number + 1} of {options.rounds}: {contest.work.name}"
            progress.update(task, description=shown, advance=1)
            contest.run_round()
    report = Report(missing=missing)
    triton = Triton(options.triton_python)
    for contest in contests:
        progress.update(task, description=f"Triton: {contest.work.name}", advance=1)
        add_line(report, contest, triton)
    if triton.missing:
        report.missing[TRITON] = triton.missing
    if FIRST_CALL in names:
        progress.update(task, description="first calls", advance=1)
        add_first_calls(report)
    if GROWTH in names:
        progress.update(task, description="time over size", advance=1)
        report.growth = {n: growth.measure(n) for n in sorted({1, os.cpu_count() or 1})}
    return report


def add_line(report: Report, contest: Contest, triton: Triton) -> None:
    work, times = contest.work, contest.best
    seconds = triton.seconds(work.function, work.triton)
    report.results[work.name] = times if seconds is None else times | {TRITON: seconds}
    report.aims[work.name] = work.aims


def add_first_calls(report: Report) -> None:
    """Lines of the first launch of a process, with and without code on disk."""
    found = {name: _first_call(name) for name in first_call.NAMES if name not in report.missing}
    if not found["eas"]:  # what is wrong with it was printed
        return
    for what, limit in first_call.LIMITS.items():
        report.results[what] = {name: times[what] for name, times in found.items() if times}
        report.aims[what] = (Under(limit),)


def _first_call(name: str) -> dict[str, float]:
    try:
        return first_call.measure(name, _PROCESSES if name == "eas" else 1)
    except subprocess.CalledProcessError as error:
        print(f"{name}: {error.stderr}", file=sys.stderr)
        return {}


def show(report: Report, console: Console, is_markdown: bool) -> None:
    if report.results:
        console.print(table_of(report.results, report.aims))
    for threads, times in report.growth.items():
        for name, seconds in times.items():
            each = (f"{1e9 * s / n:.2f}" for n, s in zip(growth.SIZES, seconds, strict=True))
            console.print(f"{name}, {threads} threads, 1 K to 64 M, ns each: {' '.join(each)}")
    for name, why in report.missing.items():
        console.print(f"[yellow]{SHOWN[name]} is missing:[/] {why}", highlight=False)
    for line in missed(report.results, report.aims):
        console.print(f"[bold red]missed:[/] {line}", highlight=False)
    console.print(machine(), highlight=False)
    if is_markdown:
        print(markdown_of(report.results, report.aims))


def machine() -> str:
    """The processor and the versions of everything."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(": ", 1)[1] if lines else model
    packages = [f"{name} {number}" for name in _PACKAGES if (number := _version(name))]
    python = f"Python {platform.python_version()}"
    return f"{model}, {os.cpu_count()} cores; {', '.join([python, *packages])}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    names = [*WORKS, FIRST_CALL, GROWTH]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each (15)")
    parser.add_argument("--scale", type=float, default=1.0, help="less work, for a try (1.0)")
    parser.add_argument("--triton-python", default="", help="a Python that has Triton and torch")
    parser.add_argument(
        "--charts", type=Path, metavar="PATH", help="draws PATH.png, .svg and PATH_growth.png, .svg"
    )
    parser.add_argument("--markdown", action="store_true", help="prints the table as Markdown, too")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    if options.charts is not None and not can_draw():
        raise SystemExit("there can be no charts: matplotlib is missing")
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        report = measure_all(options, progress)
    show(report, console, options.markdown)
    if options.charts is None:
        return
    if report.results:
        draw_ratios(report.results, options.charts)
    if report.growth:
        name = f"{options.charts.name}_{GROWTH}"
        draw_growth(report.growth, options.charts.with_name(name))


if __name__ == "__main__":
    main()

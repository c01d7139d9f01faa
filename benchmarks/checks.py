"""What the memory checks cost: every work of `benchmarks.run`, checked and unchecked.

`python -m benchmarks.checks` launches both interleaved in one run, and prints the best times and
their ratios. The aims are a geometric mean of 1.05 and no line above 1.15.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import eas
from benchmarks.aims import duration
from benchmarks.measuring import REPEATED, sample, timed
from benchmarks.run import machine
from benchmarks.works import WORKS, Work

MEAN, MOST = 1.05, 1.15  # the aims


@dataclass
class Pair:
    """A work with checks and without, and the best seconds of either, by whether it is checked."""

    work: Work
    repeats: int
    best: dict[bool, float] = field(default_factory=lambda: {True: math.inf, False: math.inf})

    def run_both(self, checked_first: bool) -> None:
        for is_checked in (checked_first, not checked_first):
            with eas.checked(is_checked):
                seconds = sample(self.work.ours, self.repeats)
            self.best[is_checked] = min(self.best[is_checked], seconds)

    @property
    def ratio(self) -> float:
        return self.best[True] / self.best[False]


def prepare(work: Work) -> Pair:
    """Compiles both, and compares what they compute."""
    results = [_result(work, is_checked) for is_checked in (True, False)]
    if work.tolerance is not None and not np.array_equal(results[0], results[1]):
        raise SystemExit(f"{work.name}: the checks change the result")
    return Pair(work, max(1, int(REPEATED / max(timed(work.ours, 1), 1e-7))))


def _result(work: Work, is_checked: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    work.reset()
    with eas.checked(is_checked):
        work.ours()
    return work.result.copy()


def measure(options: argparse.Namespace, progress: Progress) -> list[Pair]:
    works = [WORKS[name](options.scale) for name in options.only or WORKS]
    task = progress.add_task("", total=len(works) * (options.rounds + 1))
    pairs: list[Pair] = []
    for work in works:
        progress.update(task, description=f"compiling: {work.name}", advance=1)
        pairs.append(prepare(work))
    for round_number in range(options.rounds):
        for pair in pairs:
            shown = f"round {round_number + 1} of {options.rounds}: {pair.work.name}"
            progress.update(task, description=shown, advance=1)
            pair.run_both(checked_first=round_number % 2 == 0)
    return pairs


def rows_of(best: Mapping[str, tuple[float, float]]) -> Iterator[tuple[str, str, str, str]]:
    """Cells of the table: from the checked and the unchecked time of each line."""
    ratios = [checked / unchecked for checked, unchecked in best.values()]
    for (name, times), ratio in zip(best.items(), ratios, strict=True):
        yield (name, duration(times[0]), duration(times[1]), _judged(ratio, MOST))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    yield ("geometric mean", "", "", _judged(mean, MEAN))
    yield ("largest", "", "", _judged(max(ratios), MOST))


def _judged(ratio: float, aim: float) -> str:
    return f"{ratio:.3f}" if ratio <= aim else f"{ratio:.3f}, missed"


_HEADS = ("work", "checked", "unchecked", "ratio")


def table_of(best: Mapping[str, tuple[float, float]]) -> Table:
    table = Table(title=f"aims: mean {MEAN}, none above {MOST}")
    for head in _HEADS:
        table.add_column(head, justify="left" if head == "work" else "right")
    for row in rows_of(best):
        table.add_row(*row)
    return table


def markdown_of(best: Mapping[str, tuple[float, float]]) -> str:
    lines = [_HEADS, ("---",) * len(_HEADS), *rows_of(best)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace("| --- ", "|---")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=WORKS, metavar="NAME", help=", ".join(WORKS))
    parser.add_argument("--rounds", type=int, default=30, help="rounds of each (30)")
    parser.add_argument("--scale", type=float, default=1.0, help="less work, for a try (1.0)")
    parser.add_argument("--markdown", action="store_true", help="prints the table as Markdown, too")
    options = parser.parse_args()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        pairs = measure(options, progress)
    best = {pair.work.name: (pair.best[True], pair.best[False]) for pair in pairs}
    console = Console(width=None if sys.stdout.isatty() else 100)
    console.print(table_of(best))
    console.print(machine(), highlight=False)
    if options.markdown:
        print(markdown_of(best))


if __name__ == "__main__":
    main()

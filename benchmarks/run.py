"""Measures the `cpu` backend beside what a user would pick instead: in one run, taking turns.

`uv run --group peers python -m benchmarks.run --chart docs/cpu_benchmarks` prints a table and draws
`docs/cpu_benchmarks.png` and `.svg`. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.cpu_works import WORKS, Array, Work

Run = Callable[[], object]
Clock = Callable[[], float]

PEERS = ("numpy", "torch", "numba", "taichi", "warp")
_THREADS = ("EAS_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "TI_NUM_THREADS")
LANGUAGES = ("numba", "taichi", "warp")  # those in which one writes kernels


def load_peers() -> dict[str, ModuleType]:
    """The peers that are installed."""
    found: dict[str, ModuleType] = {}
    for name in PEERS:
        try:
            found[name] = import_module(f"benchmarks.peers.with_{name}")
        except ImportError:
            continue
    return found


def runs_of(work: Work, peers: dict[str, ModuleType]) -> dict[str, Run]:
    """What to time for a line: ours, and each peer that has it."""
    runs: dict[str, Run] = {"eas": work.ours}
    for name, module in peers.items():
        function = getattr(module, work.function, None)
        if function is not None:
            wrap = getattr(module, "shared", None)
            arguments = [
                wrap(each) if wrap and isinstance(each, np.ndarray) else each
                for each in work.arguments
            ]
            runs[name] = lambda function=function, arguments=arguments: function(*arguments)
    return runs


def measure(work: Work, runs: dict[str, Run], rounds: int, clock: Clock) -> dict[str, float]:
    """The best time of each in seconds. They take turns, so that all see the same machine."""
    work.reset()
    work.ours()
    expected = work.result.copy()
    for name, run in runs.items():
        work.reset()
        run()
        check(work, name, expected)
    repeats = {name: repeats_for(run) for name, run in runs.items()}
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], timed(run, repeats[name], clock))
    return best


def check(work: Work, name: str, expected: Array) -> None:
    if work.tolerance is None:
        return
    error = np.abs(work.result.astype(np.float64) - expected)
    scale = np.abs(expected).max() or 1
    wrong = np.quantile(error, 0.99) / scale
    if wrong > work.tolerance:
        raise SystemExit(f"{name} computes another {work.name}: off by {wrong:.2e}")


def repeats_for(run: Run) -> int:
    return max(1, min(1000, int(0.002 / max(timed(run, 1), 1e-7))))


def timed(run: Run, repeats: int, clock: Clock = time.perf_counter) -> float:
    start = clock()
    for _ in range(repeats):
        run()
    return (clock() - start) / repeats


# --- output -----------------------------------------------------------------------------------


def show(times: dict[str, dict[str, float]], names: Sequence[str]) -> None:
    table = Table(title="best times; ratios are the best kernel language's time by ours")
    table.add_column("work")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("ratio", justify="right")
    for work, row in times.items():
        others = [row[name] for name in LANGUAGES if name in row]
        ratio = f"{min(others) / row['eas']:.2f}" if others else ""
        table.add_row(work, *(tell(row.get(name)) for name in names), ratio)
    Console(width=140).print(table)


def tell(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def draw(times: dict[str, dict[str, float]], names: Sequence[str], target: Path) -> None:
    """Bars of each one's time by ours, on a logarithmic axis."""
    plots: Any = import_module("matplotlib.pyplot")
    figure, axes = plots.subplots(figsize=(11, 6))
    others = [name for name in names if name != "eas"]
    height = 0.8 / max(len(others), 1)
    for n, name in enumerate(others):
        places = [k + n * height for k, row in enumerate(times.values()) if name in row]
        ratios = [row[name] / row["eas"] for row in times.values() if name in row]
        axes.barh(places, ratios, height, label=name)
    axes.set_yticks([k + 0.4 - height / 2 for k in range(len(times))], list(times))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("time by that of eas (right of the line: eas is faster)")
    axes.legend()
    figure.tight_layout()
    for suffix in (".png", ".svg"):
        figure.savefig(target.with_suffix(suffix))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--scale", type=float, default=1.0, help="less work, for a try")
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="one thread each, and the time that it was running: for a machine with other work",
    )
    parser.add_argument("--chart", type=Path, help="where the chart goes, without a suffix")
    options = parser.parse_args()
    clock = time.perf_counter
    if options.cpu_time:
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        clock = time.process_time
    peers = load_peers()
    times: dict[str, dict[str, float]] = {}
    for make in WORKS:
        work = make(options.scale)
        times[work.name] = measure(work, runs_of(work, peers), options.rounds, clock)
    names = ["eas", *peers]
    show(times, names)
    if options.chart is not None:
        draw(times, names, options.chart)


if __name__ == "__main__":
    main()

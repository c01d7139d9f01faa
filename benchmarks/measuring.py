"""Times of a work and its peers: interleaved in one process, on the same arrays."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.works import Array, Work

Run = Callable[[], Any]

_WARM, REPEATED = 0.005, 0.02  # seconds before a sample, and that it takes
_MOST = 1.5  # seconds for all samples of one
_LOOK, _IDLE = 0.02, 0.1  # seconds between looks at the CPU time, and its share when all sleep
_LONGEST_REST = 1.0  # seconds


def runs_of(work: Work, peers: Mapping[str, ModuleType]) -> dict[str, Run]:
    """What to time for a line: ours, and each peer that has it."""
    runs: dict[str, Run] = {"eas": work.ours}
    for name, module in peers.items():
        function = getattr(module, work.function, None)
        if function is not None:
            runs[name] = _bound(function, getattr(module, "shared", None), work.arguments)
    return runs


def _bound(
    function: Callable[..., Any], shared: Callable[[Array], Any] | None, arguments: tuple[Any, ...]
) -> Run:
    taken = [
        shared(each) if shared and isinstance(each, np.ndarray) else each for each in arguments
    ]
    return lambda: function(*taken)


@dataclass
class Contest:
    """The state of a line: how often each of its runs is called in a round, and the rounds left."""

    work: Work
    runs: dict[str, Run]
    repeats: dict[str, int]
    left: dict[str, int]
    best: dict[str, float]  # seconds

    def run_round(self) -> None:
        """Runs each of them once, so that all see the same state of the machine."""
        for name, run in self.runs.items():
            if self.left[name] > 0:
                self.left[name] -= 1
                self.best[name] = min(self.best[name], sample(run, self.repeats[name]))


def prepare(work: Work, runs: dict[str, Run], rounds: int) -> Contest:
    """Compares the results of all of them, and estimates their times."""
    work.reset()
    work.ours()
    expected = work.result.copy()
    contest = Contest(work, runs, {}, {}, dict.fromkeys(runs, float("inf")))
    for name, run in runs.items():
        work.reset()
        found = run()
        _check(work, name, work.result if found is None else np.asarray(found), expected)
        once = max(timed(run, 1), 1e-7)
        contest.repeats[name] = max(1, int(REPEATED / once))
        contest.left[name] = max(1, min(rounds, int(_MOST / once)))
    return contest


def sample(run: Run, repeats: int) -> float:
    """Seconds of one call, when the threads of the one before are asleep and its own are awake."""
    rest()
    warm = time.perf_counter() + _WARM
    while time.perf_counter() < warm:
        run()
    return timed(run, repeats)


def rest() -> None:
    """Waits until no thread of this process runs: idle ones of BLAS and OpenMP spin for a while.

    How long is theirs to choose (OpenBLAS: a number of cycles), so their CPU time is looked at.
    """
    end = time.perf_counter() + _LONGEST_REST
    while time.perf_counter() < end:
        before, used = time.perf_counter(), time.process_time()
        time.sleep(_LOOK)
        if time.process_time() - used < _IDLE * (time.perf_counter() - before):
            return


def timed(run: Run, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def _check(work: Work, name: str, found: Array, expected: Array) -> None:
    if work.tolerance is None:
        return
    error = np.abs(found.astype(np.float64) - expected)
    scale = np.abs(expected).max() or 1
    wrong = np.quantile(error, 0.99) / scale
    if not wrong <= work.tolerance:
        raise SystemExit(f"{name} computes another {work.name}: off by {wrong:.2e}")

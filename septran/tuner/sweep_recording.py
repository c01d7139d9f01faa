"""Sweeps are recorded: candidates of a problem are checked once each, and timed interleaved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from eas.ir.types import DTYPES
from eas.septran.files import Machine
from eas.septran.logic.numpy_reference import tolerance_of
from eas.septran.tuner.measure import (
    Trial,
    close_children,
    computer,
    pairs,
    run_trial,
)
from eas.septran.tuner.problem import Candidates, Problem, require_open
from eas.septran.tuner.space import Point
from eas.septran.tuner.sweep_files import Measured, Recorded, read_sweep, write_sweep
from eas.septran.tuner.work import work_of
from eas.support.command_line import UsageError
from eas.support.package_version import package_version
from eas.support.records import frozen, replace
from eas.tuning.isolation import Child, Limits, Stopped
from eas.tuning.judging import Plan
from eas.tuning.outcomes import Outcome

BATCH = 32  # candidates between two looks at the clock
MOST_DRAWS = 400  # for each point that is wanted
MOST_LISTED = 1_000_000
PLAN = Plan(warmup=1, rounds=0, shortest=2e-3)
_SAVES = 20.0  # seconds between two
_TIMING = "eas.septran.tuner.measure:time_in_turn"


@frozen
class Progress:
    """How far a recording is: candidates that were checked, and timings that were taken."""

    checked: int
    timed: int
    candidates: int
    rounds: int
    elapsed: float


Watch = Callable[[Progress], None]


class Recorder:
    """A sweep in a file, which is added to until every candidate has its timings."""

    def __init__(
        self, problem: Problem, path: Path, *, points: int, seed: int = 0, limits: Limits
    ) -> None:
        self._candidates = Candidates(problem)
        require_open(self._candidates.base.mapping)
        self._path, self._seed, self._limits = path, seed, limits
        self._tolerance = tolerance_of(DTYPES[problem.dtype])
        self._sweep = self._resumed(points)
        self._rows = list(self._sweep.rows)

    @property
    def sweep(self) -> Recorded:
        return replace(self._sweep, rows=tuple(self._rows))

    def run(
        self,
        rounds: int,
        seconds: float = float("inf"),
        workers: int = 1,
        watch: Watch | None = None,
    ) -> Recorded:
        """Checks and times candidates; what was done is in the file, whatever ends it."""
        self._begun, self._until = time.monotonic(), time.monotonic() + seconds
        self._rounds, self._watch, self._saved = rounds, watch, time.monotonic()
        try:
            self._check(workers)
            self._time()
        finally:
            close_children()
            write_sweep(self._path, self.sweep)
        return self.sweep

    def _resumed(self, points: int) -> Recorded:
        fresh = self._described()
        found = read_sweep(self._path) if self._path.exists() else fresh
        if replace(found, rows=()) != fresh:
            raise UsageError(
                f"{self._path} is a sweep of something else ({found.title}, computer "
                f"{found.computer}, easy_as {found.version}): give another file"
            )
        return found if found.rows else replace(fresh, rows=tuple(self._drawn(points)))

    def _described(self) -> Recorded:
        candidates = self._candidates
        return Recorded(
            candidates.title,
            candidates.fingerprint,
            computer(),
            package_version(),
            _figures(candidates.base.machine),
            tuple(tune.key for tune in candidates.space.tunes),
        )

    def _drawn(self, points: int) -> list[Measured]:
        """Candidates that static checks let through: all of them, or so many at random."""
        rows: list[Measured] = []
        for point in islice(self._shuffled(), MOST_DRAWS * points):
            values = self._candidates.space.values(point)
            lowered = self._candidates.lowered(values)
            if not isinstance(lowered, str):
                rows.append(Measured(values, work_of(lowered.module, {})))
            if len(rows) == points:
                break
        if not rows:
            raise self._candidates.nothing_passes()
        return rows

    def _shuffled(self) -> Iterator[Point]:
        """Different points of the space, all of them if they can be listed."""
        space, random = self._candidates.space, np.random.default_rng(self._seed)
        if space.size <= MOST_LISTED:
            points = list(space.points())
            yield from (points[number] for number in random.permutation(len(points)))
            return
        seen: set[Point] = set()
        while True:
            point = space.draw(random)
            if point not in seen:
                seen.add(point)
                yield point

    def _check(self, workers: int) -> None:
        """Compiles each candidate and compares its result with NumPy's."""
        left = [n for n, row in enumerate(self._rows) if row.outcome is None]
        with ThreadPoolExecutor(workers) as executor:
            for first in range(0, len(left), BATCH):
                if self._is_over():
                    return
                numbers = left[first : first + BATCH]
                trials = [self._trial(self._rows[n]) for n in numbers]
                for n, outcome in zip(numbers, executor.map(run_trial, trials), strict=True):
                    self._rows[n] = replace(self._rows[n], outcome=outcome)

    def _trial(self, row: Measured) -> Trial:
        plan = Plan(warmup=0, rounds=0, tolerance=self._tolerance)
        problem = self._candidates.problem
        return Trial(problem, pairs(row.values), None, plan, self._limits, computer())

    def _time(self) -> None:
        """Takes samples in rounds: each round has one of every candidate, in an order of its own.

        A candidate that has fewer samples than others comes first.
        """
        child = Child(self._limits)
        try:
            while numbers := self._next():
                if self._is_over():
                    return
                self._sample(child, numbers)
        finally:
            child.close()

    def _next(self) -> list[int]:
        """Some of the candidates with the fewest samples."""
        taken = {
            n: len(row.outcome.samples)
            for n, row in enumerate(self._rows)
            if row.outcome is not None and row.outcome.is_right
        }
        fewest = min(taken.values(), default=self._rounds)
        if fewest >= self._rounds:
            return []
        numbers = [n for n, count in taken.items() if count == fewest]
        random = np.random.default_rng([self._seed, fewest])
        order = np.argsort(random.permutation(len(self._rows))[numbers])
        return [numbers[n] for n in order[:BATCH]]

    def _sample(self, child: Child, numbers: list[int]) -> None:
        """A sample of some candidates; if that ends the process, of each half of them alone."""
        problem = self._candidates.problem
        chosen = [pairs(self._rows[n].values) for n in numbers]
        try:
            taken = child.call(_TIMING, problem, chosen, PLAN)
        except Stopped as stopped:
            if len(numbers) == 1:
                outcome = Outcome(stopped.status, stopped.reason)
                self._rows[numbers[0]] = replace(self._rows[numbers[0]], outcome=outcome)
                return
            half = len(numbers) // 2
            self._sample(child, numbers[:half])
            self._sample(child, numbers[half:])
            return
        for n, seconds in zip(numbers, taken, strict=True):
            row = self._rows[n]
            assert row.outcome is not None
            outcome = replace(row.outcome, samples=(*row.outcome.samples, seconds))
            self._rows[n] = replace(row, outcome=outcome)

    def _is_over(self) -> bool:
        """Whether time is used up; shows progress, and saves now and then."""
        now = time.monotonic()
        if now - self._saved > _SAVES:
            self._saved = now
            write_sweep(self._path, self.sweep)
        if self._watch is not None:
            self._watch(self._progress(now - self._begun))
        return now > self._until

    def _progress(self, elapsed: float) -> Progress:
        outcomes = [row.outcome for row in self._rows if row.outcome is not None]
        timed = sum(len(each.samples) for each in outcomes)
        return Progress(len(outcomes), timed, len(self._rows), self._rounds, elapsed)


def _figures(machine: Machine) -> dict[str, Any]:
    """What a machine file says that estimates depend on."""
    return machine.model_dump(mode="json", exclude_defaults=True, exclude={"symbols", "library"})

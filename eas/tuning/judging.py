"""One trial: is a candidate right, and how fast is it beside the best one so far?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Protocol

import numpy as np

from eas.support.records import frozen
from eas.tuning.equality import first_difference, is_same
from eas.tuning.outcomes import Outcome

Array = np.ndarray[Any, Any]


_LONG = 0.05  # seconds: threads are awake and caches are filled at the end of such a run


class Runner(Protocol):
    """A candidate with arguments of its own."""

    def restore(self) -> None:
        """Gives the arrays that it writes the values that they had."""
        ...

    def run(self) -> None: ...

    def written(self) -> Mapping[str, Array]:
        """The arrays that it writes, by name."""
        ...


@frozen
class Plan:
    """How a candidate is timed: `rounds` samples after `warmup` runs.

    A sample is at least `shortest` seconds long. After `budget` seconds no further sample is
    begun. A candidate that takes `hopeless` times as long as the best one is run no more.
    """

    warmup: int = 2
    rounds: int = 7
    shortest: float = 2e-4
    budget: float = 3.0
    hopeless: float = 3.0
    tolerance: float | None = None


class _Wrong(Exception):
    """A candidate that was right at first and is not in a later run."""


class _Results:
    """Compares what a candidate writes while it is timed: some are right only at times.

    Most write the same bits each time, which is soon seen. Others are compared by their tolerance
    for at most `budget` seconds, and once at the end.
    """

    def __init__(
        self,
        candidate: Runner,
        first: Mapping[str, Array],
        expected: Mapping[str, Array],
        plan: Plan,
    ) -> None:
        self._candidate = candidate
        self._first = first
        self._expected = expected
        self._plan = plan
        self._spent = 0.0

    def after(self, runs: int) -> None:
        """Compares after a sample. Several runs may have added up: one is compared then."""
        if self._spent < self._plan.budget:
            start = time.perf_counter()
            if runs > 1:
                self._candidate.restore()
                self._candidate.run()
            self.compare()
            self._spent += time.perf_counter() - start

    def compare(self) -> None:
        """Raises `_Wrong` if what the candidate has written is not what is expected."""
        found = self._candidate.written()
        if not is_same(self._first, found):
            difference = first_difference(self._expected, found, self._plan.tolerance)
            if difference:
                raise _Wrong(f"{difference}, in a later run")


def judge(candidate: Runner, reference: Runner | None, best: Runner | None, plan: Plan) -> Outcome:
    """The outcome of a candidate. The first one of all has neither a reference nor a best one.

    A candidate that seems to be faster than the best one is timed once more, and only that counts:
    the one of many that was lucky would win, and the next ones would be compared with its luck.
    One that is hopelessly slow cannot win, and may take minutes: it is run as rarely as possible.
    """
    result = _result(candidate)
    expected = result if reference is None else _result(reference)
    difference = first_difference(expected, result, plan.tolerance)
    if difference:
        return Outcome("wrong", difference)
    if plan.rounds == 0:
        return Outcome("ok")
    results = _Results(candidate, result, expected, plan)
    try:
        samples = _timed(candidate, best, results, plan)
    except _Wrong as wrong:
        return Outcome("wrong", str(wrong))
    return Outcome("ok", samples=samples[0], beside=samples[1] if best is not None else ())


def _timed(
    candidate: Runner, best: Runner | None, results: _Results, plan: Plan
) -> list[tuple[float, ...]]:
    """Samples of a candidate and of the best one; raises `_Wrong`."""
    rivals = [candidate] if best is None else [candidate, best]
    samples = _interleaved(rivals, results, plan)
    if best is not None and min(samples[0]) < min(samples[1]):
        samples = _interleaved(rivals, results, plan)
    if not _is_hopeless(samples, plan):
        candidate.restore()
        candidate.run()
        results.compare()
    return samples


def sample(runner: Runner, plan: Plan) -> float:
    """Seconds per run, in one sample after `warmup` runs."""
    return _sample(runner, _runs_per_sample(_warm_up(runner, None, plan), plan))


def _result(runner: Runner) -> dict[str, Array]:
    runner.restore()
    runner.run()
    return {name: np.array(array) for name, array in runner.written().items()}


def _interleaved(
    runners: Sequence[Runner], results: _Results, plan: Plan
) -> list[tuple[float, ...]]:
    """Samples of each runner, interleaved: what slows the machine down hits all of them.

    The results are those of the first runner.
    """
    checks = [results, *[None] * (len(runners) - 1)]
    deadline = time.perf_counter() + plan.budget
    warm = [_warm_up(*pair, plan) for pair in zip(runners, checks, strict=True)]
    if _is_hopeless([[each] for each in warm], plan):
        return [(each,) for each in warm]
    counts = [_runs_per_sample(each, plan) for each in warm]
    samples: list[list[float]] = [[] for _ in runners]
    for _ in range(plan.rounds):
        for runner, check, count, taken in zip(runners, checks, counts, samples, strict=True):
            taken.append(_sample(runner, count, check))
        if time.perf_counter() > deadline:
            break
    return [tuple(taken) for taken in samples]


def _is_hopeless(samples: Sequence[Sequence[float]], plan: Plan) -> bool:
    return len(samples) > 1 and median(samples[0]) > plan.hopeless * median(samples[1])


def _warm_up(runner: Runner, results: _Results | None, plan: Plan) -> float:
    """The seconds of the fastest run before the first sample; after a long run it is warm."""
    fastest = float("inf")
    for _ in range(max(1, plan.warmup)):
        seconds = _sample(runner, 1, results)
        fastest = min(fastest, seconds)
        if seconds > _LONG:
            break
    return fastest


def _runs_per_sample(seconds: float, plan: Plan) -> int:
    """Short runs are timed several at a time: the clock's own steps would be seen."""
    return max(1, min(1000, round(plan.shortest / max(seconds, 1e-7))))


def _sample(runner: Runner, runs: int, results: _Results | None = None) -> float:
    runner.restore()
    start = time.perf_counter()
    for _ in range(runs):
        runner.run()
    seconds = (time.perf_counter() - start) / runs
    if results is not None:
        results.after(runs)
    return seconds

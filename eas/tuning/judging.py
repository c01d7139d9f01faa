"""One trial: is a candidate right, and how fast is it beside the best one so far?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Protocol

import numpy as np

from eas.support.records import frozen
from eas.tuning.equality import first_difference
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


def judge(candidate: Runner, reference: Runner | None, best: Runner | None, plan: Plan) -> Outcome:
    """The outcome of a candidate. The first one of all has neither a reference nor a best one.

    A candidate that seems to be faster than the best one is timed once more, and only that counts:
    the one of many that was lucky would win, and the next ones would be compared with its luck.
    Its result is compared again after that: some candidates are right only at times. One that is
    hopelessly slow cannot win, and may take minutes: it is run as rarely as possible.
    """
    result = _result(candidate)
    expected = result if reference is None else _result(reference)
    difference = first_difference(expected, result, plan.tolerance)
    if difference:
        return Outcome("wrong", difference)
    if plan.rounds == 0:
        return Outcome("ok")
    rivals = [candidate] if best is None else [candidate, best]
    samples = _interleaved(rivals, plan)
    if best is not None and samples[0] and min(samples[0]) < min(samples[1]):
        samples = _interleaved(rivals, plan)
    if not _is_hopeless(samples, plan):
        difference = first_difference(expected, _result(candidate), plan.tolerance)
        if difference:
            return Outcome("wrong", f"{difference}, in a later run")
    return Outcome("ok", samples=samples[0], beside=samples[1] if best is not None else ())


def sample(runner: Runner, plan: Plan) -> float:
    """Seconds per run, in one sample after `warmup` runs."""
    return _sample(runner, _runs_per_sample(_warm_up(runner, plan), plan))


def _result(runner: Runner) -> dict[str, Array]:
    runner.restore()
    runner.run()
    return {name: np.array(array) for name, array in runner.written().items()}


def _interleaved(runners: Sequence[Runner], plan: Plan) -> list[tuple[float, ...]]:
    """Samples of each runner, taken in turns: what slows the machine down hits all of them."""
    deadline = time.perf_counter() + plan.budget
    warm = [_warm_up(runner, plan) for runner in runners]
    if _is_hopeless([[each] for each in warm], plan):
        return [(each,) for each in warm]
    counts = [_runs_per_sample(each, plan) for each in warm]
    samples: list[list[float]] = [[] for _ in runners]
    for _ in range(plan.rounds):
        for runner, count, taken in zip(runners, counts, samples, strict=True):
            taken.append(_sample(runner, count))
        if time.perf_counter() > deadline:
            break
    return [tuple(taken) for taken in samples]


def _is_hopeless(samples: Sequence[Sequence[float]], plan: Plan) -> bool:
    return len(samples) > 1 and median(samples[0]) > plan.hopeless * median(samples[1])


def _warm_up(runner: Runner, plan: Plan) -> float:
    """The seconds of the fastest run before the first sample; after a long run it is warm."""
    fastest = float("inf")
    for _ in range(max(1, plan.warmup)):
        seconds = _sample(runner, 1)
        fastest = min(fastest, seconds)
        if seconds > _LONG:
            break
    return fastest


def _runs_per_sample(seconds: float, plan: Plan) -> int:
    """Short runs are timed several at a time: the clock's own steps would be seen."""
    return max(1, min(1000, round(plan.shortest / max(seconds, 1e-7))))


def _sample(runner: Runner, runs: int) -> float:
    runner.restore()
    start = time.perf_counter()
    for _ in range(runs):
        runner.run()
    return (time.perf_counter() - start) / runs

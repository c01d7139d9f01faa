"""Candidates that are timed beside the best one so far."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from eas.tuning.judging import Plan, judge

Array = np.ndarray[Any, Any]

PLAN = Plan(warmup=1, rounds=3, shortest=0.0)
LUCKY_RUNS = 5  # as many as the result, the warm-up and one measurement take


class Sleeper:
    """A candidate that sleeps; its first runs may be shorter than the others."""

    def __init__(self, seconds: float, lucky_runs: int = 0) -> None:
        self._seconds = seconds
        self._lucky_runs = lucky_runs

    def restore(self) -> None: ...

    def run(self) -> None:
        self._lucky_runs -= 1
        if self._lucky_runs < 0:
            time.sleep(self._seconds)

    def written(self) -> Mapping[str, Array]:
        return {"x": np.zeros(2)}


def test_a_candidate_that_was_lucky_once_does_not_beat_the_best() -> None:
    outcome = judge(Sleeper(0.02, LUCKY_RUNS), None, Sleeper(0.002), PLAN)
    assert outcome.relative_to(1.0) > 1


def test_a_candidate_that_is_faster_beats_the_best() -> None:
    outcome = judge(Sleeper(0.002), None, Sleeper(0.02), PLAN)
    assert outcome.relative_to(1.0) < 1

"""Candidates that are timed beside the best one so far."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from eas.tuning.equality import first_difference
from eas.tuning.judging import Plan, judge
from eas.tuning.outcomes import RECENT, Outcome, usual_slowness

Array = np.ndarray[Any, Any]

PLAN = Plan(warmup=1, rounds=3, shortest=0.0)
LUCKY_RUNS = 5  # as many as the result, the warm-up and one measurement take


class Sleeper:
    """A candidate that sleeps; its first runs may be shorter than the others."""

    def __init__(self, seconds: float, lucky_runs: int = 0) -> None:
        self._seconds = seconds
        self._lucky_runs = lucky_runs
        self.runs = 0

    def restore(self) -> None: ...

    def run(self) -> None:
        self.runs += 1
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


def test_a_candidate_that_is_hopelessly_slow_runs_for_its_result_and_once_to_be_timed() -> None:
    slow = Sleeper(0.06)
    outcome = judge(slow, None, Sleeper(0.001), Plan(warmup=5, rounds=7))
    assert outcome.relative_to(1.0) > 10
    assert slow.runs == 2


def test_a_best_candidate_that_is_disturbed_lets_no_other_seem_faster() -> None:
    quiet = Outcome("ok", samples=(12.0, 12.5), beside=(11.0, 11.5))
    disturbed = Outcome("ok", samples=(12.0, 12.5), beside=(70.0, 75.0))
    tried = [(Outcome("ok", samples=(11.0,)), 11.0), (quiet, quiet.relative_to(11.0))]
    assert quiet.relative_to(11.0) == 12.0
    assert disturbed.relative_to(11.0, usual_slowness(tried)) == 12.0


def test_a_machine_that_became_slower_lets_a_faster_candidate_win() -> None:
    tried = [(Outcome("ok", samples=(10.0,)), 10.0)]
    for _ in range(RECENT):
        outcome = Outcome("ok", samples=(50.0,), beside=(25.0,))
        tried.append((outcome, outcome.relative_to(10.0, usual_slowness(tried))))
    faster = Outcome("ok", samples=(20.0,), beside=(25.0,))
    assert tried[1][1] == 50.0
    assert faster.relative_to(10.0, usual_slowness(tried)) == 8.0


@pytest.mark.filterwarnings("error")
def test_a_difference_that_is_too_large_for_its_dtype_gives_no_warning() -> None:
    large = {"y": np.array([1.7e308])}
    assert first_difference(large, {"y": -large["y"]}, None) == (
        "`y[0]` is -1.7e+308 instead of 1.7e+308"
    )

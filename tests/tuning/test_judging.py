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


class Counted:
    """A candidate that adds to its array, and is wrong in some of its runs."""

    def __init__(self, wrong: set[int], seconds: float = 0.0) -> None:
        self._wrong = wrong
        self._seconds = seconds
        self._array = np.zeros(8)
        self.runs = 0

    def restore(self) -> None:
        self._array[:] = 0.0

    def run(self) -> None:
        self.runs += 1
        self._array += 2.0 if self.runs in self._wrong else 1.0
        time.sleep(self._seconds)

    def written(self) -> Mapping[str, Array]:
        return {"x": self._array}


@pytest.mark.parametrize("run", range(2, 7))
def test_a_candidate_that_is_wrong_in_one_timed_run_is_wrong(run: int) -> None:
    outcome = judge(Counted({run}), Counted(set()), None, Plan(warmup=2, rounds=3, shortest=0.0))
    assert (outcome.status, outcome.reason) == (
        "wrong",
        "`x[0]` is 2.0 instead of 1.0, in a later run",
    )


def test_a_candidate_that_is_often_wrong_is_wrong_if_it_runs_many_times_for_a_sample() -> None:
    often = set(range(3, 100_000, 2))
    outcome = judge(Counted(often), Counted(set()), None, Plan(warmup=2, rounds=5, shortest=1e-3))
    assert outcome.status == "wrong"


def test_what_several_runs_add_up_is_not_compared() -> None:
    candidate = Counted(set())
    plan = Plan(warmup=3, rounds=3, shortest=5e-3, hopeless=float("inf"))
    outcome = judge(candidate, Counted(set()), Counted(set()), plan)
    assert outcome.is_right
    assert candidate.runs > 10


@pytest.mark.parametrize(
    ("wanted", "found", "is_equal"),
    [
        ([0.0, 4e4], [1.0, 4e4], False),  # much for rounding where the largest is that small
        ([0.0, 4e4], [0.5, 4e4], True),  # the rounding of many terms that cancel
        ([1e-5, 2e-5], [0.0, 0.0], False),
        ([1.0, 3.0], [1.00001, 3.0], True),
        ([np.inf, 1.0], [1.0, 1.0], False),
        ([np.inf, 1.0], [-np.inf, 1.0], False),
        ([np.nan, 1.0], [np.nan, 1.0], True),
        ([1.0, 1.0], [np.nan, 1.0], False),
        ([np.nan, 1.0], [1.0, 1.0], False),
    ],
)
def test_the_error_of_a_small_element_has_to_be_small(
    wanted: list[float], found: list[float], is_equal: bool
) -> None:
    expected, actual = (np.array(each, np.float32) for each in (wanted, found))
    assert (first_difference({"y": expected}, {"y": actual}) == "") is is_equal


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_small_results_are_not_all_equal(kind: type) -> None:
    softmax = np.full((4, 1000), 1e-3, kind)
    difference = first_difference({"y": softmax}, {"y": np.zeros_like(softmax)}, 2e-2)
    assert difference.startswith("`y[0, 0]` is 0.0 instead of")


def test_sums_in_another_order_are_equal() -> None:
    """Many terms are added one by one, and in 32 partial sums; some of the sums are near 0."""
    random: np.random.Generator = np.random.default_rng(0)
    terms = random.standard_normal((256, 16384), np.float32)
    terms[:, 1::2] -= 2.0
    terms[:, ::2] += 2.0
    one_by_one = np.cumsum(terms, axis=1, dtype=np.float32)[:, -1]
    partial = np.cumsum(terms.reshape(256, -1, 32), axis=1, dtype=np.float32)[:, -1]
    assert not np.array_equal(one_by_one, partial.sum(1))
    assert first_difference({"y": one_by_one}, {"y": partial.sum(1)}) == ""


def test_large_complex_numbers_are_compared() -> None:
    """Their absolute value has no room in 32 bits."""
    wanted = np.array([3e38 + 3e38j, 1e38], np.complex64)
    found = np.array([3e38 + 3e38j, 2e38], np.complex64)
    assert first_difference({"y": wanted}, {"y": found}) != ""

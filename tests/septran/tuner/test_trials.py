"""Trials of real candidates, in processes of their own."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from eas.septran.operators import load
from eas.septran.tuner.driver import Budget, Tuner
from eas.septran.tuner.export import exported
from eas.septran.tuner.measure import (
    Trial,
    close_children,
    computer,
    guarded_copy,
    pairs,
    run_trial,
)
from eas.septran.tuner.problem import Problem
from eas.septran.tuner.store import Store
from eas.support.records import replace
from eas.tuning.isolation import Limits
from eas.tuning.judging import Plan
from tests.septran.tuner.problems import problem

__all__ = ["problem"]

VALUES = {
    "gemm_host.block_m": 16,
    "gemm_host.block_n": 32,
    "gemm_block.mems.A": "SHARED",
    "gemm_block.block_k": 16,
    "gemm_block.pipeline": 1,
}
PLAN = Plan(warmup=0, rounds=2, tolerance=2e-5)


@pytest.fixture(autouse=True)
def children() -> Iterator[None]:
    yield
    close_children()


def trial_of(problem: Problem, **options: object) -> Trial:
    made = Trial(problem, pairs(VALUES), None, PLAN, Limits(seconds=120.0), computer())
    return replace(made, **options)


def test_a_candidate_is_compared_with_numpy_and_timed(problem: Problem) -> None:
    outcome = run_trial(trial_of(problem))
    assert (outcome.status, len(outcome.samples), outcome.beside) == ("ok", 2, ())


def test_a_candidate_is_timed_beside_the_best_one(problem: Problem) -> None:
    best = pairs({**VALUES, "gemm_block.block_k": 8})
    outcome = run_trial(trial_of(problem, best=best))
    assert (outcome.status, len(outcome.beside)) == ("ok", len(outcome.samples))


def test_a_refused_candidate_has_the_code(problem: Problem) -> None:
    values = pairs({**VALUES, "gemm_host.block_m": 32, "gemm_host.block_n": 32})
    outcome = run_trial(trial_of(problem, values=values))
    assert outcome.status == "refused"
    assert outcome.reason.startswith("S602: ")


def test_a_candidate_that_takes_too_long_is_stopped(problem: Problem) -> None:
    outcome = run_trial(trial_of(problem, limits=Limits(seconds=0.001)))
    assert outcome.status == "timeout"


def test_another_computer_only_compiles_and_checks(problem: Problem) -> None:
    outcome = run_trial(trial_of(problem, machine="another one"))
    assert (outcome.status, outcome.samples) == ("ok", ())
    assert outcome.seconds == float("inf")


def test_a_wrong_result_is_recorded_as_wrong(problem: Problem) -> None:
    """No difference is small enough for this tolerance."""
    outcome = run_trial(trial_of(problem, plan=replace(PLAN, tolerance=-1.0)))
    assert outcome.status == "wrong"
    assert outcome.reason.startswith("`C[0, 0]` is ")


def test_a_search_of_real_candidates_exports_a_mapping_that_loads(
    problem: Problem, tmp_path: Path
) -> None:
    store = Store(tmp_path / "tune.sqlite")
    tuner = Tuner(problem, store, plan=PLAN, limits=Limits(seconds=120.0))
    best = tuner.run(Budget(3))
    assert best is not None
    text = exported(tuner.candidates, best.values, ["Where it comes from."])
    assert text.startswith("# Where it comes from.\n# A comment at the head.\n")
    assert "!tune" not in text and "# one more" in text
    path = tmp_path / "best.map.yaml"
    path.write_text(text, "utf-8")
    load(problem.logic, path).check(M=64, N=64, K=64)
    store.close()


def test_bytes_that_are_written_beyond_an_array_are_found() -> None:
    given = np.arange(12, dtype=np.float32).reshape(3, 4)
    copy, (before, after) = guarded_copy(given)
    clean = before.copy()
    assert (copy == given).all()
    assert (before == after).all()
    start = copy.ctypes.data
    assert start % 64 == 0
    ctypes.memset(start - 1, 0, 1)
    ctypes.memset(start + copy.nbytes, 0, 1)
    assert [list(np.flatnonzero(each != clean)) for each in (before, after)] == [[4095], [0]]

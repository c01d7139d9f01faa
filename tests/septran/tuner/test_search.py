"""Searches: what is proposed, what is stored, and how a search goes on after an interruption."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from eas.septran.tuner.driver import Budget, Tuner
from eas.septran.tuner.measure import Trial
from eas.septran.tuner.methods import METHODS
from eas.septran.tuner.prediction import Model, facts_of
from eas.septran.tuner.problem import Candidates, Problem
from eas.septran.tuner.store import Store, Stored
from eas.septran.tuner.sweeps import best_so_far, median_regrets, replayed, sweep_of
from eas.support.command_line import UsageError
from eas.tuning.outcomes import Outcome
from tests.septran.tuner.problems import by_formula, formula, problem
from tests.thorough import thorough

__all__ = ["problem"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "tune.sqlite")
    yield made
    made.close()


def run(problem: Problem, store: Store, trials: int, method: str = "evolution") -> list[Stored]:
    tuner = Tuner(problem, store, method=method, attempt=by_formula)
    tuner.run(Budget(trials))
    return tuner.trials


def rows(trials: list[Stored]) -> list[tuple[object, ...]]:
    return [(t.number, sorted(t.values.items()), t.seconds) for t in trials]


@pytest.mark.parametrize("method", METHODS)
def test_a_search_tries_legal_points_once_each(problem: Problem, store: Store, method: str) -> None:
    trials = run(problem, store, 12, method)
    points = [tuple(sorted(trial.values.items())) for trial in trials]
    assert len(set(points)) == len(points) == 12
    for trial in trials:
        assert trial.values["gemm_host.block_m"] * trial.values["gemm_host.block_n"] <= 512


def test_a_grid_covers_all_legal_points(problem: Problem, store: Store) -> None:
    trials = run(problem, store, 10_000, "grid")
    candidates = Candidates(problem)
    model = Model(facts_of(candidates))
    legal = [point for point in candidates.space.points() if model.is_legal(point)]
    assert [candidates.space.point(trial.values) for trial in trials] == legal


@pytest.mark.parametrize("method", ["evolution", pytest.param("annealing", marks=thorough)])
def test_a_search_finds_the_best_of_a_formula(problem: Problem, store: Store, method: str) -> None:
    everything = min(formula(trial.values) for trial in run(problem, store, 10_000, "grid"))
    found = min(trial.seconds for trial in run(problem, store, 40, method))
    assert found == pytest.approx(everything, rel=0.05)


@pytest.mark.parametrize(
    "method",
    ["evolution", *(pytest.param(each, marks=thorough) for each in ("annealing", "random"))],
)
def test_a_resumed_search_equals_an_uninterrupted_one(
    problem: Problem, tmp_path: Path, method: str
) -> None:
    whole = Store(tmp_path / "whole.sqlite")
    parts = Store(tmp_path / "parts.sqlite")
    expected = run(problem, whole, 15, method)
    for trials in (4, 9, 15):
        found = run(problem, parts, trials, method)
    assert rows(found) == rows(expected)
    whole.close()
    parts.close()


def test_other_files_sizes_or_seeds_are_other_searches(problem: Problem, store: Store) -> None:
    run(problem, store, 3)
    Path(problem.mappings[0]).write_text(
        Path(problem.mappings[0]).read_text("utf-8").replace("high: 32", "high: 16"), "utf-8"
    )
    run(problem, store, 3)
    Tuner(problem, store, seed=1, attempt=by_formula).run(Budget(3))
    assert [len(store.trials(number)) for number, _ in store.searches()] == [3, 3, 3]


def test_a_trial_is_stored_before_the_next_one_begins(problem: Problem, tmp_path: Path) -> None:
    path = tmp_path / "tune.sqlite"
    seen: list[int] = []

    def attempt(trial: Trial) -> Outcome:
        with sqlite3.connect(path) as base:
            seen.append(base.execute("SELECT count(*) FROM trials").fetchone()[0])
        return by_formula(trial)

    Tuner(problem, Store(path), attempt=attempt).run(Budget(4))
    assert seen == [0, 1, 2, 3]


def test_candidates_that_fail_never_win(problem: Problem, store: Store) -> None:
    statuses = ["crashed", "timeout", "memory", "wrong", "failed", "refused"]
    kinds = iter(statuses)

    def attempt(trial: Trial) -> Outcome:
        kind = next(kinds, None)
        return by_formula(trial) if kind is None else Outcome(kind, "planted", (1e-9,))  # type: ignore[arg-type]

    tuner = Tuner(problem, store, attempt=attempt)
    best = tuner.run(Budget(8))
    assert best is not None and best.outcome.is_right
    assert [trial.outcome.status for trial in tuner.trials] == [*statuses, "ok", "ok"]


def test_several_workers_try_different_points(problem: Problem, store: Store) -> None:
    tuner = Tuner(problem, store, attempt=by_formula)
    with ThreadPoolExecutor(4) as executor:
        tuner.run(Budget(12), executor, workers=4)
    points = [tuple(sorted(trial.values.items())) for trial in tuner.trials]
    assert len(set(points)) == 12


def test_time_that_is_used_up_ends_a_search(problem: Problem, store: Store) -> None:
    tuner = Tuner(problem, store, attempt=by_formula)
    tuner.run(Budget(1000, seconds=0.0))
    assert tuner.trials == []


def test_a_database_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tune.sqlite"
    path.write_bytes(b"not a database at all, but long enough to look like one" * 10)
    with pytest.raises(UsageError, match=r"tune\.sqlite cannot be used: file is not a database"):
        Store(path)
    assert path.read_bytes().startswith(b"not a database")


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE photos (name TEXT)")
    with pytest.raises(UsageError, match="is no database of SepTran's tuner"):
        Store(path)


def test_a_corrupted_database_is_an_error_and_stays(problem: Problem, tmp_path: Path) -> None:
    path = tmp_path / "tune.sqlite"
    store = Store(path)
    run(problem, store, 12)
    store.close()
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 2000] = b"\xff" * 2000
    path.write_bytes(content)
    with pytest.raises(UsageError, match="cannot be used"):
        broken = Store(path)
        broken.trials(1)
    assert path.read_bytes() == content


def test_a_full_disk_is_an_error_and_keeps_what_was_stored(
    problem: Problem, tmp_path: Path
) -> None:
    path = tmp_path / "tune.sqlite"
    store = Store(path)
    store._base.execute("PRAGMA max_page_count=8")  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(UsageError, match="full"):
        run(problem, store, 500)
    store.close()
    again = Store(path)
    kept = len(again.trials(1))
    assert kept > 0
    assert len(run(problem, again, kept + 2)) == kept + 2
    again.close()


def test_a_replay_needs_only_the_database(problem: Problem, store: Store) -> None:
    trials = run(problem, store, 10_000, "grid")
    Path(problem.mappings[0]).unlink()
    (number, search), *_ = store.searches()
    sweep = sweep_of(search.keys, store.trials(number))
    assert sweep.best == min(trial.seconds for trial in trials)
    history = replayed(sweep, METHODS["evolution"], 0, 24)
    assert len({each.point for each in history}) == 24
    assert best_so_far(history)[-1] == pytest.approx(sweep.best, rel=0.1)
    regrets = median_regrets(sweep, METHODS["random"], range(3), 24)
    assert len(regrets) == 24
    assert np.all(np.diff(regrets) <= 0)

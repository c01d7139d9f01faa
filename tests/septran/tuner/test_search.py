"""Searches: what is proposed, what is stored, and how a search goes on after an interruption."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eas.septran.tuner import driver, proposers
from eas.septran.tuner.driver import Budget, Tuner, answered_by
from eas.septran.tuner.measure import Trial
from eas.septran.tuner.methods import METHODS
from eas.septran.tuner.prediction import Model, Tried, facts_of
from eas.septran.tuner.problem import Candidates, Problem
from eas.septran.tuner.proposers import PROPOSERS
from eas.septran.tuner.space import Point
from eas.septran.tuner.store import Store, Stored
from eas.septran.tuner.sweeps import best_so_far, median_regrets, replayed, sweep_of
from eas.support.command_line import UsageError
from eas.support.records import replace
from eas.tuning.outcomes import Outcome
from tests.septran.tuner.problems import LOGIC, MAPPING, by_formula, formula, problem
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
    model = Model(candidates.space, facts_of(candidates))
    legal = [point for point in candidates.space.points() if model.is_legal(point)]
    assert [candidates.space.point(trial.values) for trial in trials] == legal


@pytest.mark.parametrize("method", ["evolution", pytest.param("annealing", marks=thorough)])
def test_a_search_finds_the_best_of_a_formula(problem: Problem, store: Store, method: str) -> None:
    everything = min(formula(trial.values) for trial in run(problem, store, 10_000, "grid"))
    found = min(trial.seconds for trial in run(problem, store, 40, method))
    assert found == pytest.approx(everything, rel=0.05)


def methods(first: str) -> list[Any]:
    """All of them; one runs always."""
    return [pytest.param(each, marks=() if each == first else thorough) for each in METHODS]


@pytest.mark.parametrize("method", methods("evolution"))
def test_a_resumed_search_equals_an_uninterrupted_one(
    problem: Problem, tmp_path: Path, method: str
) -> None:
    """Whether it ended in good order, or in the middle of a trial."""
    whole, parts = Store(tmp_path / "whole.sqlite"), Store(tmp_path / "parts.sqlite")
    expected = run(problem, whole, 16, method)
    for trials in (1, 4, 13):
        run(problem, parts, trials, method)
        with pytest.raises(KeyboardInterrupt):
            Tuner(problem, parts, method=method, attempt=interrupted).run(Budget(16))
    assert rows(run(problem, parts, 16, method)) == rows(expected)
    whole.close()
    parts.close()


def interrupted(trial: Trial) -> Outcome:
    raise KeyboardInterrupt


@thorough
@pytest.mark.parametrize("method", methods("optuna"))
def test_a_resumed_replay_equals_an_uninterrupted_one(
    problem: Problem, tmp_path: Path, method: str
) -> None:
    """Trials are answered from a stored sweep; some of its candidates must not win."""
    sweep = Store(tmp_path / "sweep.sqlite")
    Tuner(problem, sweep, method="grid", attempt=moody).run(Budget(10_000))
    answer = answered_by(sweep.trials(1))
    whole, parts = Store(tmp_path / "whole.sqlite"), Store(tmp_path / "parts.sqlite")
    Tuner(problem, whole, method=method, attempt=answer).run(Budget(20))
    for trials in (2, 3, 11, 20):
        Tuner(problem, parts, method=method, attempt=answer).run(Budget(trials))
    assert rows(parts.trials(1)) == rows(whole.trials(1))
    assert {each.outcome.status for each in whole.trials(1)} <= {"ok", "wrong"}
    for store in (sweep, whole, parts):
        store.close()


def moody(trial: Trial) -> Outcome:
    wrong = dict(trial.values)["gemm_host.block_m"] == 16
    return Outcome("wrong", "planted") if wrong else by_formula(trial)


def test_a_replay_refuses_what_was_not_measured(problem: Problem, store: Store) -> None:
    trials = run(problem, store, 3)
    tuner = Tuner(problem, store, seed=7, method="random", attempt=answered_by(trials[:1]))
    tuner.run(Budget(5))
    assert {each.outcome.reason for each in tuner.trials} == {"it was not measured"}


def test_results_of_another_version_computer_or_logic_are_refused(
    problem: Problem, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(problem, store, 3)
    again = Tuner(problem, store, attempt=by_formula)
    assert (again.resumed, again.refused_results()) == (1, [])

    elsewhere = Tuner(problem, store, attempt=by_formula, measuring="another")
    assert elsewhere.resumed is None
    (line,) = elsewhere.refused_results()
    assert line.startswith(f"3 trials of search 1 in {store.path} are not used: the computer was ")

    with monkeypatch.context() as patched:
        patched.setattr(driver, "package_version", lambda: "9.9")
        later = Tuner(problem, store, attempt=by_formula)
        assert later.resumed is None
        assert later.refused_results()[0].endswith("easy_as was 0.1.0, not 9.9")

    (tmp_path / "other").mkdir()
    logic = tmp_path / "other" / "gemm_logic.py"
    logic.write_text(LOGIC.read_text("utf-8") + "\n# another\n", "utf-8")
    changed = Tuner(replace(problem, logic=str(logic)), store, attempt=by_formula)
    assert changed.resumed is None
    assert changed.refused_results()[0].endswith("the logic was another")

    path = Path(problem.mappings[0])
    path.write_text(path.read_text("utf-8") + "# another\n", "utf-8")
    remapped = Tuner(problem, store, attempt=by_formula)
    assert remapped.resumed is None
    assert remapped.refused_results()[0].endswith("the mapping was another")


def test_the_same_files_elsewhere_are_the_same_search(
    problem: Problem, store: Store, tmp_path: Path
) -> None:
    run(problem, store, 3)
    (tmp_path / "other").mkdir()
    logic = shutil.copy(problem.logic, tmp_path / "other")
    mapping = shutil.copy(problem.mappings[0], tmp_path / "other")
    moved = replace(problem, logic=logic, mappings=(mapping,))
    assert Tuner(moved, store, attempt=by_formula).resumed == 1


def test_a_module_that_the_logic_imports_is_a_part_of_it(problem: Problem, tmp_path: Path) -> None:
    (tmp_path / "logic").mkdir()
    logic, beside = tmp_path / "logic" / "gemm_logic.py", tmp_path / "logic" / "gemm_sizes.py"
    text = LOGIC.read_text("utf-8")
    logic.write_text(text.replace("from eas", "import gemm_sizes\nfrom eas", 1), "utf-8")
    beside.write_text("SIDE = 3\n", "utf-8")
    first = Candidates(replace(problem, logic=str(logic))).fingerprint
    assert Candidates(replace(problem, logic=str(logic))).fingerprint == first
    beside.write_text("SIDE = 4\n", "utf-8")
    assert Candidates(replace(problem, logic=str(logic))).fingerprint != first


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


class RefusesAll:
    """A model to which no point is legal."""

    def is_legal(self, point: Point) -> bool:
        return False

    def predict(self, points: object, history: object) -> Any:
        raise AssertionError("nothing is legal")

    gains = predict


@pytest.mark.parametrize("method", sorted(PROPOSERS))
def test_a_vast_space_without_a_legal_point_is_given_up(
    problem: Problem, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposers, "_MOST_REFUSED", 1000)
    text = MAPPING.replace("type: pow2, low: 8, high: 32", "type: int, low: 1, high: 1000")
    text = text.replace("low: 8, high: 16, step: 8", "low: 1, high: 1000")
    Path(problem.mappings[0]).write_text(text, "utf-8")
    space = Candidates(problem).space
    assert space.size > 10**9
    for history in ([], [Tried((0,) * len(space.tunes), 1.0)]):
        random = np.random.default_rng(0)
        assert PROPOSERS[method](space, history, RefusesAll(), random) is None

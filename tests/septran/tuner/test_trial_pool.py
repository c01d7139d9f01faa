"""Trials on the workers of executors: threads, processes, and workers that are lost or differ."""

from __future__ import annotations

import os
import threading
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from eas.septran.tuner import trial_pool
from eas.septran.tuner.driver import Budget, Tuner
from eas.septran.tuner.measure import Trial
from eas.septran.tuner.problem import Problem
from eas.septran.tuner.store import Store
from eas.support.command_line import UsageError
from eas.tuning.outcomes import Outcome
from tests.septran.tuner.problems import by_formula, problem
from tests.thorough import thorough

__all__ = ["problem"]


def dies_once(trial: Trial) -> Outcome:
    """The first process of all that runs this is killed."""
    try:
        os.close(os.open("died", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return by_formula(trial)
    os._exit(9)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    made = Store(tmp_path / "tune.sqlite")
    yield made
    made.close()


def test_trials_run_in_processes(problem: Problem, store: Store) -> None:
    tuner = Tuner(problem, store, attempt=by_formula)
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as executor:
        tuner.run(Budget(6), executor, workers=2)
    assert len({str(trial.values) for trial in tuner.trials}) == 6


@thorough
def test_a_pool_whose_process_dies_is_named_and_the_search_goes_on_later(
    problem: Problem, store: Store
) -> None:
    context = get_context("forkserver")
    with (
        ProcessPoolExecutor(1, mp_context=context) as executor,
        pytest.raises(UsageError, match=r"the workers are gone: .*; what was measured is stored"),
    ):
        Tuner(problem, store, attempt=dies_once).run(Budget(6), executor, workers=1)
    tuner = Tuner(problem, store, attempt=dies_once)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        tuner.run(Budget(4), executor, workers=1)
    assert [trial.outcome.status for trial in tuner.trials] == ["ok"] * 4


class Lossy(ThreadPoolExecutor):
    """An executor whose worker is lost at some submissions."""

    def __init__(self, lost: set[int]) -> None:
        super().__init__(2)
        self.lost = lost
        self.submitted = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        if self.submitted in self.lost:
            future: Future[Any] = Future()
            future.set_exception(ConnectionError("the worker is gone"))
            return future
        return super().submit(fn, *args, **kwargs)


def test_a_trial_whose_worker_is_lost_is_tried_again(problem: Problem, store: Store) -> None:
    tuner = Tuner(problem, store, attempt=by_formula)
    with Lossy({1, 3, 4}) as executor:
        tuner.run(Budget(5), executor, workers=2)
    assert executor.submitted == 8
    assert [trial.outcome.status for trial in tuner.trials] == ["ok"] * 5


def test_a_trial_that_loses_every_worker_is_recorded(problem: Problem, store: Store) -> None:
    tuner = Tuner(problem, store, attempt=by_formula)
    with Lossy({1, 2, 3}) as executor:
        tuner.run(Budget(3), executor, workers=1)
    first, *others = [trial.outcome for trial in tuner.trials]
    assert first.status == "failed"
    assert first.reason == "its worker was lost 3 times: ConnectionError: the worker is gone"
    assert [each.status for each in others] == ["ok", "ok"]


def test_a_worker_that_never_answers_is_given_up(
    problem: Problem, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent: list[Future[Any]] = []

    class Silent(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            if len(silent) < 2:
                silent.append(Future())
                return silent[-1]
            return super().submit(fn, *args, **kwargs)

    monkeypatch.setattr(Tuner, "_patience", 0.2)
    tuner = Tuner(problem, store, attempt=by_formula)
    with Silent(1) as executor:
        tuner.run(Budget(3), executor, workers=1)
    assert [trial.outcome.status for trial in tuner.trials] == ["ok"] * 3
    assert all(each.cancelled() for each in silent)


def only_checks(trial: Trial) -> Outcome:
    """As a worker on another computer: candidates of one height are wrong there, too."""
    wrong = dict(trial.values)["gemm_host.block_m"] == 16
    return Outcome("wrong", "planted") if wrong else Outcome("ok")


def test_candidates_that_were_only_checked_are_timed_by_those_that_measure(
    problem: Problem, store: Store
) -> None:
    asked: Counter[str] = Counter()

    def attempt(trial: Trial) -> Outcome:
        name = threading.current_thread().name.partition("_")[0]
        asked[name] += 1
        return by_formula(trial) if name == "timer" else only_checks(trial)

    tuner = Tuner(problem, store, attempt=attempt)
    with (
        ThreadPoolExecutor(3, "checker") as checkers,
        ThreadPoolExecutor(1, "timer") as timers,
    ):
        best = tuner.run(Budget(12), checkers, workers=3, timing=timers)
    statuses = Counter(trial.outcome.status for trial in tuner.trials)
    assert asked == {"checker": 12, "timer": statuses["ok"]}
    assert statuses["ok"] + statuses["wrong"] == 12
    assert best is not None and best.seconds < 1.0


def test_what_nobody_measures_never_wins(problem: Problem, store: Store) -> None:
    tuner = Tuner(problem, store, attempt=only_checks, measuring="a computer that is not there")
    with ThreadPoolExecutor(2) as executor:
        assert tuner.run(Budget(3), executor, workers=2) is None
    assert {trial.seconds for trial in tuner.trials} == {float("inf")}


def test_an_interruption_ends_the_trials_of_all_threads(problem: Problem, store: Store) -> None:
    """Ctrl-C while two real trials run: their processes end, and nobody waits for them."""
    start, started = trial_pool.TrialPool.start, [0]

    def interrupt(self: trial_pool.TrialPool, *args: Any) -> None:
        start(self, *args)
        started[0] += 1
        if started[0] == 2:
            raise KeyboardInterrupt

    tuner = Tuner(problem, store)
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as executor:
        patch.setattr(trial_pool.TrialPool, "start", interrupt)
        with pytest.raises(KeyboardInterrupt):
            tuner.run(Budget(6), executor, workers=2)
    assert tuner.trials == []


def test_a_trial_is_compared_with_the_one_that_it_was_timed_beside(
    problem: Problem, store: Store
) -> None:
    """Another may have become the best one while it ran."""
    second = threading.Event()
    begun: list[Trial] = []

    def attempt(trial: Trial) -> Outcome:
        begun.append(trial)
        beside = () if trial.best is None else (8.0,)
        match len(begun):
            case 1:
                return Outcome("ok", samples=(8.0,), beside=beside)
            case 2:
                assert second.wait(60)
                return Outcome("ok", samples=(6.0,), beside=beside)
            case _:
                second.set()
                return Outcome("ok", samples=(2.0,), beside=beside)

    tuner = Tuner(problem, store, attempt=attempt)
    tuner.run(Budget(1))
    with ThreadPoolExecutor(2) as executor:
        tuner.run(Budget(3), executor, workers=2)
    assert sorted(trial.seconds for trial in tuner.trials) == [2.0, 6.0, 8.0]

"""A search: proposes candidates, has them tried, and stores what came of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from eas.septran.tuner.measure import TOLERANCES, Trial, close_children, computer, pairs, run_trial
from eas.septran.tuner.methods import method_of
from eas.septran.tuner.prediction import Model, Tried, facts_of
from eas.septran.tuner.problem import Candidates, Problem
from eas.septran.tuner.proposers import Proposer
from eas.septran.tuner.space import Point, Values
from eas.septran.tuner.store import Search, Store, Stored
from eas.support.command_line import UsageError
from eas.support.records import frozen, replace
from eas.tuning.isolation import Limits
from eas.tuning.judging import Plan
from eas.tuning.outcomes import Outcome

Try = Callable[[Trial], Outcome]
Watch = Callable[["Progress"], None]


@frozen
class Budget:
    """When a search ends: after so many trials, or so many seconds."""

    trials: int = 64
    seconds: float = float("inf")


@frozen
class Progress:
    """How far a search is. `refused` counts trials without a time, by the reason's first word."""

    done: int
    budget: Budget
    elapsed: float
    best: Stored | None
    refused: Counter[str]


def package_version() -> str:
    try:
        return version("easy_as")
    except PackageNotFoundError:  # a checkout that is not installed
        return "unknown"


class Tuner:
    """The search of a problem by one method, in a store that it resumes from."""

    def __init__(
        self,
        problem: Problem,
        store: Store,
        *,
        method: str = "evolution",
        proposer: Proposer | None = None,
        seed: int = 0,
        plan: Plan | None = None,
        limits: Limits | None = None,
        attempt: Try = run_trial,
    ) -> None:
        self.candidates = Candidates(problem)
        if not self.candidates.space.tunes:
            raise UsageError("nothing is open in the mapping: write `!tune`, or give `--auto`")
        self._store = store
        self._method, self._seed = method, seed
        self._proposer = proposer or method_of(method)
        tolerance = TOLERANCES.get(problem.dtype, 0.0)
        self._plan = replace(plan or Plan(rounds=5), tolerance=tolerance)
        self._limits = limits or Limits()
        self._attempt = attempt
        self.model = Model(facts_of(self.candidates))
        self.trials: list[Stored] = []

    @cached_property
    def search(self) -> int:
        """The number of the search in the store; its trials are read if it is there."""
        wanted = self.description
        found = self._store.find(wanted)
        if found is None:
            return self._store.add_search(wanted)
        self.trials = self._store.trials(found)
        return found

    @cached_property
    def description(self) -> Search:
        """What the search depends on."""
        keys = tuple(tune.key for tune in self.candidates.space.tunes)
        return Search(
            self.candidates.fingerprint,
            computer(),
            package_version(),
            self._method,
            self._seed,
            self.candidates.title,
            keys,
            repr(self.candidates.problem),
        )

    @property
    def best(self) -> Stored | None:
        """The fastest candidate that is right."""
        right = [each for each in self.trials if each.outcome.is_right]
        return min(right, key=lambda each: each.seconds, default=None)

    def run(
        self,
        budget: Budget,
        executor: Executor | None = None,
        workers: int = 1,
        watch: Watch | None = None,
    ) -> Stored | None:
        """Tries candidates until the budget is used up; the best one of all is the answer.

        It goes on after the trials that the store has. What is interrupted can be resumed.
        """
        begun = time.monotonic()
        _ = self.search
        running: dict[Future[Outcome], Point] = {}
        try:
            while True:
                self._watch(watch, budget, begun)
                self._start(running, budget, begun, executor, workers)
                if not running:
                    return self.best
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    self._finish(running.pop(future), future.result())
        finally:
            for future in running:
                future.cancel()
            close_children()

    def _start(
        self,
        running: dict[Future[Outcome], Point],
        budget: Budget,
        begun: float,
        executor: Executor | None,
        workers: int,
    ) -> None:
        while len(running) < workers:
            is_over = time.monotonic() - begun >= budget.seconds
            if is_over or len(self.trials) + len(running) >= budget.trials:
                return
            point = self._propose(list(running.values()))
            if point is None:
                return
            running[self._submitted(executor, self._trial(point))] = point

    def _submitted(self, executor: Executor | None, trial: Trial) -> Future[Outcome]:
        if executor is not None:
            return executor.submit(self._attempt, trial)
        future: Future[Outcome] = Future()
        future.set_result(self._attempt(trial))
        return future

    def _propose(self, running: Sequence[Point]) -> Point | None:
        space = self.candidates.space
        history = [Tried(space.point(each.values), each.seconds) for each in self.trials]
        history += [Tried(point, float("inf")) for point in running]
        random = np.random.default_rng([self._seed, len(history)])
        return self._proposer(space, history, self.model, random)

    def _trial(self, point: Point) -> Trial:
        best = self.best
        return Trial(
            self.candidates.problem,
            pairs(self.candidates.space.values(point)),
            None if best is None else pairs(best.values),
            self._plan,
            self._limits,
            computer(),
        )

    def _finish(self, point: Point, outcome: Outcome) -> None:
        best = self.best
        seconds = outcome.relative_to(float("inf") if best is None else best.seconds)
        values = self.candidates.space.values(point)
        facts = self.model.facts(point)
        assert facts is not None
        trial = Stored(len(self.trials), values, outcome, seconds, facts)
        self._store.add(self.search, trial)
        self.trials.append(trial)

    def _watch(self, watch: Watch | None, budget: Budget, begun: float) -> None:
        if watch is None:
            return
        failed = [each.outcome for each in self.trials if not each.outcome.is_right]
        refused = Counter(_kind(each) for each in failed)
        watch(Progress(len(self.trials), budget, time.monotonic() - begun, self.best, refused))


def _kind(outcome: Outcome) -> str:
    """The code of a refusal, else the status."""
    return outcome.reason.partition(":")[0] if outcome.status == "refused" else outcome.status


def in_words(values: Values) -> str:
    """Values as `--tune` takes them."""
    return ", ".join(f"{key}={value}" for key, value in values.items())

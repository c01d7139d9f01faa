"""A search: proposes candidates, has them tried, and stores what came of them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import cached_property

import numpy as np

from eas.ir.types import DTYPES
from eas.septran.logic.numpy_reference import tolerance_of
from eas.septran.tuner.measure import Chosen, Trial, close_children, computer, pairs, run_trial
from eas.septran.tuner.methods import method_of
from eas.septran.tuner.prediction import Model, Tried, facts_of
from eas.septran.tuner.problem import Candidates, Problem, require_open
from eas.septran.tuner.proposers import Proposer
from eas.septran.tuner.space import Point, Values
from eas.septran.tuner.store import Search, Store, Stored
from eas.septran.tuner.trial_pool import PATIENCE, Job, TrialPool, Try
from eas.support.command_line import UsageError
from eas.support.package_version import package_version
from eas.support.records import frozen, replace
from eas.tuning.isolation import Limits
from eas.tuning.judging import Plan
from eas.tuning.outcomes import Outcome, usual_slowness

Watch = Callable[["Progress"], None]


@frozen
class Budget:
    """When a search ends: after so many trials, or so many seconds."""

    trials: int = 64
    seconds: float = float("inf")


@frozen
class Progress:
    """How far a search is. `refused` counts trials without a time, by the reason's first word.

    `resumed` of the trials that are `done` were stored before; `elapsed` are the seconds since.
    """

    done: int
    budget: Budget
    elapsed: float
    best: Stored | None
    refused: Counter[str]
    resumed: int = 0

    @property
    def left(self) -> float | None:
        """The seconds that the rest should take, if anything is known of that."""
        done = self.done - self.resumed
        if done <= 0:
            return None
        rest = self.elapsed / done * (self.budget.trials - self.done)
        return max(0.0, min(rest, self.budget.seconds - self.elapsed))


class Tuner:
    """The search of a problem by one method, in a store that it resumes from.

    `measuring` is the fingerprint of the computer whose times count, if it is not this one.
    """

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
        measuring: str | None = None,
    ) -> None:
        self.candidates = Candidates(problem)
        require_open(self.candidates.base.mapping)
        self._store = store
        self._method, self._seed = method, seed
        self._proposer = proposer or method_of(method)
        tolerance = tolerance_of(DTYPES[problem.dtype])
        self._plan = replace(plan or Plan(rounds=5), tolerance=tolerance)
        self._limits = limits or Limits()
        self._attempt = attempt
        self._measuring = measuring or computer()
        self.model = Model(self.candidates.space, facts_of(self.candidates))
        self.trials: list[Stored] = []
        self.stored_before = 0  # trials that `run` found in the store
        self.is_exhausted = False  # nothing was left to propose
        self.is_shared = False  # with another process that goes on with the same search

    @cached_property
    def search(self) -> int:
        """The number of the search in the store; its trials are read if it is there."""
        found = self.resumed
        if found is None:
            return self._store.add_search(self.description)
        self.trials = self._store.trials(found)
        try:
            for each in self.trials:
                self.candidates.space.point(each.values)
        except (KeyError, StopIteration) as error:
            what = f"search {found} of {self._store.path}"
            raise UsageError(
                f"{what} has values that the mapping has not: it is damaged; "
                "move it away or give another --db"
            ) from error
        return found

    @cached_property
    def resumed(self) -> int | None:
        """The number of the search in the store that this one goes on with."""
        return self._store.find(self.description)

    @cached_property
    def description(self) -> Search:
        """What the search depends on."""
        keys = tuple(tune.key for tune in self.candidates.space.tunes)
        return Search(
            self.candidates.fingerprint,
            self._measuring,
            package_version(),
            self._method,
            self._seed,
            self.candidates.title,
            keys,
            json.dumps(self.candidates.parts),
        )

    def refused_results(self, *, is_all: bool = False) -> list[str]:
        """Which stored trials look like those of this search and are not used, with the reasons.

        `is_all` if those that do not look like them are wanted, too.
        """
        wanted = self.description
        lines: list[str] = []
        for number, search in self._store.searches():
            is_alike = (search.title, search.method, search.seed) == (
                wanted.title,
                wanted.method,
                wanted.seed,
            )
            reasons = differences(search, wanted) if is_alike or is_all else []
            if reasons and (count := self._store.count(number)):
                what = f"{in_number(count, 'trial')} of search {number} in {self._store.path}"
                is_or_are = "is" if count == 1 else "are"
                lines.append(f"{what} {is_or_are} not used: {', '.join(reasons)}")
        return lines

    @property
    def best(self) -> Stored | None:
        """The fastest candidate that is right; one that was only checked has no time."""
        right = [each for each in self.trials if each.seconds < float("inf")]
        return min(right, key=lambda each: each.seconds, default=None)

    def run(
        self,
        budget: Budget,
        executor: Executor | None = None,
        workers: int = 1,
        watch: Watch | None = None,
        timing: Executor | None = None,
    ) -> Stored | None:
        """Tries candidates until the budget is used up; the best one of all is the answer.

        It goes on after the trials that the store has. What is interrupted can be resumed. With an
        `executor`, as many trials as there are `workers` run at once. Workers on another computer
        than the one that measures only check a candidate; `timing` is an executor for those that
        are right, or None if this computer times them itself.
        """
        begun = time.monotonic()
        _ = self.search
        self.stored_before = len(self.trials)
        pool = TrialPool(self._attempt, executor, self._timing(executor, timing), self._patience)
        try:
            while True:
                self._watch(watch, budget, begun)
                self._start(pool, budget, begun, workers)
                if not pool.points:
                    return self.best
                for job, outcome in pool.finished():
                    self._finish(job, outcome)
        finally:
            pool.close()
            close_children()

    @property
    def _patience(self) -> float:
        return PATIENCE + 4 * self._limits.seconds

    def _timing(self, executor: Executor | None, timing: Executor | None) -> Executor | None:
        """Where candidates that were only checked go."""
        return timing if timing is not None or self._measuring == computer() else executor

    def _start(self, pool: TrialPool, budget: Budget, begun: float, workers: int) -> None:
        while len(pool.points) < workers:
            is_over = time.monotonic() - begun >= budget.seconds
            if is_over or len(self.trials) + len(pool.points) >= budget.trials:
                return
            point = self._propose(pool.points)
            self.is_exhausted = point is None
            if point is None:
                self._require_trials(pool.points)
                return
            pool.start(point, self._trial(point))

    def _require_trials(self, running: Sequence[Point]) -> None:
        """Refuses a search of which static checks let nothing through."""
        if self.trials or running:
            return
        raise self.candidates.nothing_passes()

    def _propose(self, running: Sequence[Point]) -> Point | None:
        space = self.candidates.space
        history = [Tried(space.point(each.values), each.seconds) for each in self.trials]
        history += [Tried(point, float("inf")) for point in running]
        random = np.random.default_rng([self._seed, len(history)])
        while True:
            point = self._proposer(space, history, self.model, random)
            if point is None or self.candidates.passes(space.values(point)):
                return point
            history.append(Tried(point, float("inf")))

    def _trial(self, point: Point) -> Trial:
        best = self.best
        return Trial(
            self.candidates.problem,
            pairs(self.candidates.space.values(point)),
            None if best is None else pairs(best.values),
            self._plan,
            self._limits,
            self._measuring,
            self.candidates.origin,
        )

    def _finish(self, job: Job, outcome: Outcome) -> None:
        tried = ((each.outcome, each.seconds) for each in self.trials)
        seconds = outcome.relative_to(self._seconds_of(job.trial.best), usual_slowness(tried))
        values = self.candidates.space.values(job.point)
        facts = self.model.facts(job.point)
        assert facts is not None
        trial = Stored(len(self.trials), values, outcome, seconds, facts)
        if self._store.add(self.search, trial) == trial.number:
            self.trials.append(trial)
        else:  # another process has stored trials of this search
            self.is_shared = True
            self.trials = self._store.trials(self.search)

    def _seconds_of(self, chosen: Chosen | None) -> float:
        """What the candidate took that was the best one when a trial began."""
        found = (t.seconds for t in self.trials if chosen is not None and pairs(t.values) == chosen)
        return min(found, default=float("inf"))

    def _watch(self, watch: Watch | None, budget: Budget, begun: float) -> None:
        if watch is None:
            return
        failed = [each.outcome for each in self.trials if not each.outcome.is_right]
        refused = Counter(_kind(each) for each in failed)
        elapsed = time.monotonic() - begun
        done, before = len(self.trials), self.stored_before
        watch(Progress(done, budget, elapsed, self.best, refused, before))


def answered_by(trials: Sequence[Stored]) -> Try:
    """Trials that are answered from stored ones, in place of measuring: `Tuner(attempt=...)`."""
    known = {pairs(each.values): each for each in trials}

    def answer(trial: Trial) -> Outcome:
        found = known.get(trial.values)
        if found is None:
            return Outcome("refused", "it was not measured")
        samples = (found.seconds,) if found.outcome.is_right else ()
        return Outcome(found.outcome.status, found.outcome.reason, samples)

    return answer


def differences(stored: Search, wanted: Search) -> list[str]:
    """Why the results of a search are not those of another, in words."""
    try:
        before: dict[str, str] = json.loads(stored.problem)
    except ValueError:
        before = {}
    now: dict[str, str] = json.loads(wanted.problem)
    others = [name for name in now if before.get(name) != now[name]]
    if stored.fingerprint == wanted.fingerprint:
        others = []
    found = [f"the {name} was another" for name in others if name != "sizes"]
    if stored.title != wanted.title:
        found.append(f"it was of {stored.title}, not of {wanted.title}")
    elif "sizes" in others:
        found.append("the values of --tune were others")
    if stored.method != wanted.method:
        found.append(f"the method was {stored.method}, not {wanted.method}")
    if stored.seed != wanted.seed:
        found.append(f"the seed was {stored.seed}, not {wanted.seed}")
    if stored.version != wanted.version:
        found.append(f"easy_as was {stored.version}, not {wanted.version}")
    if stored.computer != wanted.computer:
        found.append(f"the computer was {stored.computer}, not {wanted.computer}")
    return found


def _kind(outcome: Outcome) -> str:
    """The code of a refusal, else the status."""
    return outcome.reason.partition(":")[0] if outcome.status == "refused" else outcome.status


def in_number(count: int, what: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def in_words(values: Values) -> str:
    """Values as `--tune` takes them."""
    return ", ".join(f"{key}={value}" for key, value in values.items())

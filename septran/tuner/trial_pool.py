"""Trials that run at once on the workers of an executor, which may be slow, lost or killed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)

from eas.septran.tuner.measure import Trial
from eas.septran.tuner.space import Point
from eas.support.command_line import UsageError
from eas.support.records import frozen, replace
from eas.tuning.isolation import LONGEST
from eas.tuning.outcomes import Outcome

Try = Callable[[Trial], Outcome]

PATIENCE = 600.0  # seconds, besides the limits of a trial, after which a worker is given up
RETRIES = 2  # of a trial whose worker was lost
CHECKS = 8  # answers without a time, after which a candidate is left without one


@frozen
class Job:
    """A trial at a worker: how often its worker was lost, and how often it was only checked."""

    point: Point
    trial: Trial
    since: float
    losses: int = 0
    checks: int = 0


class TrialPool:
    """The trials of a search that run now.

    A trial whose worker is lost is tried again, and recorded as failed if that does not help. A
    candidate that a worker has checked but not timed goes to the executor `timing`, else to a
    thread of this process.
    """

    def __init__(
        self,
        attempt: Try,
        executor: Executor | None,
        timing: Executor | None,
        patience: float = PATIENCE,
    ) -> None:
        self._attempt = attempt
        self._executor = executor
        self._timing = timing
        self._patience = patience
        self._own: ThreadPoolExecutor | None = None
        self._running: dict[Future[Outcome], Job] = {}

    @property
    def points(self) -> list[Point]:
        """What is tried now."""
        return [job.point for job in self._running.values()]

    def start(self, point: Point, trial: Trial) -> None:
        self._submit(Job(point, trial, time.monotonic()), self._executor)

    def finished(self) -> Iterator[tuple[Job, Outcome]]:
        """Waits for trials, and gives what came of those that are done; perhaps none."""
        oldest = min(job.since for job in self._running.values())
        left = min(max(0.0, oldest + self._patience - time.monotonic()), LONGEST)
        done, _ = wait(self._running, left, FIRST_COMPLETED)
        for future in done or self._overdue():
            job = self._running.pop(future)
            outcome = self._outcome(job, future)
            if outcome is not None:
                yield job, outcome

    def close(self) -> None:
        """Gives up what still runs."""
        for future in self._running:
            future.cancel()
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)

    def _overdue(self) -> list[Future[Outcome]]:
        late = time.monotonic() - self._patience
        found = [future for future, job in self._running.items() if job.since <= late]
        for future in found:
            future.cancel()
        return found

    def _outcome(self, job: Job, future: Future[Outcome]) -> Outcome | None:
        """What came of a job; None if it was submitted again."""
        try:
            outcome = future.result(timeout=0)
        except BrokenExecutor as error:
            raise _gone(error) from error
        except Exception as error:
            return self._retried(job, f"{type(error).__name__}: {error}")
        if outcome.is_right and not outcome.samples and job.checks < CHECKS:
            self._submit(replace(job, checks=job.checks + 1), self._timing or self._own_thread())
            return None
        return outcome

    def _retried(self, job: Job, reason: str) -> Outcome | None:
        if job.losses == RETRIES:
            return Outcome("failed", f"its worker was lost {RETRIES + 1} times: {reason}")
        self._submit(replace(job, losses=job.losses + 1), self._executor)
        return None

    def _submit(self, job: Job, executor: Executor | None) -> None:
        if executor is None:
            future: Future[Outcome] = Future()
            future.set_result(self._attempt(job.trial))
        else:
            try:
                future = executor.submit(self._attempt, job.trial)
            except BrokenExecutor as error:
                raise _gone(error) from error
        self._running[future] = replace(job, since=time.monotonic())

    def _own_thread(self) -> ThreadPoolExecutor:
        if self._own is None:
            self._own = ThreadPoolExecutor(1)
        return self._own


def _gone(error: BrokenExecutor) -> UsageError:
    text = f"the workers are gone: {error or type(error).__name__}"
    return UsageError(f"{text}; what was measured is stored, and the search can be resumed")

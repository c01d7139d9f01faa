"""All tasks of this process: they are put into queues in one order, and finish in any."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from eas.runtime.refusals import BadArgument
from eas.runtime.streams.active import ACTIVE
from eas.runtime.streams.hazards import Access, Ledger
from eas.runtime.streams.launch_tasks import Task
from eas.runtime.this_process import in_forked_child
from eas.support.environment import Variable

VARIABLE = Variable("EAS_MAX_IN_FLIGHT")
MOST_IN_FLIGHT = 256  # launches of a stream; the next one waits


class ForkedError(RuntimeError):
    """A launch of the parent process, which a forked one cannot wait for."""


class Ordering:
    """`lock` guards what tasks and the ledger hold; nobody waits for a task while holding it.

    `submitting` is held from the entry in the ledger until a task is in its queue, so that a task
    is put behind all that it needs.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.submitting = threading.RLock()
        self.ledger: Ledger[Task] = Ledger()
        self.count = 0
        self.on_first: list[Callable[[], None]] = []

    def submit(self, task: Task, accesses: Sequence[Access], needs: Iterable[Task] = ()) -> None:
        """Puts a task into its queue, behind what it needs."""
        while self.on_first:
            self.on_first.pop()()
        with self.submitting:
            with self.lock:
                self.count += 1
                task.number = self.count
                found = self.ledger.add(task, accesses)
                task.needs = [*found, *(each for each in needs if not each.is_settled)]
                ACTIVE.add(task)
            task.queue.put(task)

    def finish(self, task: Task, error: BaseException | None, at: float | None = None) -> None:
        """A task is done. What it holds is let go of outside of the lock: that may run any code."""
        held = (task.launch, task.needs)
        with self.lock:
            task.finished_at = time.perf_counter() if at is None else at
            task.error = None if error is None else error.with_traceback(None)
            for need in task.needs:
                if need.failures:
                    task.failures = _joined(task.failures, need.failures)
            if error is not None:
                task.failures = (*task.failures, task)
                self.ledger.has_failures = True
            task.launch, task.needs = None, ()
            task.is_done = True
            if error is None:
                ACTIVE.discard(task)
            wake = task.wake
        if wake is not None:
            wake.set()
        del held

    def needs(self, accesses: Sequence[Access]) -> list[Task]:
        """The tasks that an access of memory has to wait for."""
        with self.lock:
            return self.ledger.needs(accesses)

    def tasks(self) -> list[Task]:
        """The tasks that are in flight or have failed without a report, the oldest first."""
        with self.lock:
            found = [each for each in ACTIVE if isinstance(each, Task)]
        return sorted(found, key=lambda task: task.number)

    def forget(self) -> None:
        """In a forked process: it has none of the threads that would run the tasks."""
        self.lock, self.submitting = threading.RLock(), threading.RLock()
        self.ledger = Ledger()
        for task in [each for each in ACTIVE if isinstance(each, Task)]:
            ACTIVE.discard(task)
            is_running = not task.is_done
            task.is_done = True
            if is_running:
                task.error = ForkedError(
                    f"the launch of `{task.kernel}` at {task.place} is one of the process "
                    f"{os.getppid()}: wait for it before the fork"
                )
                task.failures = (task,)


def _joined(failures: tuple[Task, ...], more: tuple[Task, ...]) -> tuple[Task, ...]:
    """The tasks that have failed and whose errors were not raised, each once."""
    return tuple(each for each in dict.fromkeys((*failures, *more)) if not each.is_reported)


ORDERING = Ordering()
in_forked_child(ORDERING.forget)


def most_in_flight() -> int:
    """`EAS_MAX_IN_FLIGHT`: how many launches of a stream may be unfinished."""
    text = VARIABLE.text()
    if not text:
        return MOST_IN_FLIGHT
    if not text.isdecimal() or int(text) < 1:
        raise BadArgument(f"{VARIABLE.name} is a number of launches from 1 on, not {text!r}")
    return int(text)

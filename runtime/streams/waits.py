"""Waits for tasks, and raises what went wrong in them: each error once."""

from __future__ import annotations

import atexit
import os
import sys
import time
import traceback
from collections.abc import Iterable, Sequence

from eas.runtime.streams.active import ACTIVE
from eas.runtime.streams.hazards import Access
from eas.runtime.streams.launch_tasks import Task
from eas.runtime.streams.ordering import ORDERING
from eas.runtime.streams.recording import RECORDER

GRACE = 2.0  # seconds that a cancelled launch gets to stop


def wait_for(tasks: Sequence[Task]) -> None:
    """Waits for tasks and raises their errors.

    Ctrl-C cancels all launches in flight: those in queues are dropped, those that run are stopped
    at the next safepoint.
    """
    wait_quietly(tasks)
    raise_errors(tasks)


def wait_quietly(tasks: Iterable[Task]) -> None:
    try:
        for task in tasks:
            task.wait()
    except KeyboardInterrupt:
        cancel_all()
        raise


def wait_for_access(accesses: Sequence[Access]) -> None:
    """Waits until memory may be accessed: for the last writer, and for readers before a write."""
    if ACTIVE:
        recorder = RECORDER.get()
        if recorder is not None:
            recorder.check_access(accesses)
        wait_for(ORDERING.needs(accesses))


def wait_for_all(device: str | None = None) -> None:
    """Waits for every launch in flight, or for those of a device."""
    tasks = [task for task in ORDERING.tasks() if device in (None, task.queue.device)]
    wait_for(tasks)


def raise_errors(tasks: Iterable[Task]) -> None:
    """Raises the first error of tasks and of those that they needed; the others are its notes."""
    failed = _unreported(tasks)
    if not failed:
        return
    first, *others = _taken(failed)
    for other in others:
        first.add_note(f"another launch has failed as well\n{describe(other)}")
    raise first


def describe(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).rstrip()


def _unreported(tasks: Iterable[Task]) -> list[Task]:
    found = {failed.number: failed for task in tasks for failed in task.failures}
    return [found[number] for number in sorted(found) if not found[number].is_reported]


def _taken(failed: Iterable[Task]) -> list[BaseException]:
    with ORDERING.lock:
        taken = [task.take_error() for task in failed if not task.is_reported]
        ACTIVE.difference_update(failed)
        ORDERING.ledger.has_failures = any(task.is_done for task in ORDERING.tasks())
    return taken


def cancel_all() -> None:
    """Cancels every task in flight, and waits a little for those that run."""
    tasks = [task for task in ORDERING.tasks() if not task.is_done]
    for task in tasks:
        task.is_cancelled = True
    for queue in {id(task.queue): task.queue for task in tasks}.values():
        queue.cancel()
    for task in tasks:
        launch = task.launch
        if launch is not None:
            launch.cancel()
    end = time.monotonic() + GRACE
    while time.monotonic() < end and not all(task.is_done for task in tasks):
        time.sleep(0.001)


def _finish_at_exit() -> None:
    """Waits for all launches. Errors that nobody has asked for are printed, and the status is 1.

    Python ignores errors of exit handlers, so the process ends here, after all other handlers.
    """
    try:
        wait_quietly(ORDERING.tasks())
    except KeyboardInterrupt:
        print("interrupted: launches in flight were cancelled", file=sys.stderr)
    failed = _unreported(ORDERING.tasks())
    if not failed:
        return
    for error in _taken(failed):
        print(f"easy_as: an error that nothing waited for\n{describe(error)}", file=sys.stderr)
    atexit.unregister(_finish_at_exit)
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for file in (sys.stdout, sys.stderr):
        if file is not None:
            file.flush()
    os._exit(1)


ORDERING.on_first.append(lambda: atexit.register(_finish_at_exit) and None)

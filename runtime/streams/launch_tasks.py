"""A task: one launch in the queue of a stream, from the call until it is done."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from types import CodeType
from typing import Protocol

from eas.runtime.errors import KernelError
from eas.support.records import replace

Place = tuple[CodeType, int] | None


class Launch(Protocol):
    """What a task runs. It holds all that it needs, so that its arguments live until it is done."""

    def run(self) -> None:
        """Runs it to its end; raises what went wrong."""
        ...

    def cancel(self) -> None:
        """Makes a `run` in another thread end soon, if it can."""
        ...


class Queue(Protocol):
    """What runs the tasks of a stream, one after the other."""

    @property
    def device(self) -> str: ...
    def put(self, task: Task) -> None:
        """Takes a task. Those that it needs were put into their queues before."""
        ...

    def wait(self, task: Task) -> None:
        """Returns when a task is done."""
        ...

    def is_done(self, task: Task) -> bool:
        """Whether a task is done; starts what waits to be started."""
        ...

    def cancel(self) -> None:
        """Drops the tasks that have not begun."""
        ...


class Task:
    """`launch` is None for a task that marks a place in a queue.

    `needs` are the tasks that must be done before. `failures` are the tasks that have failed:
    this one, and those that it needed. `finished_at` is in seconds.
    """

    __slots__ = (
        "_place",
        "error",
        "failures",
        "finished_at",
        "is_cancelled",
        "is_done",
        "is_reported",
        "kernel",
        "launch",
        "needs",
        "number",
        "queue",
        "wake",
    )  # fmt: skip

    def __init__(self, queue: Queue, launch: Launch | None, kernel: str, place: Place) -> None:
        self.queue, self.launch = queue, launch
        self.kernel, self._place = kernel, place
        self.number = 0
        self.needs: Sequence[Task] = ()
        self.failures: tuple[Task, ...] = ()
        self.error: BaseException | None = None
        self.finished_at = 0.0
        self.is_done = self.is_reported = self.is_cancelled = False
        self.wake: threading.Event | None = None

    @property
    def place(self) -> str:
        """The file and the line of the call."""
        return place_text(self._place)

    @property
    def is_settled(self) -> bool:
        if not self.failures:
            return self.is_done
        return self.is_done and all(task.is_reported for task in self.failures)

    def wait(self) -> None:
        if not self.is_done:
            self.queue.wait(self)

    def take_error(self) -> BaseException:
        """What went wrong, with the place of the call; from then on it is reported."""
        assert self.error is not None
        error, self.error, self.is_reported = self.error, None, True
        return with_place(error, f"in the launch of `{self.kernel}` at {self.place}")


def with_place(error: BaseException, place: str) -> BaseException:
    """An error that also says where the launch was called, in its text or in a note."""
    if isinstance(error, KernelError):
        found = [replace(each, notes=(*each.notes, place)) for each in error.diagnostics]
        return type(error)(found)
    error.add_note(place)
    return error


def calling_place() -> Place:
    """The code outside of easy_as that is being run, and its line."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module[:4] != "eas." and module != "eas":
            return frame.f_code, frame.f_lineno
        frame = frame.f_back
    return None


def place_text(place: Place) -> str:
    """The file and the line of a place."""
    return "an unknown place" if place is None else f"{place[0].co_filename}:{place[1]}"

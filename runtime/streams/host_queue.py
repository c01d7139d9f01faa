"""The queue of a stream of the CPU: a thread runs its tasks, without the GIL in kernels."""

from __future__ import annotations

import os
import queue
import threading

from eas.runtime.streams.launch_tasks import Task
from eas.runtime.streams.ordering import ORDERING

Tasks = queue.SimpleQueue[Task | None]


class HostQueue:
    """Tasks, and the thread that runs them: it starts with the first one and ends with `close`."""

    device = "cpu"

    def __init__(self) -> None:
        self._tasks: Tasks = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    def put(self, task: Task) -> None:
        if self._process != os.getpid():  # a forked process has no thread of its parent
            self._tasks, self._thread, self._process = queue.SimpleQueue(), None, os.getpid()
        if self._thread is None and not self._start():
            run_task(task)
            return
        self._tasks.put(task)

    def wait(self, task: Task) -> None:
        with ORDERING.lock:
            if task.is_done:
                return
            wake = task.wake = task.wake or threading.Event()
        wake.wait()

    def is_done(self, task: Task) -> bool:
        return task.is_done

    def cancel(self) -> None:
        """The thread skips tasks that are cancelled."""

    def close(self) -> None:
        self._tasks.put(None)

    def _start(self) -> bool:
        """Starts the thread, if the system allows it; at the end of Python it does not.

        It is a daemon: an exit handler waits for its tasks, and Ctrl-C can end that.
        """
        thread = threading.Thread(
            target=_serve, args=(self._tasks,), name="eas stream", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread = thread
        return True


def _serve(tasks: Tasks) -> None:
    while _serve_next(tasks):
        pass


def _serve_next(tasks: Tasks) -> bool:
    """Runs the next task and lets go of it; gives whether more may come."""
    task = tasks.get()
    if task is not None:
        run_task(task)
    return task is not None


def run_task(task: Task) -> None:
    """Runs a task after those that it needs, and stores what went wrong."""
    error: BaseException | None = None
    launch = task.launch
    try:
        for need in task.needs:
            need.wait()
        if launch is not None and not task.is_cancelled:
            launch.run()
    except BaseException as raised:
        error = raised
    ORDERING.finish(task, None if task.is_cancelled else error)

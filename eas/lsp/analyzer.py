"""A thread for each document, with a worker process: the editor never waits for a compile.

The thread always takes the newest text. Texts that were replaced meanwhile are not compiled, and a
compile of an old text that takes long is ended. Code of the user's runs in the worker only, and
only as it was saved.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from eas.analysis.process import Worker, WorkerError
from eas.analysis.results import DiagnosticRecord, FileRecord
from eas.support.records import frozen

# Seconds for an import, for a compile, and for one of a text that is not the newest any more.
LOAD_LIMIT, COMPILE_LIMIT, STALE_LIMIT = 60.0, 30.0, 2.0


@frozen(eq=False)
class Analyzed:
    """What is found in a text. `failures` say why its file cannot be imported."""

    version: int
    text: str
    record: FileRecord
    failures: list[DiagnosticRecord]


class Spare:
    """A worker that is started beforehand: a save does not wait until Python has started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: Worker | None = Worker("")

    def take(self, path: str) -> Worker:
        """A worker for a file."""
        with self._lock:
            worker, self._worker = self._worker, Worker("")
        assert worker is not None
        worker.path = path
        return worker

    def close(self) -> None:
        with self._lock:
            if self._worker is not None:
                self._worker.close()
                self._worker = None


class Analyzer:
    """Analyzes the newest text of a document; `deliver` and `log` are called from its thread."""

    def __init__(
        self,
        path: str,
        deliver: Callable[[Analyzed], None],
        log: Callable[[str], None],
        spare: Spare,
        *,
        has_imports: bool,
    ) -> None:
        self.path = path
        self._deliver = deliver
        self._log = log
        self._has_imports = has_imports
        self._changed = threading.Condition()
        self._pending: tuple[int, str] | None = None
        self._is_quick = False  # the first answer for a file as it is saved is whole
        self._unfinished: tuple[int, str] | None = None
        self._metal: list[tuple[str, int, Future[dict[str, Any]]]] = []
        self._is_stale = True  # the worker has not imported the file as it is saved now
        self._is_closed = False
        self._started: float | None = None
        self._worker: Worker | None = None
        self._failures: list[DiagnosticRecord] = []
        self._spare = spare
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, version: int, text: str) -> None:
        """The document has a new text."""
        with self._changed:
            self._pending = (version, text)
            started = self._started
            if started is not None and time.monotonic() - started > STALE_LIMIT and self._worker:
                self._worker.end()
            self._changed.notify()

    def saved(self, version: int, text: str) -> None:
        """The file was saved: it is imported again."""
        with self._changed:
            self._is_stale = True
            self._pending = (version, text)
            self._is_quick = False
            self._changed.notify()

    def metal(self, text: str, line: int) -> Future[dict[str, Any]]:
        """The Metal text of the kernel at a line."""
        answer: Future[dict[str, Any]] = Future()
        with self._changed:
            self._metal.append((text, line, answer))
            self._changed.notify()
        return answer

    def close(self) -> None:
        """Ends the thread and its processes."""
        with self._changed:
            self._is_closed = True
            if self._worker is not None:
                self._worker.end()
            self._changed.notify()

    def _run(self) -> None:
        while self._step():
            pass
        if self._worker is not None:
            self._worker.close()
        for *_, answer in self._metal:
            if answer.set_running_or_notify_cancel():
                answer.set_result({"error": "the document was closed"})

    def _step(self) -> bool:
        """Does one thing; waits for one if there is none."""
        with self._changed:
            while not (self._is_closed or self._pending or self._metal or self._unfinished):
                self._changed.wait()
            if self._is_closed:
                return False
            metal = self._metal.pop(0) if self._metal and not self._pending else None
            pending, self._pending = (None if metal else self._pending), None
        self._prepare()
        if metal is not None:
            text, line, answer = metal
            if answer.set_running_or_notify_cancel():  # the client may have given it up
                answer.set_result(self._ask("metal", text=text, line=line))
        elif pending is not None:
            self._analyze(*pending)
        elif self._unfinished is not None:
            self._finish(*self._unfinished)
        return True

    def _prepare(self) -> None:
        """Sees to a worker that has imported the file as it is saved, if that is wanted."""
        with self._changed:
            is_stale, self._is_stale = self._is_stale, False
        if self._worker is not None and not is_stale:
            return
        if self._worker is not None:
            self._worker.close()
        self._worker = self._spare.take(self.path)
        self._failures = []
        if self._has_imports and os.path.isfile(self.path):
            try:
                loaded = self._worker.ask("load", LOAD_LIMIT)
            except WorkerError as error:
                self._log(f"{self.path} cannot be imported: {error}")
                self._worker = self._spare.take(self.path)
                return
            self._failures = loaded["diagnostics"]
            if loaded["output"]:
                self._log(f"printed by {self.path}:\n{loaded['output']}")

    def _analyze(self, version: int, text: str) -> None:
        options = {"with_names": True, "is_quick": self._is_quick}
        answer = self._ask("analyze", text=text, options=options)
        if "error" in answer:
            self._log(answer["error"])
            return
        self._is_quick = True
        self._unfinished = (version, text)
        self._deliver(Analyzed(version, text, answer, self._failures))

    def _finish(self, version: int, text: str) -> None:
        """What a target says of one more kernel; the editor waits for no more than that."""
        answer = self._ask("finish")
        if "error" in answer or not answer["left"]:
            self._unfinished = None
        if answer.get("record"):
            self._deliver(Analyzed(version, text, answer["record"], self._failures))

    def _ask(self, method: str, **request: Any) -> Any:
        """The answer of the worker; another one is started if it ends."""
        assert self._worker is not None
        self._started = time.monotonic()
        try:
            return self._worker.ask(method, COMPILE_LIMIT, **request)
        except WorkerError as error:
            self._worker = None
            self._is_stale = True
            return {"error": f"the kernels of {self.path} cannot be compiled: {error}"}
        finally:
            self._started = None

"""Recorded launches that run one after the other, in one call of compiled code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.runtime.cpu.launch import JOB_WORDS, Job
from eas.runtime.cpu.launch_plan import is_possible, make_builtin
from eas.runtime.cpu.support import support
from eas.support.diagnostics import Diagnostic
from eas.support.report_buffer import HEAD

_INDEX, _CANCELLED, _HEAD = 4, 5, 6  # words of `%graph` in replay.ll
_JOB_REPORT, _JOB_CANCELLED = 2, 16  # words of a job

# The number of a job, and the fault or the failed assert in it.
Failure = tuple[int, Diagnostic]


class Replay:
    """Jobs without prints, to be run in their order, again and again.

    `call()` runs them and gives None, or False if one has failed: `failure()` says which. Two
    threads must not run it at a time.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        support().start()
        self._jobs = jobs
        self._reports = np.zeros((len(jobs), HEAD), np.uint32)
        rows = [self._row(number, job) for number, job in enumerate(jobs)]
        head = [len(jobs), support().pool, id(None), id(False), 0, 0]
        self._words = np.concatenate([head, np.zeros(JOB_WORDS, np.int64), *rows]).astype(np.int64)
        self._method, self._capsule, self.call = make_builtin(support().replay, self._words)

    def _row(self, number: int, job: Job) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        row = job.words.copy()
        if row[_JOB_REPORT]:
            row[_JOB_REPORT] = self._reports[number].ctypes.data
        return row

    def failure(self) -> Failure | None:
        """What has gone wrong in the last run; None if it was cancelled."""
        number = int(self._words[_INDEX])
        found = self._jobs[number].findings(self._reports[number])
        return (number, found[0]) if found else None

    def cancel(self) -> None:
        """Ends a run in another thread."""
        self._words[_CANCELLED] = 1
        self._words[_HEAD + _JOB_CANCELLED] = 1

    def reset(self) -> None:
        """Lets it run after it was cancelled."""
        self._words[_CANCELLED] = 0


def can_replay() -> bool:
    """Whether this Python can call compiled code directly."""
    return is_possible()

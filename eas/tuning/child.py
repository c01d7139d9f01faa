"""The process of `Child`: reads calls, makes them, and writes their answers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO

from eas.tuning.isolation import Limits, Stopped, answer_of, limit_memory, run_forked
from eas.tuning.lifetimes import (
    adopt_orphans,
    children,
    end_after,
    end_children,
    end_with_parent,
)

# On a Mac, frameworks of the system do not work in a copy of a process.
_CAN_COPY = sys.platform == "linux"


def main() -> None:
    """Serves calls until its input ends. What a call prints goes to stderr."""
    end_with_parent(int(sys.argv[1]))
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    calls = Calls()
    while head := sys.stdin.buffer.read(8):
        request = sys.stdin.buffer.read(int.from_bytes(head, "little"))
        prepared = answer_of(partial(calls.prepare, request))
        _write(answers, b"ready")
        _write(answers, calls.answer(prepared))


def _write(answers: BinaryIO, answer: bytes) -> None:
    answers.write(len(answer).to_bytes(8, "little") + answer)
    answers.flush()


class Calls:
    """The calls of one process."""

    def __init__(self) -> None:
        self._is_limited = False
        self._call: Callable[[], Any] = int
        self._limits = Limits()
        self._is_copied = False

    def prepare(self, request: bytes) -> None:
        """Imports what a request needs, and makes what it wants to have ready."""
        prepare, name, args, seconds, memory = pickle.loads(request)
        self._limits = Limits(seconds, memory)
        self._call = partial(_function(name), *args)
        self._is_copied = _CAN_COPY and prepare is not None
        end_after(0.0)
        if prepare is not None:
            _function(prepare)(*args)

    def answer(self, prepared: bytes) -> bytes:
        """The answer of the request that was prepared."""
        if pickle.loads(prepared)[0] != "ok":
            return prepared
        if self._is_copied:
            return self._answer_of_copy()
        if not self._is_limited:
            limit_memory(self._limits.memory)
            self._is_limited = True
        end_after(self._limits.seconds)
        return answer_of(self._call)

    def _answer_of_copy(self) -> bytes:
        before = children()
        try:
            return pickle.dumps(("ok", run_forked(self._call, self._limits)))
        except Stopped as stopped:
            return pickle.dumps((stopped.status, stopped.reason))
        finally:
            end_children(before)


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


if __name__ == "__main__":
    main()

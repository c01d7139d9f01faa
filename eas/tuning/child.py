"""The process of `Child`: reads calls, makes them, and writes their answers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from functools import partial
from importlib import import_module
from typing import Any

from eas.tuning.isolation import answer_of, limit_memory


def main() -> None:
    """Serves calls until its input ends. What a call prints goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    is_limited = False
    while head := sys.stdin.buffer.read(8):
        request = sys.stdin.buffer.read(int.from_bytes(head, "little"))
        answer = answer_of(partial(_call, request, None if is_limited else int(sys.argv[1])))
        is_limited = True
        answers.write(len(answer).to_bytes(8, "little") + answer)
        answers.flush()


def _call(request: bytes, memory: int | None) -> Any:
    """The limit holds from the first call on, once its modules are imported."""
    name, args = pickle.loads(request)
    module, _, function = name.partition(":")
    found = getattr(import_module(module), function)
    if memory is not None:
        limit_memory(memory)
    return found(*args)


if __name__ == "__main__":
    main()

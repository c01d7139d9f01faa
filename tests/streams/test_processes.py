"""What becomes of launches in flight: at the end of Python, after Ctrl-C, in a forked process."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eas
from tests.processes import PATIENCE, in_a_fork
from tests.streams.gates import Gate, scale

REPOSITORY = Path(__file__).parent.parent.parent

HEAD = """\
import sys
import numpy as np
import eas
from tests.streams.gates import demand, forever, scale, spoil

x = np.full(100, 60, np.float32)
"""


def run(text: str, **options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HEAD + text],
        capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "EAS_BACKEND": "cpu", **options},
    )  # fmt: skip


def test_launches_are_finished_at_exit() -> None:
    done = run(
        "import atexit\n"
        "atexit.register(lambda: print('the last', x[0]))\n"
        "for _ in range(5): scale(x, 0.5, 100, BLOCK=32, _sync=False)\n"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"the last {60 / 2**5}\n"


@pytest.mark.parametrize("backend", ["cpu", "interpret"])
def test_an_error_that_nothing_waited_for_is_printed_at_exit(backend: str) -> None:
    done = run(
        "import atexit\n"
        "atexit.register(print, 'the last handler')\n"
        "demand(x, 100, BLOCK=32, _sync=False)\n"
        "spoil(x.copy(), 100, BLOCK=32, _sync=False)\n"
        "print('end of the program')\n",
        EAS_BACKEND=backend,
    )
    assert done.returncode == 1
    assert done.stdout == "end of the program\nthe last handler\n"
    assert done.stderr.count("easy_as: an error that nothing waited for\n") == 2
    assert "assertion failed: too large" in done.stderr
    assert "in the launch of `demand` at <string>:9\n" in done.stderr
    assert "in the launch of `spoil` at <string>:10\n" in done.stderr


def test_an_error_that_was_raised_is_not_printed_again() -> None:
    done = run(
        "demand(x, 100, BLOCK=32, _sync=False)\n"
        "try: eas.synchronize()\n"
        "except eas.KernelError: print('caught')\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "caught\n", "")


def test_a_launch_in_an_exit_handler_runs() -> None:
    done = run(
        "import atexit\n"
        "def last():\n"
        "    scale(x, 2.0, 100, BLOCK=32, _sync=False)\n"
        "    eas.synchronize()\n"
        "    print(x[0])\n"
        "atexit.register(last)\n"
        "scale(x, 0.5, 100, BLOCK=32, _sync=False)\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "60.0\n", "")


WAITING = """
import threading, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
x[:] = 0
y = np.ones(100, np.float32)
with eas.stream() as s:
    forever[1](x, _sync=False)
    scale(y, 2.0, 100, BLOCK=32, _sync=False)
timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
timer.daemon = True  # or Python waits for it before it runs exit handlers
timer.start()
"""


def test_ctrl_c_ends_a_wait_and_cancels_what_is_in_flight() -> None:
    done = run(
        WAITING + "try: eas.synchronize()\n"
        "except KeyboardInterrupt: print('interrupted', x[0], y[0])\n"
        "scale(y, 3.0, 100, BLOCK=32, _sync=False)\n"
        "eas.synchronize()\n"
        "with eas.stream(s): scale(y, 3.0, 100, BLOCK=32, _sync=False)\n"
        "s.synchronize()\n"
        "print(y[0])\n"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "interrupted 0.0 1.0\n9.0\n"


def test_ctrl_c_ends_a_synchronous_launch_that_waits() -> None:
    done = run(
        WAITING + "try: scale(x, 2.0, 100, BLOCK=32)\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_ctrl_c_ends_the_wait_at_exit() -> None:
    done = run(WAITING)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "interrupted: launches in flight were cancelled\n"


def test_an_uncaught_ctrl_c_ends_the_program() -> None:
    done = run(WAITING + "eas.synchronize()\n")
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_a_forked_process_has_nothing_in_flight_and_launches_anew() -> None:
    x, y, gate = np.ones(100, np.float32), np.ones(100, np.float32), Gate()
    s = eas.Stream("cpu")
    s.submit(gate, "gate", (), ())
    assert gate.has_begun.wait(PATIENCE)
    with eas.stream(s):
        scale(x, 2.0, 100, BLOCK=32, _sync=False)
    event = s.record()

    def use() -> str:
        scale(x, 5.0, 100, BLOCK=32)
        with eas.stream(s):
            scale(y, 3.0, 100, BLOCK=32, _sync=False)
        eas.synchronize()
        try:
            event.synchronize()
        except RuntimeError as error:
            return f"{x[0]} {y[0]} {error}"
        return "it waits for nobody"

    assert in_a_fork(use) == (
        f"5.0 3.0 the launch of `an event` at {__file__}:{event_line()} is one of the process "
        f"{os.getpid()}: wait for it before the fork"
    )
    gate.open()
    eas.synchronize()
    assert (x[0], y[0]) == (2.0, 1.0)


def event_line() -> int:
    lines = Path(__file__).read_text("utf-8").splitlines()
    return lines.index("    event = s.record()") + 1


def test_streams_events_and_graphs_are_not_pickled() -> None:
    s = eas.Stream("cpu")
    for each in (s, s.record(), eas.graph()):
        for move in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"^an? (stream|event|graph) belongs to its"):
                move(each)
    s.synchronize()

"""A tuner that is killed, at any moment: what was stored stays, and no process stays behind."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eas.septran.tuner.store import Store, Stored
from tests.septran.tuner.problems import LOGIC, MAPPING
from tests.thorough import thorough

PROGRAM = """
import sys
from eas.septran.tuner.driver import Budget, Tuner
from eas.septran.tuner.problem import Problem
from eas.septran.tuner.store import Store
from eas.tuning.judging import Plan

problem = Problem(sys.argv[1], (sys.argv[2],), ((64, 64),) * 3, "f32")
tuner = Tuner(problem, Store(sys.argv[3]), method="random", plan=Plan(warmup=0, rounds=2))
tuner.run(Budget(10_000), watch=lambda progress: print(progress.done, flush=True))
"""


def killed_run(folder: Path, seconds: float) -> tuple[int, int]:
    """Runs a tuner for some time after its first trial; its number, and the trials it reported."""
    path = folder / "gemm.map.yaml"
    path.write_text(MAPPING, "utf-8")
    command = [sys.executable, "-c", PROGRAM, str(LOGIC), str(path), str(folder / "tune.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        reported = [int(process.stdout.readline()) for _ in range(2)]
        time.sleep(seconds)
        process.kill()
        reported += [int(line) for line in process.stdout if line.endswith("\n")]
    return process.pid, reported[-1]


def stored(folder: Path) -> list[Stored]:
    store = Store(folder / "tune.sqlite")
    try:
        return store.trials(1)
    finally:
        store.close()


def children_of(number: int) -> list[str]:
    """Processes of trials that a tuner has started, by their command lines."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it ends just now
            continue
        if words[2:4] == [b"eas.tuning.child", str(number).encode()]:
            found.append(path.parent.name)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize("rounds", [1, pytest.param(8, marks=thorough)])
def test_a_killed_tuner_loses_at_most_the_running_trial(tmp_path: Path, rounds: int) -> None:
    generator = random.Random(rounds)
    before: list[Stored] = []
    for _ in range(rounds):
        number, reported = killed_run(tmp_path, generator.uniform(0.0, 0.6))
        trials = stored(tmp_path)
        assert len(trials) >= reported > len(before)
        assert trials[: len(before)] == before
        assert [trial.number for trial in trials] == list(range(len(trials)))
        before = trials
        assert is_empty_soon(number)


def is_empty_soon(number: int) -> bool:
    for _ in range(100):
        if not children_of(number):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_a_process_of_a_trial_is_found() -> None:
    """The test above would see one that stayed behind."""
    command = [sys.executable, "-m", "eas.tuning.child", str(os.getpid())]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        number = str(process.pid)  # not the only one, if a test of a machine has left its own
        is_found = any(number in children_of(os.getpid()) for _ in range(50))
        process.kill()
    assert is_found

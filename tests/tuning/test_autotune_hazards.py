"""`@eas.autotune` where something goes wrong: bad configs, killed processes, many at once."""

from __future__ import annotations

import ctypes
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from tests.thorough import thorough
from tests.tuning.calls import fill_and_die

needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="processes of trials, and limits")


@pytest.fixture(autouse=True)
def tuning_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tuning.json"
    monkeypatch.setenv("EAS_TUNING_FILE", str(path))
    monkeypatch.setenv("EAS_BACKEND", "cpu")
    return path


@eas.kernel
def count(x: Any, bins: Any, N: Any, BLOCK: eas.constexpr) -> None:
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.atomic_add(bins, mk.load(x, i, mask=i < N), 1, mask=i < N)


CONFIGS = [eas.Config(BLOCK=64), eas.Config(BLOCK=128), eas.Config(BLOCK=256)]


def misbehave(block: int) -> None:
    """What the grid of a bad config does when it is asked for."""
    if block == 128:
        ctypes.string_at(0)
    if block == 256:
        os.abort()
    if block == 512:
        os._exit(0)
    if block == 1024:
        bytearray(1 << 30)
    if block == 2048:
        time.sleep(600)
    if block == 4096:
        fill_and_die()


@needs_fork
@thorough
def test_configs_that_end_their_process_are_recorded_and_never_win() -> None:
    configs = [eas.Config(BLOCK=64 << n) for n in range(7)]
    tuned = eas.autotune(configs, rep=1, warmup=0, timeout=3.0, memory=1 << 28)(count)

    def grid(meta: Any) -> tuple[int]:
        misbehave(meta["BLOCK"])
        return (-(-1000 // meta["BLOCK"]),)

    x, bins = np.arange(1000, dtype=np.int32) % 7, np.zeros(7, np.int32)
    tuned[grid](x, bins, 1000)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=7))
    outcomes = [(each.outcome.status, each.outcome.reason) for each in tuned.trials]
    assert outcomes[:-1] == [
        ("ok", ""),
        ("crashed", "its process died of SIGSEGV"),
        ("crashed", "its process died of SIGABRT"),
        ("crashed", "its process exited with code 0"),
        ("memory", "out of memory"),
        ("timeout", "no result after 3 s"),
    ]
    assert outcomes[-1][0] == "memory"
    assert outcomes[-1][1].startswith("its process died of SIGSEGV, after it took ")
    assert tuned.best(x, bins, 1000, _grid=grid) == configs[0]


def test_atomics_of_a_tuned_launch_count_once() -> None:
    tuned = eas.autotune(CONFIGS, key=["N"], rep=2)(count)
    x, bins = np.arange(1000, dtype=np.int32) % 7, np.full(7, 100, np.int32)
    tuned(x, bins, 1000)
    np.testing.assert_array_equal(bins, 100 + np.bincount(x, minlength=7))


def test_two_views_of_one_memory_are_changed_once() -> None:
    """The halves of one array, of which one is read and the other written."""
    tuned = eas.autotune(CONFIGS, key=["N"], rep=1)(count)
    memory = np.zeros(2000, np.int32)
    memory[:1000] = np.arange(1000) % 7
    tuned(memory[:1000], memory[1000:], 1000)
    np.testing.assert_array_equal(memory[1000:1007], np.bincount(memory[:1000], minlength=7))
    np.testing.assert_array_equal(memory[1007:], 0)


@eas.kernel
def store_one_or_both(x, y, z, N, BOTH: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK) + mk.program_id(0) * BLOCK
    mk.store(y, i, 2.0 * mk.load(x, i, mask=i < N), mask=i < N)
    if BOTH:
        mk.store(z, i, 3.0 * mk.load(x, i, mask=i < N), mask=i < N)


@pytest.mark.parametrize("first", [True, False])
def test_a_config_that_writes_other_arrays_than_the_first_one_is_wrong(first: bool) -> None:
    configs = [eas.Config(BOTH=both, BLOCK=64) for both in (first, not first)]
    tuned = eas.autotune(configs, key=["N"], rep=2)(store_one_or_both)
    x, y, z = np.ones(1000, np.float32), np.zeros(1000, np.float32), np.zeros(1000, np.float32)
    tuned(x, y, z, 1000)
    assert [each.outcome.status for each in tuned.trials] == ["ok", "wrong"]
    np.testing.assert_array_equal(z, 3.0 if first else 0.0)


PROGRAM = """
import sys, numpy as np, eas
from eas import mk

@eas.autotune([eas.Config(BLOCK=32 << n) for n in range(4)], key=["N"], rep=1, warmup=0)
@eas.kernel
def scale(x, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK) + mk.program_id(0) * BLOCK
    mk.store(x, i, 2.0 * mk.load(x, i, mask=i < N), mask=i < N)

print("begun", flush=True)
for n in map(int, sys.argv[1:]):
    x = np.ones(n, np.float32)
    scale(x, n)
    assert (x == 2.0).all()
    print(n, flush=True)
"""


def start(*sizes: int) -> subprocess.Popen[str]:
    command = [sys.executable, "program.py", *map(str, sizes)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.chdir(tmp_path)


@thorough
@pytest.mark.usefixtures("program")
def test_eight_processes_that_tune_at_once_lose_no_entries(tuning_file: Path) -> None:
    processes = [start(*range(100 + 10 * n, 100 + 10 * n + 4)) for n in range(8)]
    assert [process.communicate() and process.returncode for process in processes] == [0] * 8
    assert len(json.loads(tuning_file.read_text())["entries"]) == 32


@needs_fork
@pytest.mark.parametrize("rounds", [1, pytest.param(8, marks=thorough)])
@pytest.mark.usefixtures("program")
def test_a_process_that_is_killed_while_it_tunes_leaves_a_whole_file(
    tuning_file: Path, rounds: int
) -> None:
    """And what it had reported as tuned is in it."""
    generator = random.Random(rounds)
    for number in range(rounds):
        with start(*range(1000 * number + 1, 1000 * number + 900)) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            assert process.stdout.readline()
            time.sleep(generator.uniform(0.0, 0.5))
            process.kill()
            reported = [int(line) for line in process.stdout if line.endswith("\n")]
        entries = json.loads(tuning_file.read_text())["entries"]
        for size in (1000 * number + 1, *reported):
            assert any(f"N={size} " in name for name in entries)
    with start(1, 5000) as process:
        assert process.communicate()[0] == "begun\n1\n5000\n"


def test_checked_and_unchecked_launches_are_tuned_apart() -> None:
    """A config may be right and fast without checks, and not run with them."""
    tuned = eas.autotune(CONFIGS, key=["N"], rep=1)(count)
    x, bins = np.zeros(8, np.int32), np.zeros(1, np.int32)
    for checked in (False, True, False):
        tuned.trials.clear()
        tuned(x, bins, 8, _checked=checked)
        assert len(tuned.trials) == (0 if bins[0] > 16 else len(CONFIGS))
    with pytest.raises(eas.LaunchError, match="`_checked` is True or False, not 1"):
        tuned(x, bins, 8, _checked=1)

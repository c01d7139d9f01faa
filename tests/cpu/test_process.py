"""Launches in the life of a process: its variables, its threads, its forks and its end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE
from tests.thorough import sampled

HEAD = """
import os, sys, threading, time
import numpy as np
from tests.kernels.add import add

def launch(n):
    a, b, c = np.ones(n, "f4"), np.ones(n, "f4"), np.zeros(n, "f4")
    add(a, b, c, n, BLOCK=1024, _backend="cpu")
    assert (c == 2).all()
"""


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HEAD + program],
        check=False,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


COUNT_WORKERS = """
def count():
    return len(os.listdir("/proc/self/task"))

np.ones((2, 2)) @ np.ones((2, 2))  # so that NumPy has its threads
before = count()
launch(1024)
end = time.monotonic() + 60
while count() - before != EXPECTED and time.monotonic() < end:
    time.sleep(0.001)  # a thread that has ended may still be listed
print(count() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists threads")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_launch_uses_the_requested_number_of_threads(threads: int) -> None:
    program = COUNT_WORKERS.replace("EXPECTED", str(threads - 1))
    done = run(program, EAS_NUM_THREADS=str(threads))
    assert (done.returncode, done.stdout) == (0, f"{threads - 1}\n"), done.stderr


@sampled(3)
@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "1e9", "99999999"])
def test_a_number_of_threads_that_is_none_is_refused(text: str) -> None:
    done = run("launch(1024)", EAS_NUM_THREADS=text)
    wanted = f"EAS_NUM_THREADS is a number of threads from 1 to 1024, not {text!r}"
    assert done.returncode == 1
    assert done.stderr.endswith(f"LaunchError: kernel `add`: {wanted}\n")


FORKS = """
launch(300_000)
threading.Thread(target=lambda: [launch(300_000) for _ in range(10_000)], daemon=True).start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        launch(300_000)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_process_launches_while_threads_of_its_parent_do() -> None:
    done = run(FORKS, EAS_NUM_THREADS="3", PYTHONWARNINGS="ignore")
    assert done.returncode == 0, done.stderr


ENDS = """
launched = threading.Barrier(4)

def work():
    launch(SIZE)
    launched.wait()
    while True:
        launch(SIZE)

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
launched.wait()
"""


@pytest.mark.parametrize("size", ["1024", "3_000_000"])
def test_a_process_ends_while_launches_run(size: str) -> None:
    done = run(ENDS.replace("SIZE", size), EAS_NUM_THREADS="3")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_parts_of_a_compile_are_timed_on_demand(tmp_path: Path) -> None:
    variables = {"EAS_TIMING": "1", "EAS_CACHE_DIR": str(tmp_path / "cache")}
    said = [run("launch(1024)", **variables).stderr for _ in range(2)]
    parts = [sorted(re.sub(r"took \d+\.\d ms", "took", each).splitlines()) for each in said]
    assert parts == [
        [
            "eas: LLVM: loading it took",
            "eas: add: checking and optimizing took",
            "eas: add: compiling it took",
            "eas: add: reading Python took",
            "eas: add: writing LLVM took",
            "eas: support: compiling it took",
        ],
        [
            "eas: add: checking and optimizing took",
            "eas: add: loading it took",
            "eas: add: reading Python took",
            "eas: support: loading it took",
        ],
    ]


@sampled(3)
@pytest.mark.parametrize("threads", [2, 3, 7])
def test_every_program_of_a_grid_runs_once_on_any_number_of_threads(
    tmp_path: Path, threads: int
) -> None:
    script = tmp_path / "visits.py"
    script.write_text("""\
import numpy as np
import eas
from eas import mk

@eas.kernel
def visit(counts, TRIPS):
    x = mk.load(counts, mk.program_id(0))
    for trip in range(TRIPS * (1 + mk.program_id(0) % 5)):  # some programs take longer
        x = x + mk.sin(x) * 0.0
    mk.store(counts, mk.program_id(0), x + 1.0)

for programs in (2000, 1, 2, 3, 6, 7, 8, 9, 100, 1001):
    counts = np.zeros(programs, "f4")
    for launch in range(20):
        visit[programs](counts, 200, _backend="cpu")
    assert (counts == 20).all(), (programs, counts)
""")
    variables = os.environ | {"EAS_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        env=variables,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr.decode()

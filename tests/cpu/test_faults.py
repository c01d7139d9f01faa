"""Folders for code that are not as they should be, and processes that end or split in between."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eas.support.cache import FOLDER
from tests.processes import PATIENCE
from tests.thorough import sampled, thorough

PROGRAM = """
import os, sys
import numpy as np
from tests.kernels.add import add

BEFORE

def launch(n=1000):
    a, b, c = np.ones(n, "f4"), np.ones(n, "f4"), np.zeros(n, "f4")
    add(a, b, c, n, BLOCK=256, _backend="cpu")
    assert (c == 2).all()

launch()
print("right")
"""


def run(before: str = "", **variables: str | None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("BEFORE", before)],
        check=False,
        env={name: value for name, value in environment.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def check(before: str = "", **variables: str | None) -> None:
    done = run(before, **variables)
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")


def files(folder: Path) -> list[Path]:
    """The files of a folder."""
    return sorted((folder / FOLDER).iterdir())


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    check(EAS_CACHE_DIR=str(folder))
    assert len(files(folder)) == 2  # the kernel, and what all kernels share


@thorough
def test_a_file_in_place_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    for place in (path, path / "inside"):
        check(EAS_CACHE_DIR=str(place))
    assert path.read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_done_without() -> None:
    check(EAS_CACHE_DIR="/proc/nothing/here")


NOBODY = 65534
AS_NOBODY = f"import hashlib; os.setuid({NOBODY})"  # nobody may not read root's Python
IS_ROOT = os.getuid() == 0


def let_others_in(folder: Path) -> None:
    for each in (folder, *folder.parents[:-1]):
        if each.stat().st_uid == 0:
            each.chmod(each.stat().st_mode | 0o055)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others may enter. Pytest's own is closed to them when any pytest starts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        let_others_in(folder)
        yield folder


@pytest.mark.skipif(not IS_ROOT, reason="only root can be someone else")
def test_a_folder_that_is_someone_else_s_is_not_used(open_folder: Path) -> None:
    check(EAS_CACHE_DIR=str(open_folder))
    names = files(open_folder)
    check(AS_NOBODY, EAS_CACHE_DIR=str(open_folder))
    assert files(open_folder) == names


SHOW_LLVM = """
import atexit
atexit.register(lambda: print("eas.runtime.cpu.llvm" in sys.modules))
"""


def test_a_read_only_folder_is_read(open_folder: Path) -> None:
    folder, before = open_folder / "cache", SHOW_LLVM
    folder.mkdir(mode=0o700)
    if IS_ROOT:  # who may write everywhere
        os.chown(folder, NOBODY, NOBODY)
        before = f"{before}\n{AS_NOBODY}"
    said = ["right\nTrue\n", "right\nTrue\n", "right\nFalse\n"]
    for mode, expected in zip((0o500, 0o700, 0o500), said, strict=True):
        folder.chmod(mode)
        if (folder / FOLDER).exists():
            (folder / FOLDER).chmod(mode)
        done = run(before, EAS_CACHE_DIR=str(folder))
        assert (done.stdout, done.stderr) == (expected, "")


@thorough
def test_a_user_without_a_home_needs_no_cache() -> None:
    for home in (None, "/nowhere", ""):
        check(EAS_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=home)


def test_a_folder_is_found_again_from_another_one(tmp_path: Path) -> None:
    before = f"os.chdir({str(tmp_path)!r}); add.compile('*f32', '*f32', '*f32', 'i32', BLOCK=256)"
    check(before, EAS_CACHE_DIR="relative", PYTHONPATH=os.getcwd())
    assert len(files(tmp_path / "relative")) == 2


def in_place_of(make: Callable[[Path], object], folder: Path) -> None:
    """Fills the folder, puts something else in place of all files, and tries again."""
    check(EAS_CACHE_DIR=str(folder))
    for path in files(folder):
        path.unlink()
        make(path)
    check(EAS_CACHE_DIR=str(folder))


def test_empty_files_are_replaced(tmp_path: Path) -> None:
    in_place_of(Path.touch, tmp_path)
    assert all(path.stat().st_size for path in files(tmp_path))


@thorough
def test_folders_in_place_of_files_are_left_alone(tmp_path: Path) -> None:
    in_place_of(Path.mkdir, tmp_path)
    assert all(path.is_dir() for path in files(tmp_path))


@thorough
def test_links_to_nowhere_are_replaced(tmp_path: Path) -> None:
    in_place_of(lambda path: path.symlink_to("/nowhere/at/all"), tmp_path)
    assert not any(path.is_symlink() for path in files(tmp_path))


@thorough
def test_code_of_another_processor_is_not_found(tmp_path: Path) -> None:
    check(EAS_CACHE_DIR=str(tmp_path))
    names = set(files(tmp_path))
    other = "from eas.runtime.cpu import build; build.machine_name = lambda: 'another one'"
    check(other, EAS_CACHE_DIR=str(tmp_path))
    assert len(set(files(tmp_path)) - names) == 2


def test_code_of_another_generator_is_not_found(tmp_path: Path) -> None:
    check(EAS_CACHE_DIR=str(tmp_path))
    names = set(files(tmp_path))
    other = "from eas.runtime.cpu import build; build.generator_name = lambda: 'another one'"
    check(other, EAS_CACHE_DIR=str(tmp_path))
    assert len(set(files(tmp_path)) - names) == 2


FULL = """
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
"""


def test_a_full_disk_stores_nothing(tmp_path: Path) -> None:
    check(FULL, EAS_CACHE_DIR=str(tmp_path))
    assert files(tmp_path) == []


KILLED = """
import signal
os.replace = lambda *names, **folders: os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_while_it_writes_does_no_harm(tmp_path: Path) -> None:
    assert run(KILLED, EAS_CACHE_DIR=str(tmp_path)).returncode == -9
    assert [path.suffix for path in files(tmp_path)] == [".tmp"]
    check(EAS_CACHE_DIR=str(tmp_path))
    assert sorted(path.suffix for path in files(tmp_path)) == [".o", ".o", ".tmp"]


SHARED = """
import multiprocessing, sys
import numpy as np
import eas
from eas import mk

@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(c, i, mk.load(a, i, i < N) + mk.load(b, i, i < N), i < N)

def total(n):
    a, b, c = np.ones(n, "f4"), np.ones(n, "f4"), np.zeros(n, "f4")
    for _ in range(3):
        add(a, b, c, n, BLOCK=256, _backend="cpu")
    return int(c.sum())

if __name__ == "__main__":
    print(total(100_000))
    with multiprocessing.get_context(sys.argv[1]).Pool(3) as pool:
        print(*pool.map(total, [100_000, 1_000_000, 1, 0] * 5))
    print(total(100_000))
"""


@sampled(2)
@pytest.mark.parametrize("way", ["fork", "forkserver", "spawn"])
def test_processes_of_a_pool_launch(tmp_path: Path, way: str) -> None:
    script = tmp_path / "shared.py"
    script.write_text(SHARED)
    environment = {**os.environ, "EAS_NUM_THREADS": "3", "PYTHONPATH": os.getcwd()}
    command = [sys.executable, str(script), way]
    said = subprocess.run(
        command, check=True, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    expected = " ".join(["200000 2000000 2 0"] * 5)
    assert said.stdout == f"200000\n{expected}\n200000\n"


INTERRUPTED = """
import gc, signal, threading, time

class Stop(KeyboardInterrupt):
    pass

def stop(number, frame):
    raise Stop

signal.signal(signal.SIGALRM, stop)

def make():
    @eas.kernel
    def scale(x, FACTOR: eas.constexpr):
        i = mk.arange(0, 64)
        mk.store(x, i, mk.load(x, i) * FACTOR)
    return scale

import eas
from eas import mk

def compile_within(seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        kernel[1](x, FACTOR=n + 2, _backend="cpu")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)

kernel, x, n = make(), np.ones(64, "f4"), -1
compile_within(0)  # 0 sets no timer, and loads LLVM
start, kernel, n = time.monotonic(), make(), -2
compile_within(0)
duration = time.monotonic() - start
stopped = 0
for n in range(60):
    kernel, x = make(), np.ones(64, "f4")
    try:
        compile_within(duration * (n + 1) / 60)
    except Stop:
        stopped += 1
    x[:] = 1
    kernel[1](x, FACTOR=n + 2, _backend="cpu")
    assert (x == n + 2).all(), x
assert stopped > 2, stopped
assert gc.isenabled()
assert threading.active_count() == 1
"""


def test_a_signal_may_come_at_any_time_of_a_compile(tmp_path: Path) -> None:
    script = tmp_path / "interrupted.py"  # a kernel's source is in a file
    script.write_text(PROGRAM.replace("BEFORE", INTERRUPTED))
    environment = {**os.environ, "EAS_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        env={**environment, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr

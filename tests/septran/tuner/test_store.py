"""A database that is damaged, locked, full or another one: an error names it, nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eas.septran.tuner import store as stores
from eas.septran.tuner.prediction import Facts
from eas.septran.tuner.store import Search, Store, Stored
from eas.support.command_line import UsageError
from eas.tuning.outcomes import Outcome

SEARCH = Search("f", "c", "v", "evolution", 0, "a title", ("x",), "{}")


def trial(number: int) -> Stored:
    values = {"x": number, "text": "some text that takes room " * 20}
    return Stored(number, values, Outcome("ok", samples=(1.0, 2.0)), 1.5, Facts(1.0, [0.5]))


def fill(path: Path, count: int) -> None:
    """A database with a search, at the end of which nothing more is in flight."""
    store = Store(path)
    number = store.find(SEARCH) or store.add_search(SEARCH)
    for n in range(store.count(number), count):
        store.add(number, trial(n))
    store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "tune.sqlite", 40)
    return tmp_path / "tune.sqlite"


def test_what_was_stored_is_read_again(path: Path) -> None:
    store = Store(path)
    assert store.trials(1) == [trial(n) for n in range(40)]
    assert store.searches() == [(1, SEARCH)]
    store.close()


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes((7 * n + 3) % 256 for n in range(3000)))


def be_text(path: Path) -> None:
    path.write_text("trial,seconds\n" * 200)


def be_older(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version=99")


def be_another(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE photos (name TEXT)")


def have_wrong_rows(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("UPDATE trials SET samples='[1.0, ' WHERE number=7")


def have_wrong_statuses(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("UPDATE trials SET status='fine' WHERE number=7")


def have_other_seconds(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("UPDATE trials SET seconds=0.001 WHERE number=7")


def be_of_another_program(path: Path) -> None:
    be_another(path)
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version=2")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "cannot be used: "),
        (scribble, "cannot be used: "),
        (be_text, "cannot be used: file is not a database"),
        (be_older, "is no database of SepTran's tuner of format 2"),
        (be_of_another_program, "is no database of SepTran's tuner of format 2"),
        (be_another, "is no database of SepTran's tuner of format 2"),
        (have_wrong_rows, "cannot be used: what is stored in it is damaged"),
        (have_wrong_statuses, "cannot be used: what is stored in it is damaged"),
        (have_other_seconds, "cannot be used: what is stored in it is damaged"),
    ],
)
@pytest.mark.parametrize("is_read", [False, True])
def test_a_damaged_database_is_named_and_left_alone(
    path: Path, damage: Callable[[Path], None], message: str, is_read: bool
) -> None:
    damage(path)
    content = path.read_bytes()
    with pytest.raises(UsageError) as found:
        Store(path, is_read=is_read).trials(1)
    assert str(found.value).startswith(("the database " + str(path), str(path)))
    assert message in str(found.value)
    assert path.read_bytes() == content


def test_a_folder_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder, not a database"):
        Store(tmp_path)
    with pytest.raises(UsageError, match=r"there is no folder .*missing for the database"):
        Store(tmp_path / "missing" / "tune.sqlite")
    with pytest.raises(UsageError, match="there is no database"):
        Store(tmp_path / "tune.sqlite", is_read=True)
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_only_read_is_not_changed(path: Path) -> None:
    store = Store(path, is_read=True)
    with pytest.raises(UsageError, match="readonly"):
        store.add(1, trial(40))
    store.close()


def test_a_locked_database_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "WAITING", 0.2)
    store = Store(path)
    with sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UsageError, match=r"database is locked: another process has had it"):
            store.add(1, trial(40))
    store.add(1, trial(40))
    assert store.count(1) == 41
    store.close()


def test_a_pipe_is_no_database(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("a system without pipes in folders")
    os.mkfifo(tmp_path / "pipe")
    for is_read in (False, True):
        with pytest.raises(UsageError, match="pipe is no file, as a database is"):
            Store(tmp_path / "pipe", is_read=is_read)


def test_two_processes_with_one_search_lose_no_trial(path: Path) -> None:
    one, other = Store(path), Store(path)
    assert one.add(1, trial(40)) == 40
    assert other.add(1, trial(40)) == 41
    assert [each.number for each in one.trials(1)] == list(range(42))
    assert one.add_search(SEARCH) == other.add_search(SEARCH) == 1
    one.close()
    other.close()


KILLED = """
import os, signal, sys
from tests.septran.tuner.test_store import trial
from eas.septran.tuner.store import Store
store = Store(sys.argv[1])
base = store._base
base.execute("PRAGMA cache_size=1")  # what is written goes to the file before it is complete
base.execute("BEGIN IMMEDIATE")
base.execute("UPDATE trials SET reason=hex(zeroblob(2000))")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("is_read", [False, True])
def test_a_process_that_is_killed_while_it_writes_changes_nothing(
    path: Path, is_read: bool
) -> None:
    content = path.read_bytes()
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert path.read_bytes() != content
    store = Store(path, is_read=is_read)
    assert store.trials(1) == [trial(n) for n in range(40)]
    store.close()


@pytest.mark.parametrize("statements", range(3))
def test_a_process_that_ends_while_it_makes_the_tables_leaves_a_usable_database(
    tmp_path: Path, statements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tune.sqlite"
    monkeypatch.setattr(stores, "TABLES", (*stores.TABLES[:statements], "no SQL"))
    with pytest.raises(UsageError, match="syntax error"):
        Store(path)
    monkeypatch.undo()
    fill(path, 1)


FILLING = """
import resource, sys
from pathlib import Path
from tests.septran.tuner.test_store import fill
path = Path(sys.argv[1])
size = path.stat().st_size + 8192
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
fill(path, 10_000)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of files")
def test_a_disk_without_room_is_an_error_and_keeps_what_was_stored(path: Path) -> None:
    """The limit of the system for a file stands for the disk's."""
    command = [sys.executable, "-c", FILLING, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"the database {path} cannot be used: disk I/O error" in done.stderr
    store = Store(path)
    kept = store.count(1)
    assert kept > 40
    assert store.trials(1) == [trial(n) for n in range(kept)]
    store.close()
    fill(path, kept + 5)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs to mount")
def test_a_full_disk_is_an_error_and_keeps_what_was_stored(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        path = disk / "tune.sqlite"
        with pytest.raises(UsageError, match=r"tune\.sqlite cannot be used: .* full"):
            fill(path, 10_000)
        store = Store(path, is_read=True)
        kept = store.count(1)
        assert kept > 40
        assert store.trials(1) == [trial(n) for n in range(kept)]
        store.close()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)

"""Trials in a SQLite database: each is stored before the next one begins."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eas.septran.tuner.prediction import Facts
from eas.support.command_line import UsageError
from eas.support.records import frozen
from eas.tuning.outcomes import MEANINGS, Outcome, Status

FORMAT = 1
WAITING = 10.0  # seconds for which another process may have the database locked
_LITTLE = 1 << 20  # bytes: a disk with so few left is full

_TABLES = """
CREATE TABLE IF NOT EXISTS searches (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    computer TEXT NOT NULL,
    version TEXT NOT NULL,
    method TEXT NOT NULL,
    seed INTEGER NOT NULL,
    title TEXT NOT NULL,
    keys TEXT NOT NULL,
    problem TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS trials (
    search INTEGER NOT NULL REFERENCES searches(id),
    number INTEGER NOT NULL,
    chosen TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    seconds REAL,
    samples TEXT NOT NULL,
    beside TEXT NOT NULL,
    estimate REAL NOT NULL,
    features TEXT NOT NULL,
    PRIMARY KEY (search, number)
);
"""


@frozen
class Search:
    """What a search depends on: results of one that differs in anything are not used by another.

    `problem` has a digest of each part of the problem, as JSON.
    """

    fingerprint: str
    computer: str
    version: str
    method: str
    seed: int
    title: str
    keys: tuple[str, ...]
    problem: str = ""


@frozen
class Stored:
    """A trial as it was stored. `seconds` are comparable within a search.

    `facts` are what the model knew before: a search can be replayed without its files.
    """

    number: int
    values: dict[str, Any]
    outcome: Outcome
    seconds: float
    facts: Facts


class Store:
    """The searches and trials of a database; `is_read` if nothing will be added to it.

    Whatever is wrong with the file is a `UsageError` that names it, and changes nothing in it.
    """

    def __init__(self, path: str | Path, *, is_read: bool = False) -> None:
        self.path = Path(path)
        self._way_out = "" if is_read else "; move it away or give another --db"
        self._check_place(is_read)
        mode = "ro" if is_read else "rwc"
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        with self._failures():
            self._base = sqlite3.connect(uri, timeout=WAITING, isolation_level=None, uri=True)
        try:
            with self._failures():
                self._check(is_read)
        except BaseException:
            self._base.close()
            raise

    def close(self) -> None:
        self._base.close()

    def _check_place(self, is_read: bool) -> None:
        if self.path.is_dir():
            raise UsageError(f"{self.path} is a folder, not a database")
        if is_read and not self.path.exists():
            raise UsageError(f"there is no database {self.path}")
        if not self.path.absolute().parent.is_dir():
            raise UsageError(f"there is no folder {self.path.parent} for the database")

    def find(self, search: Search) -> int | None:
        """The number of a search that can be resumed."""
        with self._failures():
            row = self._base.execute(
                "SELECT id FROM searches WHERE fingerprint=? AND computer=? AND version=? "
                "AND method=? AND seed=? ORDER BY id DESC",
                (search.fingerprint, search.computer, search.version, search.method, search.seed),
            ).fetchone()
        return None if row is None else int(row[0])

    def add_search(self, search: Search) -> int:
        keys = json.dumps(search.keys)
        columns = (search.fingerprint, search.computer, search.version, search.method)
        rest = (search.seed, search.title, keys, search.problem)
        with self._failures():
            done = self._base.execute(
                "INSERT INTO searches (fingerprint, computer, version, method, seed, title, keys, "
                "problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*columns, *rest),
            )
        assert done.lastrowid is not None
        return done.lastrowid

    def searches(self) -> list[tuple[int, Search]]:
        """All searches, the first one first."""
        with self._failures():
            rows = self._base.execute(
                "SELECT id, fingerprint, computer, version, method, seed, title, keys, problem "
                "FROM searches ORDER BY id"
            ).fetchall()
        with self._failures():
            return [
                (int(number), Search(a, b, c, d, seed, title, tuple(json.loads(keys)), problem))
                for number, a, b, c, d, seed, title, keys, problem in rows
            ]

    def count(self, search: int) -> int:
        """How many trials a search has."""
        query = "SELECT count(*) FROM trials WHERE search=?"
        with self._failures():
            return int(self._base.execute(query, (search,)).fetchone()[0])

    def add(self, search: int, trial: Stored) -> None:
        """Stores a trial. It is on disk when this returns."""
        outcome, facts = trial.outcome, trial.facts
        row = (
            search,
            trial.number,
            json.dumps(trial.values, sort_keys=True),
            outcome.status,
            outcome.reason,
            trial.seconds if trial.seconds < float("inf") else None,
            json.dumps(outcome.samples),
            json.dumps(outcome.beside),
            facts.seconds,
            json.dumps([float(f"{each:.9g}") for each in facts.features]),
        )
        insert = "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        try:
            with self._failures():
                self._base.execute(insert, row)
        except _Taken as error:
            raise UsageError(
                f"another process goes on with search {search} of {self.path}: "
                "end one of them, or give another --seed or --db"
            ) from error

    def trials(self, search: int) -> list[Stored]:
        with self._failures():
            rows = self._base.execute(
                "SELECT number, chosen, status, reason, seconds, samples, beside, estimate, "
                "features FROM trials WHERE search=? ORDER BY number",
                (search,),
            ).fetchall()
            return [_stored(row) for row in rows]

    def _check(self, is_read: bool) -> None:
        """Makes the tables, and looks whether what is there is whole."""
        self._base.execute("PRAGMA synchronous=FULL")
        (found,) = self._base.execute("PRAGMA user_version").fetchone()
        tables = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found not in (0, FORMAT) or (found == 0 and tables):
            what = f"no database of SepTran's tuner of format {FORMAT}"
            raise UsageError(f"{self.path} is {what}{self._way_out}")
        (verdict,) = self._base.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        if found == FORMAT:
            return
        if is_read:
            raise UsageError(f"{self.path} has no search")
        self._base.executescript(_TABLES)
        self._base.execute(f"PRAGMA user_version={FORMAT}")

    @contextmanager
    def _failures(self) -> Generator[None]:
        """What SQLite cannot do, in words that name the file."""
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise _Taken(str(error)) from error
        except sqlite3.Error as error:
            reason = self._reason(error)
            raise UsageError(f"the database {self.path} cannot be used: {reason}") from error
        except (ValueError, TypeError, KeyError) as error:
            reason = "what is stored in it is damaged; what can be read of it is still there"
            raise UsageError(
                f"the database {self.path} cannot be used: {reason}{self._way_out}"
            ) from error

    def _reason(self, error: sqlite3.Error) -> str:
        text = str(error)
        if "locked" in text:
            return f"{text}: another process has had it for {WAITING:g} s"
        if "disk I/O" in text and shutil.disk_usage(self.path.absolute().parent).free < _LITTLE:
            return f"{text}: the disk is full"
        is_damaged = type(error) is sqlite3.DatabaseError
        return f"{text}{self._way_out}" if is_damaged else text


class _Taken(Exception):
    """A trial whose place in the search is taken."""


def _stored(row: Sequence[Any]) -> Stored:
    number, chosen, status, reason, seconds, samples, beside, guess, features = row
    if status not in MEANINGS:
        raise ValueError(status)
    kind: Status = status
    outcome = Outcome(kind, reason, tuple(json.loads(samples)), tuple(json.loads(beside)))
    taken = float("inf") if seconds is None else seconds
    return Stored(number, json.loads(chosen), outcome, taken, Facts(guess, json.loads(features)))

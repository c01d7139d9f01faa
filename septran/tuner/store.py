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
from eas.support.cache import digest
from eas.support.command_line import UsageError
from eas.support.records import frozen
from eas.tuning.outcomes import MEANINGS, Outcome, Status

FORMAT = 2
_APPLICATION = int.from_bytes(b"SepT", "big")  # marks a database as one of the tuner
WAITING = 10.0  # seconds for which another process may have the database locked
_LITTLE = 1 << 20  # bytes: a disk with so few left is full

# `digest` is of the other columns of a row: a bit that flips in a number would go unnoticed.
TABLES = (
    """
    CREATE TABLE searches (
        id INTEGER PRIMARY KEY,
        fingerprint TEXT NOT NULL,
        computer TEXT NOT NULL,
        version TEXT NOT NULL,
        method TEXT NOT NULL,
        seed INTEGER NOT NULL,
        title TEXT NOT NULL,
        keys TEXT NOT NULL,
        problem TEXT NOT NULL,
        digest TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE trials (
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
        digest TEXT NOT NULL,
        PRIMARY KEY (search, number)
    )
    """,
)


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
        # One that is read may have to be repaired first, after a process that was killed.
        mode = "rw" if is_read else "rwc"
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
        try:
            if self.path.is_dir():
                raise UsageError(f"{self.path} is a folder, not a database")
            if is_read and not self.path.exists():
                raise UsageError(f"there is no database {self.path}")
            if self.path.exists() and not self.path.is_file():
                raise UsageError(f"{self.path} is no file, as a database is")
            if not self.path.absolute().parent.is_dir():
                raise UsageError(f"there is no folder {self.path.parent} for the database")
        except OSError as error:
            raise UsageError(f"{self.path} cannot be a database: {error.strerror}") from error

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
        """The number of a search: a new one, unless another process has just added it."""
        columns = (search.fingerprint, search.computer, search.version, search.method)
        row = (*columns, search.seed, search.title, json.dumps(search.keys), search.problem)
        with self._failures(), self._writing():
            found = self.find(search)
            if found is not None:
                return found
            done = self._base.execute(
                "INSERT INTO searches (fingerprint, computer, version, method, seed, title, keys, "
                "problem, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, _digest(row)),
            )
        assert done.lastrowid is not None
        return done.lastrowid

    def searches(self) -> list[tuple[int, Search]]:
        """All searches, the first one first."""
        with self._failures():
            rows = self._base.execute(
                "SELECT id, fingerprint, computer, version, method, seed, title, keys, problem, "
                "digest FROM searches ORDER BY id"
            ).fetchall()
            return [(int(number), _search(row)) for number, *row in rows]

    def count(self, search: int) -> int:
        """How many trials a search has."""
        query = "SELECT count(*) FROM trials WHERE search=?"
        with self._failures():
            return int(self._base.execute(query, (search,)).fetchone()[0])

    def add(self, search: int, trial: Stored) -> int:
        """Stores a trial, which is on disk when this returns; its number in the search.

        That is another one than the trial has if a second process goes on with the same search.
        """
        outcome, facts = trial.outcome, trial.facts
        columns = (
            json.dumps(trial.values),
            outcome.status,
            outcome.reason.encode("utf-8", "replace").decode(),
            trial.seconds if trial.seconds < float("inf") else None,
            json.dumps(outcome.samples),
            json.dumps(outcome.beside),
            facts.seconds,
            json.dumps([float(f"{each:.9g}") for each in facts.features]),
        )
        last = "SELECT max(number) FROM trials WHERE search=?"
        with self._failures(), self._writing():
            (found,) = self._base.execute(last, (search,)).fetchone()
            number = 0 if found is None else int(found) + 1
            row = (search, number, *columns)
            insert = f"INSERT INTO trials VALUES ({', '.join('?' * len(row))}, ?)"
            self._base.execute(insert, (*row, _digest(row)))
        return number

    def trials(self, search: int) -> list[Stored]:
        with self._failures():
            rows = self._base.execute(
                "SELECT search, number, chosen, status, reason, seconds, samples, beside, "
                "estimate, features, digest FROM trials WHERE search=? ORDER BY number",
                (search,),
            ).fetchall()
            return [_stored(row) for row in rows]

    @contextmanager
    def _writing(self) -> Generator[None]:
        """A transaction: all of what is done in it is stored, or nothing."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    def _check(self, is_read: bool) -> None:
        """Makes the tables, and looks whether what is there is whole and can be written to."""
        self._base.execute("PRAGMA synchronous=FULL")
        is_new = self._is_new()
        (verdict,) = self._base.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(f"it is damaged: {verdict.splitlines()[-1]}")
        if is_read:
            if is_new:
                raise UsageError(f"{self.path} has no search")
            self._base.execute("PRAGMA query_only=1")
            return
        with self._writing():
            if self._is_new():  # unless another process has just made them
                for table in TABLES:
                    self._base.execute(table)
                self._base.execute(f"PRAGMA application_id={_APPLICATION}")
                self._base.execute(f"PRAGMA user_version={FORMAT}")

    def _is_new(self) -> bool:
        """Whether nothing is in the database; a `UsageError` if something else is."""
        pragmas = ("application_id", "user_version")
        found = [self._base.execute(f"PRAGMA {each}").fetchone()[0] for each in pragmas]
        (tables,) = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if found != [_APPLICATION, FORMAT] and (found != [0, 0] or tables):
            what = f"no database of SepTran's tuner of format {FORMAT}"
            raise UsageError(f"{self.path} is {what}{self._way_out}")
        return not tables

    @contextmanager
    def _failures(self) -> Generator[None]:
        """What SQLite cannot do, in words that name the file."""
        try:
            yield
        except sqlite3.Error as error:
            reason = self._reason(error)
            raise UsageError(f"the database {self.path} cannot be used: {reason}") from error
        except (ValueError, TypeError, KeyError, OverflowError) as error:
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
        if "decode to UTF-8" in text:
            return f"what is stored in it is damaged{self._way_out}"
        is_damaged = type(error) is sqlite3.DatabaseError or "no such" in text
        return f"{' '.join(text.split())}{self._way_out}" if is_damaged else text


def _digest(row: Sequence[Any]) -> str:
    return digest(json.dumps(row))[:16]


def _checked(row: Sequence[Any]) -> Sequence[Any]:
    """The columns of a row that is as it was written."""
    *columns, found = row
    if found != _digest(columns):
        raise ValueError("a row has changed")
    return columns


def _search(row: Sequence[Any]) -> Search:
    fingerprint, computer, version, method, seed, title, keys, problem = _checked(row)
    listed = tuple(json.loads(keys))
    return Search(fingerprint, computer, version, method, seed, title, listed, problem)


def _stored(row: Sequence[Any]) -> Stored:
    _, number, chosen, status, reason, seconds, samples, beside, guess, features = _checked(row)
    if status not in MEANINGS:
        raise ValueError(status)
    kind: Status = status
    outcome = Outcome(kind, reason, tuple(json.loads(samples)), tuple(json.loads(beside)))
    taken = float("inf") if seconds is None else seconds
    return Stored(number, json.loads(chosen), outcome, taken, Facts(guess, json.loads(features)))

"""Trials in a SQLite database: each is stored before the next one begins."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eas.septran.tuner.prediction import Facts
from eas.support.command_line import UsageError
from eas.support.records import frozen
from eas.tuning.outcomes import Outcome, Status

FORMAT = 1

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
    """What a search depends on: results of one that differs in anything are not used by another."""

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
    """The searches and trials of a database."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._failures():
            self._base = sqlite3.connect(self.path, timeout=60.0, isolation_level=None)
            self._check()

    def close(self) -> None:
        self._base.close()

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
        return [
            (int(number), Search(a, b, c, d, seed, title, tuple(json.loads(keys)), problem))
            for number, a, b, c, d, seed, title, keys, problem in rows
        ]

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
        with self._failures():
            self._base.execute("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def trials(self, search: int) -> list[Stored]:
        with self._failures():
            rows = self._base.execute(
                "SELECT number, chosen, status, reason, seconds, samples, beside, estimate, "
                "features FROM trials WHERE search=? ORDER BY number",
                (search,),
            ).fetchall()
        return [_stored(row) for row in rows]

    def _check(self) -> None:
        """Makes the tables, and looks whether what is there is whole."""
        self._base.execute("PRAGMA synchronous=FULL")
        (found,) = self._base.execute("PRAGMA user_version").fetchone()
        tables = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found not in (0, FORMAT) or (found == 0 and tables):
            raise UsageError(f"{self.path} is no database of SepTran's tuner of format {FORMAT}")
        (verdict,) = self._base.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        self._base.executescript(_TABLES)
        self._base.execute(f"PRAGMA user_version={FORMAT}")

    @contextmanager
    def _failures(self) -> Generator[None]:
        """What SQLite cannot do, in words that name the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise UsageError(f"the database {self.path} cannot be used: {error}") from error


def _stored(row: Sequence[Any]) -> Stored:
    number, chosen, status, reason, seconds, samples, beside, guess, features = row
    kind: Status = status
    outcome = Outcome(kind, reason, tuple(json.loads(samples)), tuple(json.loads(beside)))
    taken = float("inf") if seconds is None else seconds
    return Stored(number, json.loads(chosen), outcome, taken, Facts(guess, json.loads(features)))

"""Databases of the tuner that do not wait for the disk, in the process of the tests."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from eas.septran.tuner import store


class _Unsynchronized(sqlite3.Connection):
    """Only a computer that loses its power could lose what is written."""

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        return super().execute(sql.replace("synchronous=FULL", "synchronous=OFF"), *arguments)


@pytest.fixture(scope="package", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        connect = partial(sqlite3.connect, factory=_Unsynchronized)
        patch.setattr(store.sqlite3, "connect", connect)
        yield

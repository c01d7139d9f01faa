"""Which graph records the launches of this thread or task."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, Protocol

from eas.runtime.streams.hazards import Access


class GraphError(RuntimeError):
    """A graph is used in a way that it cannot be used."""


class Recorder(Protocol):
    """A graph that records."""

    def add(self, prepared: Any) -> None:
        """Records a launch in place of running it."""
        ...

    def check_access(self, accesses: Sequence[Access]) -> None:
        """Refuses to have the host read what a recorded launch writes."""
        ...


RECORDER: ContextVar[Recorder | None] = ContextVar("eas_recorder", default=None)

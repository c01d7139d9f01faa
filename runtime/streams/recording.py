"""Which graph records the launches of this thread or task."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from eas.runtime.streams.hazards import Access


class GraphError(RuntimeError):
    """A graph is used in a way that it cannot be used."""


class Recorder(Protocol):
    """A graph that records."""

    def add(self, prepared: Any) -> None:
        """Records a launch in place of running it."""
        ...

    def note_written(self, tensors: Sequence[Any]) -> None:
        """The launch that is recorded next writes these tensors of torch."""
        ...

    def check_access(self, accesses: Sequence[Access]) -> None:
        """Refuses to have the host read what a recorded launch writes, or write what it uses."""
        ...

    def note_host_write(self, memory: tuple[int, int]) -> None:
        """The host writes memory while launches are recorded."""
        ...


RECORDER: ContextVar[Recorder | None] = ContextVar("eas_recorder", default=None)


def note_host_write(memory: tuple[int, int]) -> None:
    """Lets the graph that is being recorded know of a write that will not be part of it."""
    recorder = RECORDER.get()
    if recorder is not None:
        recorder.note_host_write(memory)

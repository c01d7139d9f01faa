"""Values that a `with` block chooses for the code in it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Generic, TypeVar

from eas.support.records import frozen

T = TypeVar("T")


@frozen
class _Block(Generic[T]):
    value: T
    outer: _Block[T] | None


class BlockValue(Generic[T]):
    """The value of the innermost block, for its thread or task only; None outside of all blocks.

    Each value is stored with that of the block around it, so that leaving a block needs nothing
    of its own: one context manager may be entered within itself, and by several threads at once.
    """

    def __init__(self, name: str) -> None:
        self._innermost: ContextVar[_Block[T] | None] = ContextVar(name, default=None)

    def get(self) -> T | None:
        block = self._innermost.get()
        return None if block is None else block.value

    def enter(self, value: T) -> None:
        """Begins a block."""
        self._innermost.set(_Block(value, self._innermost.get()))

    def leave(self) -> None:
        """Ends the innermost block."""
        block = self._innermost.get()
        if block is not None:
            self._innermost.set(block.outer)

"""Shared events: a number that only grows; the GPU signals it and waits for it, in any queue."""

from __future__ import annotations

from dataclasses import dataclass

from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, selector


class MTLSharedEvent(Object):
    """What `newSharedEvent` gives."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.value = 0

    @selector
    def signaledValue(self) -> int:
        return self.value

    @selector
    def setSignaledValue_(self, value: int) -> None:
        self.value = max(self.value, value)


@dataclass(frozen=True)
class Signal:
    """A step of a command buffer: after the steps before it, the event gets a value."""

    event: MTLSharedEvent
    value: int


@dataclass(frozen=True)
class Wait:
    """A step of a command buffer: those after it run once the event has the value."""

    event: MTLSharedEvent
    value: int

"""The part of Foundation that Metal's users meet."""

from __future__ import annotations

from typing import NamedTuple

from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, selector


class NSOperatingSystemVersion(NamedTuple):
    """A struct."""

    majorVersion: int
    minorVersion: int
    patchVersion: int


class NSError(Object):
    """An error: its domain, its code and its words."""

    def __init__(self, machine: Machine, domain: str, code: int, description: str) -> None:
        super().__init__(machine)
        self.facts = (domain, code, description)

    @selector
    def domain(self) -> str:
        return self.facts[0]

    @selector
    def code(self) -> int:
        return self.facts[1]

    @selector
    def localizedDescription(self) -> str:
        return self.facts[2]


class NSProcessInfo(Object):
    """What a process knows about its system."""

    @selector
    def operatingSystemVersion(self) -> NSOperatingSystemVersion:
        return NSOperatingSystemVersion(*self.machine.system)

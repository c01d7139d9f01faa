"""The modules `Metal`, `Foundation` and `objc` of a simulated Mac."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

import pytest

from tests.metal.simulated.commands import MTLSize
from tests.metal.simulated.device import MTLDevice
from tests.metal.simulated.foundation import NSError, NSProcessInfo
from tests.metal.simulated.libraries import MTLCompileOptions
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import extract


def install(machine: Machine, patch: pytest.MonkeyPatch) -> None:
    """Has `import Metal` and its like find the simulation."""
    for module in (_metal(machine), _foundation(machine), _objc(machine)):
        patch.setitem(sys.modules, module.__name__, module)


def _metal(machine: Machine) -> ModuleType:
    def create() -> MTLDevice | None:
        return None if machine.faults.has_no_device else MTLDevice(machine)

    module = ModuleType("Metal")
    vars(module).update(extract()["constants"])
    options = SimpleNamespace(alloc=lambda: MTLCompileOptions(machine))
    vars(module).update(
        MTLCompileOptions=options, MTLCreateSystemDefaultDevice=create, MTLSizeMake=MTLSize
    )
    return module


def _foundation(machine: Machine) -> ModuleType:
    module = ModuleType("Foundation")
    process = SimpleNamespace(processInfo=lambda: NSProcessInfo(machine))
    vars(module).update(NSProcessInfo=process, NSError=NSError)
    return module


def _objc(machine: Machine) -> ModuleType:
    @contextmanager
    def autorelease_pool() -> Generator[None]:
        machine.pools += 1
        try:
            yield
        finally:
            machine.pools -= 1

    module = ModuleType("objc")
    vars(module).update(autorelease_pool=autorelease_pool)
    return module

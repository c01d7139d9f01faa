"""The modules `Metal`, `Foundation` and `objc` of a simulated Mac."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

from eas.msl.host import default_host
from tests.metal.simulated.arguments import make_size
from tests.metal.simulated.device import MTLDevice
from tests.metal.simulated.foundation import NSError, NSProcessInfo
from tests.metal.simulated.libraries import MTLCompileOptions
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, extract, require


def install(machine: Machine | None = None) -> Machine:
    """Has `import Metal` and the other imports find the simulation; from then on this is a Mac."""
    machine = machine or Machine(default_host())
    for module in (_metal(machine), _foundation(machine), _objc(machine)):
        sys.modules[module.__name__] = module
    return machine


@contextmanager
def installed(machine: Machine) -> Generator[None]:
    """`install`, for a while."""
    before = {name: sys.modules.get(name) for name in ("Metal", "Foundation", "objc")}
    install(machine)
    try:
        yield
    finally:
        for name, module in before.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


def _metal(machine: Machine) -> ModuleType:
    faults = machine.faults

    def create() -> MTLDevice | None:
        is_there = not (faults.has_no_device or faults.has_no_default_device)
        return MTLDevice(machine) if is_there else None

    def copy_all() -> list[MTLDevice]:
        return [] if faults.has_no_device else [MTLDevice(machine)]

    module = ModuleType("Metal")
    vars(module).update(
        extract()["constants"],
        MTLCompileOptions=SimpleNamespace(alloc=lambda: MTLCompileOptions(machine)),
        MTLCopyAllDevices=copy_all,
        MTLCreateSystemDefaultDevice=create,
        MTLSizeMake=make_size,
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
        machine.pools.depth += 1
        try:
            yield
        finally:
            machine.pools.depth -= 1

    def pyobjc_id(value: Object) -> int:
        machine.pointers[id(value)] = value
        return id(value)

    def objc_object(*, c_void_p: ctypes.c_void_p) -> Object:
        found = machine.pointers.get(c_void_p.value or 0)
        require(found is not None, f"{c_void_p} points to no object")
        assert found is not None
        return found

    module = ModuleType("objc")
    vars(module).update(
        autorelease_pool=autorelease_pool, pyobjc_id=pyobjc_id, objc_object=objc_object
    )
    return module

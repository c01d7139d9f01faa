"""What a machine file says, as the plain table that the flat IR reads."""

from __future__ import annotations

from eas.septran.files import Machine
from eas.septran.flat.machine import Machine as FlatMachine
from eas.septran.flat.machine import Memory


def synchronized_memories(machine: Machine) -> list[str]:
    """The memories that need barriers: scratch memories where several threads run a kernel."""
    procs = machine.procs.values()
    if all((proc.max_threads or proc.threads) == 1 for proc in procs):
        return []
    return [name for name, memory in machine.mems.items() if memory.kind == "scratch"]


def flat_machine(machine: Machine) -> FlatMachine:
    """The processors and memories of a machine."""
    synchronized = synchronized_memories(machine)
    memories = tuple(
        Memory(name, memory.capacity, name in synchronized) for name, memory in machine.mems.items()
    )
    return FlatMachine(machine.name, tuple(machine.procs), memories)

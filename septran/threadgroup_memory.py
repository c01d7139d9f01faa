"""Threadgroup memory on Metal: what the mapping asks for, and what the writer of the text adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import eas
from eas.septran.explain import Room
from eas.septran.files import Machine
from eas.septran.files.complaints import Complaints
from eas.septran.flat.nodes import Alloc, Kernel, Module
from eas.support.location import NOWHERE


def added_rooms(
    module: Module, machine: Machine, compiled: Sequence[eas.CompiledKernel]
) -> list[Room]:
    """The arrays that the Metal text has besides those of the mapping."""
    memory = threadgroup_memory(machine)
    return [
        room
        for kernel, each in zip(module.kernels, compiled, strict=True)
        for room in _added(kernel, memory, each)
    ]


def added_bytes(module: Module, machine: Machine, compiled: Sequence[eas.CompiledKernel]) -> int:
    """The most bytes that the text of a kernel has besides those of the mapping."""
    memory = threadgroup_memory(machine)
    pairs = zip(module.kernels, compiled, strict=True)
    return max(
        (sum(r.bytes for r in _added(kernel, memory, each)) for kernel, each in pairs), default=0
    )


def check_metal_memory(
    module: Module, machine: Machine, compiled: Sequence[eas.CompiledKernel]
) -> None:
    """Raise an error if a mapping fits and its Metal text does not (S401)."""
    complaints = Complaints()
    memory = threadgroup_memory(machine)
    capacity = machine.mems[memory].capacity or 0
    for kernel, each in zip(module.kernels, compiled, strict=True):
        total = sum(array.bytes for array in each.threadgroup_memory) if _has_text(each) else 0
        if total <= capacity:
            continue
        rooms = list(_added(kernel, memory, each))
        added = sum(room.bytes for room in rooms)
        mapped = [a for a in kernel.body if isinstance(a, Alloc) and a.memory == memory]
        places = [stmt.origin.yaml for stmt in sorted(mapped, key=lambda stmt: -stmt.bytes)]
        complaints.add(
            "S401",
            f"{memory} holds {capacity:,} bytes, and the Metal text needs {total:,}",
            next((loc for loc in places if loc is not None), NOWHERE),
            notes=[
                f"the mapping asks for {total - added:,} bytes, the Metal text adds {added:,}:",
                *(f"{room.name}: {room.bytes:,} bytes for {room.because}" for room in rooms),
            ],
            help=["use smaller tiles, fewer stages, or another memory"],
        )
    complaints.raise_if_any()


def threadgroup_memory(machine: Machine) -> str:
    """The memory of a machine that is threadgroup memory on Metal."""
    return next(name for name, memory in machine.mems.items() if memory.kind == "scratch")


def _added(kernel: Kernel, memory: str, compiled: eas.CompiledKernel) -> Iterator[Room]:
    for array in compiled.threadgroup_memory if _has_text(compiled) else ():
        if not array.is_allocated:
            place = f", {array.loc}" if array.loc is not None and array.loc != NOWHERE else ""
            because = f"{'; '.join(array.reasons)}{place}"
            yield Room(kernel.name, memory, array.name, "added by Metal", array.bytes, because)


def _has_text(compiled: eas.CompiledKernel) -> bool:
    """Whether Metal has all that a kernel computes; its arrays are not known otherwise."""
    try:
        _ = compiled.threadgroup_memory
    except eas.CompileError:
        return False
    return True

"""Capacity: what the mapping puts into each memory fits, or a table shows what takes how much."""

from __future__ import annotations

from eas.septran.files import Mapping
from eas.septran.files.complaints import Complaints
from eas.septran.flat.nodes import Alloc, Module
from eas.support.location import NOWHERE


def check_capacity(module: Module, mapping: Mapping, complaints: Complaints) -> None:
    """Complain about memories that hold too much (S401)."""
    for kernel in module.kernels:
        by_memory: dict[str, list[Alloc]] = {}
        for stmt in kernel.body:
            if isinstance(stmt, Alloc):
                by_memory.setdefault(stmt.memory, []).append(stmt)
        for memory, allocations in by_memory.items():
            capacity = mapping.machine.mems[memory].capacity
            total = sum(each.bytes for each in allocations)
            if capacity is None or total <= capacity:
                continue
            largest = max(allocations, key=lambda each: each.bytes)
            rows = [
                f"{each.name}: {' x '.join(map(str, (*each.shape,)))} {each.dtype}"
                f" x {each.slots} slots = {each.bytes:,} bytes"
                for each in sorted(allocations, key=lambda each: -each.bytes)
            ]
            complaints.add(
                "S401",
                f"{memory} holds {capacity:,} bytes, and the mapping needs {total:,}",
                largest.origin.yaml or NOWHERE,
                label=f"{largest.bytes:,} bytes",
                notes=rows,
                help=["use smaller tiles, fewer stages, or another memory"],
            )

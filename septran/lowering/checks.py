"""Capacity: what the mapping puts into each memory fits, or a table shows what takes how much."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Table

from eas.septran.files import Mapping, ResolvedInstance
from eas.septran.files.complaints import Complaints
from eas.septran.flat.nodes import Alloc, Module
from eas.support.location import NOWHERE


def check_capacity(
    module: Module, mapping: Mapping, numbers: Table[str, int], complaints: Complaints
) -> None:
    """Complain about memories that hold too much (S401); `numbers` have names of the user's."""
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
            ordered = sorted(allocations, key=lambda each: -each.bytes)
            rows = [f"{each.name}: {each.size} = {each.bytes:,} bytes" for each in ordered]
            complaints.add(
                "S401",
                f"{memory} holds {capacity:,} bytes, and the mapping needs {total:,}",
                largest.origin.yaml or NOWHERE,
                label=f"{largest.bytes:,} bytes",
                notes=[*rows, *_named((n for each in ordered for n in each.shape), numbers)],
                help=["use smaller tiles, fewer stages, or another memory"],
            )


def named_numbers(
    instances: Table[str, ResolvedInstance], sizes: Table[str, int]
) -> dict[str, int]:
    """The tunables of the mapping and the sizes of the arguments."""
    tunables = {
        f"{name}.{key}": int(value)
        for name, instance in instances.items()
        for key, value in instance.tunables.items()
    }
    return {**tunables, **sizes}


def names_of(value: int, numbers: Table[str, int]) -> list[str]:
    """The names that have a value, with it: `host.rows=64`; sizes where no tunable has it."""
    found = [name for name, each in numbers.items() if each == value]
    tunables = [name for name in found if "." in name]
    return [f"{name}={value}" for name in tunables or found]


def notes_on_extents(message: str, numbers: Table[str, int]) -> list[str]:
    """The names of the numbers in shapes of a message: `[min(8, 19 - 8*i), 4]`."""
    shapes = re.findall(r"(?:\[|\bmin\()[^\])]*", message)
    return _named([int(text) for each in shapes for text in re.findall(r"\b\d+\b", each)], numbers)


def _named(extents: Iterable[int], numbers: Table[str, int]) -> list[str]:
    """The names of extents, as far as they have some."""
    several = dict.fromkeys(extent for extent in extents if extent > 1)
    found = [text for extent in several for text in names_of(extent, numbers)]
    return [f"here {', '.join(found)}"] if found else []

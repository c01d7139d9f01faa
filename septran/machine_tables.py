"""What a machine file says of its library, as the plain table that targets read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eas.septran.files.machine import Machine, Primitive
from eas.septran.targets.library import CopyFunctions, Emulator, Function, Library, Need, Space


def library_of(machine: Machine) -> Library:
    """The functions of a machine's library."""
    symbols = dict(machine.symbols)
    copies = {
        arrow: CopyFunctions(
            symbols[copy.symbol],
            symbols[copy.wait] if copy.wait else None,
            frozenset(copy.dtypes),
        )
        for arrow, copy in machine.copies.items()
        if copy.symbol is not None
    }
    operations: dict[str, list[Function]] = {}
    for operation, primitive, function in _functions(machine):
        memories = {operand: frozenset(names) for operand, names in primitive.mems.items()}
        dtypes, results = frozenset(primitive.dtypes), frozenset(primitive.results)
        found = Function(function, memories, dtypes, results)
        operations.setdefault(operation, []).append(found)
    folder = Path(machine.path).parent
    headers = [folder / header for header in machine.library.headers]
    return Library(
        machine.name,
        symbols,
        {primitive.name: function for _, primitive, function in _functions(machine)},
        operations,
        copies,
        {p.name: dict(p.shape) for _, p, _ in _functions(machine) if p.tails == "padded"},
        headers=tuple(header.name for header in headers),
        sources=tuple(folder / source for source in machine.library.sources),
        folders=tuple(dict.fromkeys(header.parent for header in headers)),
        links=tuple(machine.library.links),
        scratch=machine.scratch,
        spaces={
            name: Space(memory.space.base, memory.space.row, memory.capacity)
            for name, memory in machine.mems.items()
            if memory.space is not None
        },
        needs=tuple(_needs(machine)),
        emulator=_emulator(machine),
    )


def _functions(machine: Machine) -> Iterator[tuple[str, Primitive, str]]:
    """Each operation with a primitive for it that has a function, and that function."""
    for operation, primitives in machine.primitives.items():
        for primitive in primitives:
            if primitive.symbol is not None:
                yield operation, primitive, machine.symbols[primitive.symbol]


def _needs(machine: Machine) -> Iterator[Need]:
    for each in machine.needs:
        if each.package is not None:
            yield Need("package", each.package, each.install, each.loads)
        if each.command is not None:
            yield Need("command", each.command, each.install)
        if each.file is not None:
            yield Need("file", each.file, each.install)


def _emulator(machine: Machine) -> Emulator | None:
    found = machine.emulator
    if found is None:
        return None
    return Emulator(found.target, tuple(found.flags), tuple(found.command))

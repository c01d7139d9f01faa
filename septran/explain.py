"""What the compiler inserted and why: each op with its reason, its YAML line and its Python line.

print(operator.explain(M=512, N=512, K=512))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich.table import Table

from eas.septran.files import Machine
from eas.septran.flat.counts import Row, count
from eas.septran.flat.nodes import (
    NO_ORIGIN,
    Alloc,
    Barrier,
    Copy,
    For,
    Kernel,
    Module,
    Origin,
    Start,
    Stmt,
    Wait,
    body_of,
)
from eas.septran.flat.text import print_stmt
from eas.support.command_line import lay_out_plainly
from eas.support.location import Loc
from eas.support.records import frozen, replace


@frozen
class Inserted:
    """An op that the compiler inserted, as text, with the reasons for it."""

    kernel: str
    text: str
    causes: tuple[Origin, ...]
    depth: int = 0


@frozen
class Room:
    """Some bytes of a memory: a buffer of the mapping, or what a back end adds to it."""

    kernel: str
    memory: str
    name: str
    size: str
    bytes: int
    because: str


@frozen
class Explanation:
    """All that the compiler inserted, the memory it takes and the bytes it moves."""

    title: str
    module: Module
    machine: Machine
    inserted: tuple[Inserted, ...]
    rooms: tuple[Room, ...]
    movement: tuple[Row, ...]

    def __str__(self) -> str:
        parts = [self.title]
        for kernel in self.module.kernels:
            parts.append(_head(kernel))
            ops = (each for each in self.inserted if each.kernel == kernel.name)
            parts += ["\n".join(_lines(each)) for each in ops]
            rooms = [each for each in self.rooms if each.kernel == kernel.name]
            if rooms:
                parts.append(lay_out_plainly(_memory_table(rooms, self.machine)))
            rows = [each for each in self.movement if each.kernel == kernel.name]
            parts.append(lay_out_plainly(_movement_table(rows)))
        return "\n\n".join(parts)


def explain(
    module: Module,
    machine: Machine,
    sizes: Mapping[str, int],
    added: Sequence[Room] = (),
) -> Explanation:
    """The explanation of a flat module; `added` is the memory that its back end adds."""
    dtypes = list(dict.fromkeys(str(param.dtype) for param in module.params))
    numbers = ", ".join(f"{name}={value}" for name, value in sizes.items())
    title = f"{module.name} on {machine.name}: {numbers}, {' and '.join(dtypes)}"
    ops = [each for kernel in module.kernels for each in _inserted(kernel)]
    rooms = [each for kernel in module.kernels for each in _rooms(kernel)]
    rows = count(module, {})
    return Explanation(title, module, machine, tuple(ops), (*rooms, *added), tuple(rows))


def _inserted(kernel: Kernel) -> Iterator[Inserted]:
    loops = list(_pipelined(kernel.body))

    def visit(body: Sequence[Stmt], depth: int) -> Iterator[Inserted]:
        for stmt in body:
            is_pipelined = isinstance(stmt, For) and stmt.pipelined > 1
            if is_pipelined or isinstance(stmt, Alloc | Copy | Start | Wait | Barrier):
                causes = tuple(_causes(stmt, loops))
                yield Inserted(kernel.name, _text(stmt), causes, depth)
            yield from visit(body_of(stmt), depth + 1)

    yield from visit(kernel.body, 0)


def _pipelined(body: Sequence[Stmt]) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For) and stmt.pipelined > 1:
            yield stmt
        yield from _pipelined(body_of(stmt))


def _causes(stmt: Stmt, loops: Sequence[For]) -> Iterator[Origin]:
    """Why an op is there; the slots of a buffer have a reason of their own."""
    origin = stmt.origin
    match stmt:
        case Copy(fill=fill) | Start(fill=fill) if fill is not None:
            because = f"{origin.because}; beyond the true extent it is {fill:g}"
            yield replace(origin, because=because)
        case For():
            ahead = _trips(stmt.pipelined - 1)
            yield replace(origin, because=f"{origin.because}: a tile is copied {ahead} ahead")
        case _:
            yield origin
    if isinstance(stmt, Alloc) and stmt.slots > 1:
        for loop in loops:
            if loop.pipelined == stmt.slots and _fills(loop.body, stmt.name):
                because = f"{stmt.slots} slots: {loop.origin.because}"
                yield replace(loop.origin, because=because)


def _trips(count: int) -> str:
    return "one trip" if count == 1 else f"{count} trips"


def _fills(body: Sequence[Stmt], buffer: str) -> bool:
    return any(
        (isinstance(stmt, Copy | Start) and stmt.target.buffer == buffer)
        or _fills(body_of(stmt), buffer)
        for stmt in body
    )


def _text(stmt: Stmt) -> str:
    bare = replace(stmt, origin=NO_ORIGIN)
    if isinstance(bare, For):
        bare = replace(bare, body=())
    return print_stmt(bare).partition("\n")[0].removesuffix(" {")


def _head(kernel: Kernel) -> str:
    extents = " x ".join(str(extent) for _, extent in kernel.grid) or "1"
    return f"kernel {kernel.name}: grid {extents}, {kernel.threads} threads"


def _lines(op: Inserted) -> Iterator[str]:
    """An op, its reasons, and the lines that asked for it."""
    margin = "  " * (op.depth + 1)
    yield margin + op.text
    for cause in op.causes:
        yield f"{margin}    because {cause.because}"
        places = [loc for loc in (cause.yaml, cause.python) if loc is not None]
        width = max((len(_place(loc)) for loc in places), default=0)
        for loc in places:
            yield f"{margin}    {_place(loc):<{width}}  {loc.source.line(loc.line).strip()}"


def _place(loc: Loc) -> str:
    return f"{loc.source.name}:{loc.line}:{loc.column + 1}"


def _rooms(kernel: Kernel) -> Iterator[Room]:
    for stmt in kernel.body:
        if isinstance(stmt, Alloc):
            because = stmt.origin.because
            yield Room(kernel.name, stmt.memory, stmt.name, stmt.size, stmt.bytes, because)


def _memory_table(rooms: Sequence[Room], machine: Machine) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("memory", "buffer", "size"):
        table.add_column(title)
    table.add_column("bytes", justify="right")
    table.add_column("because")
    order = list(machine.mems)
    for memory, group in groupby(
        sorted(rooms, key=lambda room: order.index(room.memory)), key=lambda room: room.memory
    ):
        those = list(group)
        for room in those:
            table.add_row(memory, room.name, room.size, f"{room.bytes:,}", room.because)
        total, capacity = sum(room.bytes for room in those), machine.mems[memory].capacity
        used = "" if capacity is None else f"{total / capacity:.0%} of {capacity:,}"
        table.add_row(memory, "in all", "", f"{total:,}", used)
    return table


def _movement_table(rows: Sequence[Row]) -> Table:
    arrows = list(dict.fromkeys(arrow for row in rows for arrow in row.total.moved))
    table = Table(box=None, pad_edge=False)
    table.add_column("runs of")
    for title in ("runs", "copies a run", "barriers a run", "products a run", "bytes a run"):
        table.add_column(title, justify="right")
    for arrow in arrows:
        table.add_column(f"{arrow.replace('->', ' to ')}, bytes in all", justify="right")
    for row in rows:
        first = row.first
        numbers = [row.runs, first.copies, first.barriers, first.mmas, first.bytes]
        numbers += [row.total.moved[arrow] for arrow in arrows]
        name = f"loop {row.loop}" if row.loop else "the kernel"
        table.add_row(name, *(f"{number:,}" for number in numbers))
    return table

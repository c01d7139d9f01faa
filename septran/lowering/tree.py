"""The form between logic and flat IR: statements under loops, and residents around them.

A resident is a tensor, or a tile of one, that is held in another memory while some statements run.
They start around single leaves; `residency` moves them outwards. What is left of them in the flat
IR is an allocation, a copy in, and a copy out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from eas.ir.types import DType
from eas.septran.flat.affine import Affine
from eas.septran.flat.nodes import For, If, Origin, ParallelFor, Privilege, Stmt, View, accesses
from eas.support.location import Loc
from eas.support.records import frozen


@frozen
class Threads:
    """The threads that an instance of the grid's level asks for, and where; none by default."""

    count: int | None = None
    loc: Loc | None = None


NO_THREADS = Threads()


@frozen(eq=False)
class Do:
    """A statement of a leaf, and how many threads its instance wants for a program."""

    stmt: Stmt
    threads: Threads = NO_THREADS


@frozen(eq=False)
class Loop:
    """A loop, whose record has no body yet. `stages` is what its instance's `pipeline` asks for.

    They are offered if a loop of a single trip inside has asked: then there may be nothing to do.
    """

    record: For | ParallelFor
    body: tuple[Node, ...]
    stages: int = 1
    stages_origin: Origin = Origin()
    is_offered: bool = False


@frozen(eq=False)
class Guard:
    """Statements under a condition on loop variables."""

    record: If
    body: tuple[Node, ...]


@frozen
class Resident:
    """A buffer that holds a view of another one, or is a tensor of its own without a `source`.

    `shape` is what is allocated: the most that the view can have.
    """

    buffer: str
    dtype: DType
    memory: str
    shape: tuple[int, ...]
    source: View | None
    pad: int
    origin: Origin

    @property
    def key(self) -> tuple[View | None, str, int]:
        """What it holds, and where: residents of one key hold the same."""
        return self.source, self.memory, self.pad


@frozen(eq=False)
class Placed:
    """Nodes that use residents."""

    residents: tuple[Resident, ...]
    body: tuple[Node, ...]


Node: TypeAlias = Do | Loop | Guard | Placed


def children(node: Node) -> tuple[Node, ...]:
    return () if isinstance(node, Do) else node.body


def leaves(nodes: Sequence[Node]) -> Iterator[Do]:
    """All statements of leaves, in the order of the text."""
    for node in nodes:
        if isinstance(node, Do):
            yield node
        yield from leaves(children(node))


def statements(nodes: Sequence[Node]) -> Iterator[Stmt]:
    """Those statements without what their instances want."""
    return (each.stmt for each in leaves(nodes))


def touches(
    nodes: Sequence[Node], left_out: Resident | None = None
) -> Iterator[tuple[View, Privilege]]:
    """The views that nodes read and write, those of their residents' sources too, but for one."""
    for node in nodes:
        if isinstance(node, Do):
            yield from accesses(node.stmt)
            continue
        yield from touches(children(node), left_out)
        if isinstance(node, Placed):
            for resident in node.residents:
                if resident.source is not None and resident is not left_out:
                    yield resident.source, use_of(resident.buffer, node.body)


def use_of(buffer: str, nodes: Sequence[Node]) -> Privilege:
    """Whether nodes read a buffer, write it, or both."""
    hows = {how for view, how in touches(nodes) if view.buffer == buffer}
    if hows == {"w"}:
        return "w"
    return "r" if hows <= {"r"} else "rw"


def loop_variables(nodes: Sequence[Node]) -> set[str]:
    """The variables of all loops in some nodes."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Loop):
            found.add(node.record.variable)
        found |= loop_variables(children(node))
    return found


def names_of(view: View) -> frozenset[str]:
    """The loop variables that a view depends on."""
    parts: list[Affine] = [*view.offsets, *view.shape]
    if view.slot is not None:
        parts.append(view.slot)
    return frozenset[str]().union(*(part.names for part in parts))

"""Sums of products: which buffers they are, so that they can be held in f32.

A sum of f16 products that is rounded in every step loses digits. Registers have room for f32, and
the copy out rounds once. A primitive whose `results` are f32 only needs that in any memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.septran.files import Machine
from eas.septran.files.machine import Memory
from eas.septran.flat.nodes import Mma
from eas.septran.lowering.tree import Node, Placed, children, statements
from eas.support.records import frozen

WIDE = "f32"


@frozen
class Sums:
    """Buffers of 16-bit floats to which products are added in f32.

    Those that are `always` wide are added to by a primitive that takes nothing else.
    """

    wide: frozenset[str] = frozenset()
    always: frozenset[str] = frozenset()

    def are_wide(self, buffer: str, memory: Memory) -> bool:
        """Whether a copy of a buffer is f32 in a memory."""
        known = self.wide if memory.kind == "registers" else self.always
        return may_widen(memory) and buffer in known


def may_widen(memory: Memory) -> bool:
    """Whether a copy there may hold another dtype: if code that converts reaches it."""
    return memory.kind != "global" and memory.space is None


def find_sums(nodes: Sequence[Node], machine: Machine) -> Sums:
    """The buffers that products are added to in f32, and that are no factors of any product."""
    sources = dict(_sources(nodes))
    products = [stmt for stmt in statements(nodes) if isinstance(stmt, Mma)]
    factors = {_origin(view.buffer, sources) for p in products for view in (p.left, p.right)}
    wide, always = set[str](), set[str]()
    for product in products:
        found = machine.primitive(product.primitive)
        target = _origin(product.target.buffer, sources)
        if found is not None and found[1].results == [WIDE]:
            always.add(target)
        elif found is not None and found[1].accumulates == WIDE:
            wide.add(target)
    return Sums(frozenset((wide | always) - factors), frozenset(always - factors))


def _sources(nodes: Sequence[Node]) -> list[tuple[str, str]]:
    """The buffers that are copies, with what they are copies of."""
    found: list[tuple[str, str]] = []
    for node in nodes:
        if isinstance(node, Placed):
            found += [
                (each.buffer, each.source.buffer)
                for each in node.residents
                if each.source is not None
            ]
        found += _sources(children(node))
    return found


def _origin(buffer: str, sources: dict[str, str]) -> str:
    while buffer in sources:
        buffer = sources[buffer]
    return buffer

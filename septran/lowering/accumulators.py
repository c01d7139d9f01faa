"""Sums of products: which buffers they are, so that registers can hold them in f32.

A sum of f16 products that is rounded in every step loses digits. Registers have room for f32, and
the copy out rounds once.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.septran.files import Machine
from eas.septran.flat.nodes import Mma
from eas.septran.lowering.tree import Node, Placed, children, statements


def find_sums(nodes: Sequence[Node], machine: Machine) -> frozenset[str]:
    """The buffers that products are added to in f32, and that are no factors of any product."""
    sources = dict(_sources(nodes))
    products = [stmt for stmt in statements(nodes) if isinstance(stmt, Mma)]
    factors = {_origin(view.buffer, sources) for p in products for view in (p.left, p.right)}
    sums = {
        _origin(product.target.buffer, sources)
        for product in products
        if _accumulates_f32(product.primitive, machine)
    }
    return frozenset(sums - factors)


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


def _accumulates_f32(name: str, machine: Machine) -> bool:
    found = machine.primitive(name)
    return found is not None and found[1].accumulates == "f32"

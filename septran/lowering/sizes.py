"""Sizes as numbers: while logic was lowered they had names, see `eas.septran.flat.ranges`."""

from __future__ import annotations

from collections.abc import Sequence

from eas.septran.flat.affine import Affine
from eas.septran.flat.substitution import map_numbers, map_view
from eas.septran.lowering.tree import Do, Guard, Loop, Node, Placed, Resident
from eas.support.records import replace


def with_sizes(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes with numbers instead of the names of sizes."""
    return tuple(map(_node, nodes))


def with_size(number: Affine) -> Affine:
    """A number without names of sizes."""
    names = [name for name in number.names if name.isdigit()]
    return number.substitute({name: int(name) for name in names}) if names else number


def _node(node: Node) -> Node:
    match node:
        case Do():
            return replace(node, stmt=map_numbers(node.stmt, with_size))
        case Loop():
            record = replace(node.record, extent=with_size(node.record.extent))
            return replace(node, record=record, body=with_sizes(node.body))
        case Guard():
            left, right = with_size(node.record.left), with_size(node.record.right)
            record = replace(node.record, left=left, right=right)
            return replace(node, record=record, body=with_sizes(node.body))
        case Placed():
            return Placed(tuple(map(_resident, node.residents)), with_sizes(node.body))


def _resident(resident: Resident) -> Resident:
    source = resident.source
    return resident if source is None else replace(resident, source=map_view(source, with_size))

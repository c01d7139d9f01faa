"""Sizes as numbers: while logic was lowered they had names, see `eas.septran.flat.ranges`."""

from __future__ import annotations

from collections.abc import Sequence

from eas.septran.flat.affine import Affine
from eas.septran.flat.substitution import Change, map_numbers, map_view
from eas.septran.lowering.tree import Do, Guard, Loop, Node, Placed, Resident
from eas.support.records import replace


def with_sizes(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes with numbers instead of the names of sizes."""
    return with_numbers(nodes, with_size)


def with_size(number: Affine) -> Affine:
    """A number without names of sizes."""
    names = [name for name in number.names if name.isdigit()]
    return number.substitute({name: int(name) for name in names}) if names else number


def with_numbers(nodes: Sequence[Node], change: Change) -> tuple[Node, ...]:
    """Nodes with each number in them changed."""
    return tuple(_node(node, change) for node in nodes)


def _node(node: Node, change: Change) -> Node:
    match node:
        case Do():
            return replace(node, stmt=map_numbers(node.stmt, change))
        case Loop():
            record = replace(node.record, extent=change(node.record.extent))
            return replace(node, record=record, body=with_numbers(node.body, change))
        case Guard():
            left, right = change(node.record.left), change(node.record.right)
            record = replace(node.record, left=left, right=right)
            return replace(node, record=record, body=with_numbers(node.body, change))
        case Placed():
            residents = tuple(_resident(each, change) for each in node.residents)
            return Placed(residents, with_numbers(node.body, change))


def _resident(resident: Resident, change: Change) -> Resident:
    source = resident.source
    return resident if source is None else replace(resident, source=map_view(source, change))

"""Loops of a single trip inside of sequential ones: their bodies take their place.

What such a loop holds does not depend on it, so that it can be held around the loop outside. Where
its instance asks for a pipeline, its copies run ahead in the loop outside: a task that is launched
for each tile of K, and cuts that into tiles of the same size, is pipelined over K.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.septran.flat.affine import ONE, ZERO
from eas.septran.flat.nodes import For
from eas.septran.lowering.sizes import with_numbers
from eas.septran.lowering.tree import Do, Guard, Loop, Node, Placed
from eas.support.records import replace


def inline_single_trips(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes in whose sequential loops no loop has a single trip."""
    return tuple(map(_outside, nodes))


def _outside(node: Node) -> Node:
    match node:
        case Do():
            return node
        case Loop(record=For()):
            return _sequential(node)
        case Loop() | Guard() | Placed():
            return replace(node, body=inline_single_trips(node.body))


def _sequential(loop: Loop) -> Loop:
    """A loop without single trips inside; it is offered the stages that those asked for."""
    dropped: list[Loop] = []
    loop = replace(loop, body=_inside(loop.body, dropped))
    asking = next((each for each in dropped if each.stages > 1), None)
    if loop.stages > 1 or asking is None:
        return loop
    stages, origin = asking.stages, asking.stages_origin
    return replace(loop, stages=stages, stages_origin=origin, is_offered=True)


def _inside(nodes: Sequence[Node], dropped: list[Loop]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Do():
                found.append(node)
            case Loop() if _is_single(node):
                dropped.append(node)
                found += _inside(_in_first_trip(node), dropped)
            case Loop(record=For()):
                found.append(_sequential(node))
            case Loop() | Guard() | Placed():
                found.append(replace(node, body=_inside(node.body, dropped)))
    return tuple(found)


def _is_single(loop: Loop) -> bool:
    record = loop.record
    return record.extent == ONE and (isinstance(record, For) or not record.reduced)


def _in_first_trip(loop: Loop) -> tuple[Node, ...]:
    values = {loop.record.variable: ZERO}
    return with_numbers(loop.body, lambda number: number.substitute(values))

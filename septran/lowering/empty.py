"""Empty tensors: what would run on no elements is left out.

An axis of an array may have no elements, as in NumPy. A product of no columns adds nothing, a sum
of no elements is zero, which is what the statement before it has filled in.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.septran.flat.nodes import Mma, Reduce, Stmt, View, accesses
from eas.septran.lowering.tree import Do, Guard, Loop, Node, Placed, touches
from eas.support.records import replace


def drop_empty(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes without those that run on no elements, or never."""
    return tuple(left for node in nodes if (left := _node(node)) is not None)


def _node(node: Node) -> Node | None:
    match node:
        case Do():
            return None if _is_empty_stmt(node.stmt) else node
        case Loop():
            extent = node.record.extent
            body = () if extent.is_constant and extent.value <= 0 else drop_empty(node.body)
        case Guard():
            body = drop_empty(node.body)
        case Placed():
            return _placed(node)
    return replace(node, body=body) if body else None


def _placed(node: Placed) -> Node | None:
    body = drop_empty(node.body)
    if not body:
        return None
    if all(all(each.shape) for each in node.residents):
        return replace(node, body=body)
    used = {view.buffer for view, _ in touches(body)}
    residents = tuple(each for each in node.residents if all(each.shape) or each.buffer in used)
    return Placed(residents, body)


def _is_empty_stmt(stmt: Stmt) -> bool:
    if isinstance(stmt, Mma | Reduce):
        return any(_is_empty(view) for view, _ in accesses(stmt))
    return any(_is_empty(view) for view, how in accesses(stmt) if "w" in how)


def _is_empty(view: View) -> bool:
    return any(extent.is_constant and extent.value <= 0 for extent in view.shape)

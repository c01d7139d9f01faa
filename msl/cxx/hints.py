"""Names for values that the user has not named: after the value that they are used for."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.types import DType
from eas.msl.cxx.tree import Block, Declare, LoadNode, Node, Set, walk_nodes
from eas.support.records import field, frozen, record

_OFFSET = "offset"


@frozen
class _Purpose:
    """A use of a node: as part of a named value or of an offset, and whether it is an addend."""

    name: str
    dtype: DType
    is_added: bool = False


@record
class _Purposes:
    of: dict[Node, set[_Purpose]] = field(default_factory=dict[Node, "set[_Purpose]"])

    def add(self, node: Node, *purposes: _Purpose) -> None:
        self.of.setdefault(node, set()).update(purposes)


def suggest_names(root: Block, nodes: Sequence[Node]) -> None:
    """Gives a descriptive name to each declared node that the user has not named."""
    purposes = _Purposes()
    for _, _, statement in walk_nodes(root):
        if isinstance(statement, Declare | Set):
            variables = (
                [statement.variable] if isinstance(statement, Declare) else statement.variables
            )
            for variable, node in zip(variables, statement.operands, strict=False):
                if variable.hint:
                    purposes.add(node, _Purpose(variable.hint, variable.dtype))
    for node in reversed(nodes):
        if node.is_live:
            _pass_on(node, purposes)
            if node.is_named and not node.hint and not node.fallback:
                node.fallback = _name_for(purposes.of.get(node, set()), node)


def _pass_on(node: Node, purposes: _Purposes) -> None:
    """Propagates the uses of a node to its operands; those of an offset only to addends."""
    if not node.operands:
        return
    own = {_Purpose(node.hint, node.dtype)} if node.hint else purposes.of.get(node, set())
    passed = [
        _Purpose(each.name, each.dtype, node.is_sum)
        for each in own
        if node.is_sum or each.name != _OFFSET
    ]
    for place, operand in enumerate(node.operands):
        if isinstance(node, LoadNode) and place == 0:
            purposes.add(operand, _Purpose(_OFFSET, operand.dtype))
        else:
            purposes.add(operand, *passed)


def _name_for(purposes: set[_Purpose], node: Node) -> str:
    """The name after the only use of a node, if that has its dtype; else none."""
    names = {each.name for each in purposes}
    if len(names) != 1 or any(each.dtype != node.dtype for each in purposes):
        return ""
    [name] = names
    is_added = all(each.is_added for each in purposes)
    if name == _OFFSET:
        return "base" if is_added else name
    return f"{name}_{'base' if is_added and node.dtype.is_int else 'part'}"

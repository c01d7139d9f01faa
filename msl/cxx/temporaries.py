"""Decides which expressions become named temporaries, and where these are declared.

An expression is printed inline if it is used once, in its own scope, and nothing that it reads
changes before; or if it is a little arithmetic that the user has not named. Otherwise it is
declared before its first use, or before the first change of what it reads.
"""

from __future__ import annotations

from eas.msl.cxx.tree import (
    Block,
    Branch,
    Declare,
    LoadNode,
    Loop,
    Node,
    Set,
    Statement,
    walk_nodes,
)
from eas.support.records import field, record

HEAVY = 9
LIGHT = 4

Place = tuple[Block, int, bool]
"""Before a statement of a block; whether a loop there evaluates it in each trip."""


def place_temporaries(root: Block, nodes: list[Node]) -> None:
    """Decides about all nodes, users first."""
    _number_blocks(root)
    _sink(root, nodes)
    _count_weights(root, nodes)
    placing = _Placing(_uses_in(root))
    for node in reversed(nodes):
        placing.node(node)
    for block in {id(n.scope): n.scope for n in nodes}.values():
        for declared in block.declared.values():
            declared.sort(key=lambda n: n.order)


def _number_blocks(block: Block) -> None:
    for index, statement in enumerate(block.statements):
        for inner in statement.blocks:
            inner.place = (block, index)
            _number_blocks(inner)


def _uses_in(root: Block) -> dict[Node, list[Place]]:
    """Where statements use nodes."""
    uses: dict[Node, list[Place]] = {}
    for block, index, statement in walk_nodes(root):
        for node in statement.operands:
            uses.setdefault(node, []).append((block, index, isinstance(statement, Loop)))
    return uses


def _sink(root: Block, nodes: list[Node]) -> None:
    """Sinks expressions that only one branch uses into it, and drops masks that hold there."""
    uses: dict[Node, list[Block]] = {}
    for block, _, statement in walk_nodes(root):
        for node in statement.operands:
            uses.setdefault(node, []).append(block)
    for node in reversed(nodes):
        blocks = uses.get(node, [])
        if not blocks:
            continue
        if not node.plain and not node.guarded:
            _move_down(node, blocks)
        if isinstance(node, LoadNode) and len(node.operands) == 3:
            _drop_mask(node)
        for operand in node.operands:
            uses.setdefault(operand, []).append(node.scope)


def _move_down(node: Node, blocks: list[Block]) -> None:
    """Makes the innermost branch with all uses the scope of a node."""
    while True:
        inner = {_child_of(node.scope, block) for block in blocks}
        target = inner.pop()
        if inner or target is None or target.is_loop or _is_stale(node, (target, 0, False)):
            return
        node.scope, node.made = target, 0


def _child_of(scope: Block, block: Block) -> Block | None:
    """The child of `scope` that contains a block, None if that is `scope` itself."""
    child = None
    while block is not scope:
        child = block
        assert block.place is not None
        block = block.place[0]
    return child


def _drop_mask(node: LoadNode) -> None:
    """Drops the mask of a load that is only reached where the mask holds."""
    block = node.scope
    while block.place is not None:
        around, index = block.place
        branch = around.statements[index]
        is_then = isinstance(branch, Branch) and block is branch.then
        if is_then and node.operands[1] in _facts(branch.operands[0]):
            del node.operands[1:]
            return
        block = around


def _facts(condition: Node) -> list[Node]:
    """The conditions that hold where a condition holds."""
    return [condition, *(fact for each in condition.conjuncts for fact in _facts(each))]


def _count_weights(root: Block, nodes: list[Node]) -> None:
    """Names parts of expressions that are too long for a line, the user's names first."""
    count, assigned = _count_uses(root, nodes)
    for node in nodes:
        if node not in count:
            continue
        inline = [o for o in node.operands if _stays_inline(o, node, count)]
        node.weight = (0 if node.plain else 1) + sum(o.weight for o in inline)
        node.is_repeated = node.is_light and not node.hint and node.weight * count[node] <= LIGHT
        if node.weight > HEAVY and not node.guarded:
            _lighten(node, count)
        if node.weight > HEAVY and not node.guarded and not node.plain and node not in assigned:
            node.is_named = True


def _count_uses(root: Block, nodes: list[Node]) -> tuple[dict[Node, int], set[Node]]:
    """The number of uses of each node, and the nodes that are assigned to variables."""
    count: dict[Node, int] = {}
    assigned: set[Node] = set()
    for _, _, statement in walk_nodes(root):
        for node in statement.operands:
            count[node] = count.get(node, 0) + 1
            if isinstance(statement, Set | Declare):
                assigned.add(node)
    for node in reversed(nodes):
        if node in count:
            for operand in node.operands:
                count[operand] = count.get(operand, 0) + 1
    return count, assigned


def _stays_inline(operand: Node, node: Node, count: dict[Node, int]) -> bool:
    if operand.is_named:
        return False
    return operand.is_repeated or (count[operand] == 1 and operand.scope is node.scope)


def _lighten(node: Node, count: dict[Node, int]) -> None:
    """Names parts of a long expression that have a name of the user's, the heaviest first."""
    parts = sorted(_named_parts(node, count), key=lambda part: -part.weight)
    for part in parts:
        if node.weight <= HEAVY:
            return
        part.is_named = True
        node.weight -= part.weight


def _named_parts(node: Node, count: dict[Node, int]) -> list[Node]:
    parts: list[Node] = []
    for operand in node.operands:
        if not _stays_inline(operand, node, count) or operand.guarded:
            continue
        if operand.hint and operand.weight > 1:
            parts.append(operand)
        else:
            parts += _named_parts(operand, count)
    return parts


@record
class _Placing:
    """Places nodes, users first; `read` caches what nodes read, including their operands."""

    uses: dict[Node, list[Place]] = field(default_factory=dict[Node, list[Place]])
    read: dict[Node, frozenset[object]] = field(default_factory=dict[Node, frozenset[object]])

    def node(self, node: Node) -> None:
        places = self.uses.get(node, [])
        node.is_live = bool(places)
        if not places:
            node.is_named = False
            return
        if self.must_be_named(node, places):
            node.is_named = True
            index = self.index_of(node, places)
            node.scope.declared.setdefault(index, []).append(node)
            places = [(node.scope, index, False)]
        for operand in node.operands:
            self.uses.setdefault(operand, []).extend(places)

    def must_be_named(self, node: Node, places: list[Place]) -> bool:
        if node.guarded:
            return False
        if node.reads and any(_is_stale(node, where) for where in places):
            return True
        if node.plain or node.is_repeated:
            return False
        where, _, is_again = places[0]
        if node.is_named or len(places) > 1 or where is not node.scope:
            return True
        return is_again and (isinstance(node, LoadNode) or node.weight > LIGHT)

    def index_of(self, node: Node, places: list[Place]) -> int:
        """The statement before which a node is declared, so that all its uses are valid."""
        index = min(_index_in(node.scope, where) for where in places)
        for earlier in range(node.made, index):
            if node.scope.statements[earlier].changes_for_next() & node.reads:
                return earlier
        return self.before_declarations(node, index)

    def before_declarations(self, node: Node, index: int) -> int:
        """The index before declarations that only the next statements use."""
        first = node.made if node.reads else 0
        while index > first:
            before = node.scope.statements[index - 1]
            if not isinstance(before, Declare) or not before.is_ahead:
                break
            if before.variable in self.all_reads(node):
                break
            index -= 1
        return index

    def all_reads(self, node: Node) -> frozenset[object]:
        if node not in self.read:
            self.read[node] = node.reads.union(*map(self.all_reads, node.operands))
        return self.read[node]


def _index_in(scope: Block, where: Place) -> int:
    block, index, _ = where
    while block is not scope:
        assert block.place is not None
        block, index = block.place
    return index


def _is_stale(node: Node, where: Place) -> bool:
    """Whether something that a node reads may change between its evaluation and a use."""
    if not node.reads:
        return False
    block, index, is_again = where
    if is_again and block.statements[index].all_changes() & node.reads:
        return True
    while block is not node.scope:
        if _changes(block.statements[:index]) & node.reads:
            return True
        assert block.place is not None
        around, index = block.place
        owner = around.statements[index]
        if block.is_loop and owner.all_changes() & node.reads:
            return True
        block = around
    return bool(_changes(block.statements[node.made : index]) & node.reads)


def _changes(statements: list[Statement]) -> frozenset[object]:
    changes: frozenset[object] = frozenset()
    for statement in statements:
        changes |= statement.changes_for_next()
    return changes

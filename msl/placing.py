"""Decides which expressions get a name, and before which statement it is declared.

An expression is printed in place if it is used once, in the block that it belongs to, and nothing
that it reads changes before. Otherwise it is declared before its first use, or before the first
change of what it reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eas.msl.tree import Block, Branch, LoadNode, Loop, Node, Statement, walk_nodes

HEAVY = 14
HEAVY_WITH_NAME = 8
LIGHT = 2

Place = tuple[Block, int, bool]
"""Before a statement of a block; whether a loop there evaluates it again in each trip."""


def place(root: Block, nodes: list[Node]) -> None:
    """Names and places all nodes, in the order in which they were made."""
    _number_blocks(root)
    _sink(root, nodes)
    _count_weights(root, nodes)
    placing = _Placing(_uses_in(root))
    for node in reversed(nodes):
        placing.node(node)
    for block in {id(n.home): n.home for n in nodes}.values():
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


# --- what is only needed under a condition ----------------------------------------------------


def _sink(root: Block, nodes: list[Node]) -> None:
    """Moves what only one branch needs into it, and drops masks that hold there anyway."""
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
            uses.setdefault(operand, []).append(node.home)


def _move_down(node: Node, blocks: list[Block]) -> None:
    """Makes the innermost branch that holds all uses the node's home."""
    while True:
        inner = {_child_of(node.home, block) for block in blocks}
        target = inner.pop()
        if inner or target is None or target.is_loop or _is_stale(node, (target, 0, False)):
            return
        node.home, node.made = target, 0


def _child_of(home: Block, block: Block) -> Block | None:
    """The block right inside of `home` that holds a block, None if that is `home` itself."""
    child = None
    while block is not home:
        child = block
        assert block.place is not None
        block = block.place[0]
    return child


def _drop_mask(node: LoadNode) -> None:
    """Reads without a mask what is only read where the mask holds."""
    block = node.home
    while block.place is not None:
        around, index = block.place
        branch = around.statements[index]
        if isinstance(branch, Branch) and block is branch.then:
            if node.operands[1] in _facts(branch.operands[0]):
                del node.operands[1:]
                return
        block = around


def _facts(condition: Node) -> list[Node]:
    """The conditions that hold where a condition holds."""
    return [condition, *(fact for each in condition.conjuncts for fact in _facts(each))]


# --- names ------------------------------------------------------------------------------------


def _count_weights(root: Block, nodes: list[Node]) -> None:
    """Names what would make a line too long, a value with a name of the user's first."""
    count: dict[Node, int] = {}
    for _, _, statement in walk_nodes(root):
        for node in statement.operands:
            count[node] = count.get(node, 0) + 1
    live = set(count)
    for node in reversed(nodes):
        if node in live:
            for operand in node.operands:
                count[operand] = count.get(operand, 0) + 1
                live.add(operand)
    for node in nodes:
        if node not in live:
            continue
        inline = [o for o in node.operands if count[o] == 1 and not o.is_named]
        node.weight = (0 if node.plain else 1) + sum(o.weight for o in inline)
        limit = HEAVY_WITH_NAME if node.hint else HEAVY
        if node.weight > limit and not node.guarded and not node.plain:
            node.is_named = True


@dataclass
class _Placing:
    uses: dict[Node, list[Place]] = field(default_factory=dict[Node, list[Place]])

    def node(self, node: Node) -> None:
        places = self.uses.get(node, [])
        if not places:
            node.is_named = False
            return
        if self.must_be_named(node, places):
            node.is_named = True
            index = self.index_of(node, places)
            node.home.declared.setdefault(index, []).append(node)
            places = [(node.home, index, False)]
        for operand in node.operands:
            self.uses.setdefault(operand, []).extend(places)

    def must_be_named(self, node: Node, places: list[Place]) -> bool:
        if node.guarded:
            return False
        if any(_is_stale(node, where) for where in places):
            return True
        if node.plain:
            return False
        where, _, is_repeated = places[0]
        if node.is_named or len(places) > 1 or where is not node.home:
            return True
        return is_repeated and (isinstance(node, LoadNode) or node.weight > LIGHT)

    def index_of(self, node: Node, places: list[Place]) -> int:
        """The statement of the home before which all uses find what they need unchanged."""
        index = min(_index_in(node.home, where) for where in places)
        for earlier in range(node.made, index):
            if node.home.statements[earlier].all_changes() & node.reads:
                return earlier
        return index


def _index_in(home: Block, where: Place) -> int:
    block, index, _ = where
    while block is not home:
        assert block.place is not None
        block, index = block.place
    return index


def _is_stale(node: Node, where: Place) -> bool:
    """Whether something that a node reads may have changed between its home and a use."""
    if not node.reads:
        return False
    block, index, is_repeated = where
    if is_repeated and block.statements[index].all_changes() & node.reads:
        return True
    while block is not node.home:
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
        changes |= statement.all_changes()
    return changes

"""Builds a tree of statements and expressions, a block at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from eas.ir.types import DType
from eas.msl.cxx.tree import (
    Act,
    Block,
    Branch,
    Declare,
    ElementLoop,
    Node,
    Set,
    Spell,
    Statement,
    Variable,
    variable_text,
    walk_nodes,
)
from eas.msl.ops.dtypes import literal
from eas.msl.ops.text import Level, Text, call, infix
from eas.support.location import Loc
from eas.support.records import field, record


@record
class TreeBuilder:
    """The tree. Statements are appended to `block`; `loop` is the loop over elements around it."""

    root: Block = field(default_factory=Block)
    nodes: list[Node] = field(default_factory=list[Node])
    loop: ElementLoop | None = None

    def __post_init__(self) -> None:
        self.block = self.root

    def node(
        self,
        dtype: DType,
        spell: Spell,
        operands: Sequence[Node] = (),
        scope: Block | None = None,
        *,
        kind: type[Node] = Node,
        hint: str = "",
        loc: Loc | None = None,
        reads: frozenset[object] = frozenset(),
        plain: bool = False,
    ) -> Node:
        """An expression; its scope is the innermost of a given block and its operands' scopes."""
        deepest = scope or self.root
        for operand in operands:
            if operand.scope.depth > deepest.depth:
                deepest = operand.scope
        made, order = len(deepest.statements), len(self.nodes)
        node = kind(dtype, spell, list(operands), deepest, made, order, hint, loc, reads, plain)
        self.nodes.append(node)
        return node

    def release(self) -> None:
        """Takes the tree apart: it is needed no more.

        Blocks and expressions refer to each other. Only the garbage collector would find them, and
        go through all that they hold.
        """
        scopes = {node.scope for node in self.nodes}
        for block in scopes.union([block for block, _, _ in walk_nodes(self.root)]):
            block.statements.clear()
            block.declared.clear()
            block.nodes.clear()
        self.nodes.clear()

    def leaf(self, text: Text | str, dtype: DType) -> Node:
        """A literal, or the name of a constant."""
        shown = text if isinstance(text, Text) else Text(text)
        return self.node(dtype, lambda _: shown, plain=True)

    def literal(self, value: bool | int | float, dtype: DType) -> Node:
        key = ("literal", value, str(value), dtype.name)
        if key not in self.root.nodes:
            self.root.nodes[key] = self.leaf(literal(value, dtype), dtype)
        return self.root.nodes[key]

    def find(self, key: object) -> Node | None:
        block: Block | None = self.block
        while block is not None:
            if key in block.nodes:
                return block.nodes[key]
            block = block.parent
        return None

    def call(self, name: str, dtype: DType, *operands: Node) -> Node:
        return self.node(dtype, lambda texts: call(name, *texts), operands)

    def infix(self, operator: str, a: Node, b: Node, level: Level, dtype: DType) -> Node:
        return self.node(dtype, lambda t: infix(operator, t[0], t[1], level), (a, b))

    def read(self, variable: Variable) -> Node:
        loop = self.loop
        if variable.slots and loop is not None:
            loop.uses_slots = True
        node = self.node(
            variable.dtype,
            lambda _: variable_text(variable, loop),
            scope=self.block,
            reads=frozenset({variable}),
            plain=True,
        )
        node.variable = variable
        return node

    def emit(self, statement: Statement) -> None:
        self.block.statements.append(statement)

    def act(
        self,
        spell: Spell | str,
        operands: Sequence[Node] = (),
        changes: frozenset[object] = frozenset(),
        loc: Loc | None = None,
    ) -> None:
        """A line of text; `spell` gives it without the semicolon."""

        def line(texts: Sequence[Text]) -> str:
            return f"{spell if isinstance(spell, str) else spell(texts).text};"

        is_jump = spell in ("break", "continue")
        self.emit(Act(list(operands), changes, loc, spell=line, is_jump=is_jump))

    def declare(
        self,
        variable: Variable,
        first: Node | None = None,
        loc: Loc | None = None,
        is_ahead: bool = False,
    ) -> None:
        """Declares a variable; `is_ahead` if only the next statements use it."""
        operands = [] if first is None else [first]
        statement = Declare(operands, frozenset({variable}), loc, variable=variable)
        is_before_loop = self.loop is not None and self.block is self.loop.body.parent
        statement.is_ahead = is_ahead or is_before_loop
        self.emit(statement)

    def assign(self, pairs: Sequence[tuple[Variable, Node]], loc: Loc | None = None) -> None:
        """Assigns variables in parallel; one that keeps its value is not assigned."""
        changed = [(v, node) for v, node in pairs if node.variable is not v]
        if not changed:
            return
        for variable, _ in changed:
            if variable.slots and self.loop is not None:
                self.loop.uses_slots = True
        variables = [variable for variable, _ in changed]
        operands = [node for _, node in changed]
        self.emit(Set(operands, frozenset(variables), loc, variables=variables))

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Appends statements to a block."""
        around, self.block = self.block, block
        yield
        self.block = around

    @contextmanager
    def branch(self, condition: Node, loc: Loc | None = None) -> Generator[None]:
        """Statements under a condition."""
        then, orelse = Block(self.block), Block(self.block)
        branch = Branch([condition], loc=loc, then=then, orelse=orelse)
        self.emit(branch)
        with self.inside(then):
            yield

    @contextmanager
    def guard(self, condition: Node | None, loc: Loc | None) -> Generator[None]:
        """Statements under the mask of an effect; consecutive ones with one mask share an `if`."""
        if condition is None:
            yield
            return
        branch = self._guard_before(condition)
        if branch is None:
            branch = Branch(
                [condition], frozenset(), loc, then=Block(self.block), orelse=Block(self.block)
            )
            branch.is_guard = True
            self.emit(branch)
        else:
            self._make_before(branch)
        branch.made = len(self.nodes)
        with self.inside(branch.then):
            yield

    def _guard_before(self, condition: Node) -> Branch | None:
        """The last statement, if it has that mask and nothing since reads what it changes."""
        last = self.block.statements[-1] if self.block.statements else None
        if not isinstance(last, Branch) or not last.is_guard or last.operands != [condition]:
            return None
        changes = last.all_changes()
        has_read = any(changes & node.reads for node in self.nodes[last.made :])
        return None if has_read else last

    def _make_before(self, branch: Branch) -> None:
        """Moves expressions made after a guard before it: it may change what they read."""
        index = len(self.block.statements) - 1
        for node in self.nodes[branch.made :]:
            if node.scope is self.block:
                node.made = min(node.made, index)

    @contextmanager
    def ahead(self) -> Generator[None]:
        """Statements before the current loop over elements."""
        assert self.loop is not None and self.loop.body.parent is not None
        with self.inside(self.loop.body.parent):
            yield

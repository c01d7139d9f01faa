"""The kernel's body before it is text: C++ blocks, statements, and expressions without names.

An expression is a `Node`. `eas.msl.cxx.temporaries` decides later, when all uses are known, whether
it gets a name (`const float x = ...;`) or is printed inline. Until then nodes may be shared freely:
a node is the value of its expression when it was made, even if a variable that it reads changes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from eas.ir.types import DType
from eas.msl.ops.text import Level, Text
from eas.support.location import Loc
from eas.support.records import field, record

Spell = Callable[[Sequence[Text]], Text]


@record(eq=False, slots=True)
class Variable:
    """A variable that statements assign; with `slots`, an array with an element per slot.

    `kind` is its type where that is not the dtype's own.
    """

    hint: str
    dtype: DType
    slots: int = 0
    name: str = ""
    kind: str = ""


@record(eq=False, slots=True)
class Shared:
    """An array in threadgroup memory; `is_atomic` if only atomics access it.

    It has `buffers` times its size: two if it is double buffered. An array with a `backing` lies in
    the memory of that one, whose `overlays` are the arrays that lie in it at different times. `loc`
    is the source position that it serves.
    """

    hint: str
    dtype: DType
    size: int
    is_atomic: bool = False
    backing: Shared | None = None
    buffers: int = 1
    loc: Loc | None = None
    overlays: dict[Hashable, Shared] = field(default_factory=dict[Hashable, "Shared"])
    name: str = ""

    @property
    def bytes(self) -> int:
        return self.buffers * self.size * max(self.dtype.bits // 8, 1)


@record(eq=False, slots=True)
class Node:
    """An expression. It can be declared in `scope`, before the statement number `made` or later.

    `reads` are the variables and arrays that it reads itself. A `plain` node gets no name unless
    what it reads changes; a `guarded` node stays inside its conditional expression. `variable` is
    set if it only reads one, `conjuncts` if it is an `&&` of others. `hint` is its preferred name,
    one of the user's if `is_users`; `fallback` is a name of the compiler's. A node that `is_light`
    may be rematerialized rather than get such a name. A node that `is_sum` adds its operands.
    """

    dtype: DType
    spell: Spell
    operands: list[Node]
    scope: Block
    made: int
    order: int
    hint: str = ""
    loc: Loc | None = None
    reads: frozenset[object] = frozenset()
    plain: bool = False
    guarded: bool = False
    variable: Variable | None = None
    conjuncts: tuple[Node, ...] = ()
    fallback: str = ""
    is_users: bool = False
    is_light: bool = False
    is_sum: bool = False
    weight: int = 0
    is_repeated: bool = False
    is_live: bool = False
    name: str = ""
    is_named: bool = False


@record(eq=False, slots=True)
class LoadNode(Node):
    """An element of an array: `[offset]`, or `[offset, mask, other]` while it is masked."""


@record(eq=False, slots=True)
class Block:
    """A scope of C++."""

    parent: Block | None = None
    is_loop: bool = False
    statements: list[Statement] = field(default_factory=list["Statement"])
    nodes: dict[object, Node] = field(default_factory=dict[object, Node])
    declared: dict[int, list[Node]] = field(default_factory=dict[int, list[Node]])
    place: tuple[Block, int] | None = None
    depth: int = 0

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1


@record(eq=False, slots=True)
class Statement:
    """`operands` are evaluated right before it, `changes` is what it changes itself."""

    operands: list[Node]
    changes: frozenset[object] = frozenset()
    loc: Loc | None = None

    @property
    def blocks(self) -> Sequence[Block]:
        return ()

    def all_changes(self) -> frozenset[object]:
        """What it and the statements inside of it may change."""
        changes = self.changes
        for block in self.blocks:
            for inner in block.statements:
                changes |= inner.all_changes()
        return changes

    def changes_for_next(self) -> frozenset[object]:
        """What is changed where control reaches the next statement."""
        return self.all_changes()


@record(eq=False, slots=True)
class Act(Statement):
    """A single line; `spell` makes it from the operands. A jump leaves the block."""

    spell: Callable[[Sequence[Text]], str] = field(kw_only=True)
    is_jump: bool = False


@record(eq=False, slots=True)
class Declare(Statement):
    """Declares a variable, with the operand as its initial value if there is one.

    If it `is_ahead`, only the next statements use the variable.
    """

    variable: Variable = field(kw_only=True)
    is_ahead: bool = False


@record(eq=False, slots=True)
class Set(Statement):
    """Assigns variables in parallel: all operands are evaluated first."""

    variables: list[Variable] = field(kw_only=True)


@record(eq=False, slots=True)
class Branch(Statement):
    """`if (operand) then else orelse`; if it `is_guard`, the operand is the mask of an effect.

    `made` is the number of nodes when the last effect was added to a guard.
    """

    then: Block = field(kw_only=True)
    orelse: Block = field(kw_only=True)
    is_guard: bool = False
    made: int = 0

    @property
    def blocks(self) -> Sequence[Block]:
        return (self.then, self.orelse)

    def changes_for_next(self) -> frozenset[object]:
        changes = self.changes
        for block in self.blocks:
            last = block.statements[-1] if block.statements else None
            if not isinstance(last, Act) or not last.is_jump:
                changes = changes.union(*(each.changes_for_next() for each in block.statements))
        return changes


@record(eq=False, slots=True)
class Loop(Statement):
    """A loop whose head `spell` makes from the operands; `counter` is its variable, if any."""

    spell: Callable[[Sequence[Text]], str] = field(kw_only=True)
    body: Block = field(kw_only=True)
    counters: list[Variable] = field(default_factory=list[Variable])

    @property
    def blocks(self) -> Sequence[Block]:
        return (self.body,)


@record(eq=False, slots=True)
class Test(Statement):
    """Leaves the loop around it, through `leaving`, unless the operand holds."""

    leaving: Block = field(kw_only=True)

    @property
    def blocks(self) -> Sequence[Block]:
        return (self.leaving,)


@record(eq=False, slots=True)
class ElementLoop(Statement):
    """A thread's loop over its elements of a domain; `uses_slots` if it indexes variables."""

    extent: int = field(kw_only=True)
    threads: int = field(kw_only=True)
    body: Block = field(kw_only=True)
    element: Variable = field(kw_only=True)
    slot: Variable = field(kw_only=True)
    uses_slots: bool = False

    @property
    def blocks(self) -> Sequence[Block]:
        return (self.body,)

    @property
    def slots(self) -> int:
        return -(-self.extent // self.threads)


def walk_nodes(block: Block) -> Iterator[tuple[Block, int, Statement]]:
    """Every statement with its place, in the order of the text."""
    for index, statement in enumerate(block.statements):
        yield block, index, statement
        for inner in statement.blocks:
            yield from walk_nodes(inner)


def variable_text(variable: Variable, loop: ElementLoop | None) -> Text:
    """The text of a variable inside a loop over elements."""
    if not variable.slots:
        return Text(variable.name)
    assert loop is not None
    slot = loop.element.name if loop.threads == 1 else loop.slot.name
    return Text(f"{variable.name}[{slot}]", Level.PRIMARY)

"""Prints a tree of statements as text: names, the order of assignments, Python lines."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from eas.msl.cxx.names import identifier, unique
from eas.msl.cxx.python_lines import comment_of
from eas.msl.cxx.spelling import negated
from eas.msl.cxx.tree import (
    Act,
    Block,
    Branch,
    Declare,
    ElementLoop,
    Loop,
    Node,
    Set,
    Statement,
    Test,
    Variable,
    variable_text,
    walk_nodes,
)
from eas.msl.ops.dtypes import type_name
from eas.msl.ops.text import Level, Text, Writer, infix
from eas.support.location import Loc
from eas.support.records import field, record

ONE_LINE = 60
_COMPOUND = {
    "+": Level.SUM, "-": Level.SUM, "*": Level.PRODUCT, "/": Level.PRODUCT, "%": Level.PRODUCT,
    "&": Level.BIT_AND, "|": Level.BIT_OR, "^": Level.BIT_XOR, "<<": Level.SHIFT,
    ">>": Level.SHIFT,
}  # fmt: skip
Pair = tuple[Variable, Node]
_DEFAULT_HINTS = {"bool": "test", "f32": "x", "f16": "x", "bf16": "x"}


@record
class Printer:
    """Prints blocks into `writer`. `taken` has the names of each scope around, the innermost last.

    `users` are the user's names for values: no other value gets one of them.
    """

    writer: Writer
    taken: list[set[str]]
    users: frozenset[str] = frozenset()
    thread: str = "t"
    changing: set[Variable] = field(default_factory=set[Variable])
    live: set[Variable] = field(default_factory=set[Variable])
    loop: ElementLoop | None = None
    place: tuple[str, int] | None = None

    def print(self, root: Block, nodes: Sequence[Node]) -> None:
        for _, _, statement in walk_nodes(root):
            if isinstance(statement, Set):
                self.changing.update(statement.variables)
        self.live = {node.variable for node in nodes if node.is_live and node.variable is not None}
        self.block(root)

    def name(self, hint: str, default: str) -> str:
        wanted, own = identifier(hint), identifier(default) or "value"
        name = unique(wanted, *self.taken) if wanted else unique(own, *self.taken, self.users)
        self.taken[-1].add(name)
        return name

    def name_variable(self, variable: Variable) -> None:
        variable.name = self.name(variable.hint, _DEFAULT_HINTS.get(variable.dtype.name, "n"))

    def comment(self, loc: Loc | None) -> str:
        """The Python line, if it differs from the last one."""
        if loc is None or not loc.line:
            return ""
        place = (loc.source.name, loc.line)
        if place == self.place:
            return ""
        self.place = place
        return comment_of(loc)

    def line(self, text: str, loc: Loc | None = None) -> None:
        self.writer.line(text, self.comment(loc))

    @contextmanager
    def scope(self, head: str, loc: Loc | None = None, tail: str = "}") -> Generator[None]:
        self.taken.append(set())
        with self.writer.block(head, self.comment(loc), tail):
            yield
        self.taken.pop()

    def text(self, node: Node) -> Text:
        if node.is_named:
            return Text(node.name)
        return node.spell([self.text(operand) for operand in node.operands])

    def texts(self, nodes: Sequence[Node]) -> list[Text]:
        return [self.text(node) for node in nodes]

    def declare_nodes(self, block: Block, index: int) -> None:
        for node in block.declared.get(index, ()):
            value = self.value_of(node)
            default = node.fallback or _DEFAULT_HINTS.get(node.dtype.name, "n")
            node.name = self.name(node.hint, default)
            self.line(f"const {type_name(node.dtype)} {node.name} = {value.text};", node.loc)

    def value_of(self, node: Node) -> Text:
        return node.spell([self.text(operand) for operand in node.operands])

    def block(self, block: Block, first: int = 0) -> None:
        for index, statement in enumerate(block.statements[first:], first):
            self.declare_nodes(block, index)
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Act():
                self.line(statement.spell(self.texts(statement.operands)), statement.loc)
            case Declare():
                self.declare(statement)
            case Set():
                self.set(statement)
            case Branch():
                self.branch(statement)
            case Loop():
                self.repeat(statement)
            case Test():
                self.test(statement)
            case ElementLoop():
                self.elements(statement)
            case _:
                raise TypeError(f"{statement} cannot be printed")

    def declare(self, statement: Declare) -> None:
        variable = statement.variable
        texts = self.texts(statement.operands)
        self.name_variable(variable)
        kind = variable.kind or type_name(variable.dtype)
        size = f"[{variable.slots}]" if variable.slots else ""
        if not texts:
            self.line(f"{kind} {variable.name}{size};", statement.loc)
            return
        const = "" if variable in self.changing else "const "
        self.line(f"{const}{kind} {variable.name} = {texts[0].text};", statement.loc)

    def set(self, statement: Set) -> None:
        """Orders parallel assignments: none overwrites what another reads, or that is saved."""
        rest = list(zip(statement.variables, statement.operands, strict=True))
        while rest:
            if self.is_in_cycle(rest):
                self.save_until_ready(rest, statement.loc)
            ready = next(pair for pair in rest if not self.is_read(pair, rest))
            rest.remove(ready)
            self.set_one(*ready, statement.loc)

    def save_until_ready(self, rest: list[Pair], loc: Loc | None) -> None:
        """Saves new values, from the first on, until an assignment can be made."""
        for place, (variable, node) in enumerate(rest):
            rest[place] = (variable, self.save(node, variable, loc))
            if not all(self.is_read(pair, rest) for pair in rest):
                return

    def is_in_cycle(self, rest: list[Pair]) -> bool:
        """Whether the first assignment is in a cycle, which a saved value must break."""
        left = list(rest)
        while left and left[0] is rest[0]:
            ready = next((pair for pair in left if not self.is_read(pair, left)), None)
            if ready is None:
                return True
            left.remove(ready)
        return False

    def is_read(self, pair: Pair, rest: list[Pair]) -> bool:
        """Whether another assignment still needs the old value of a variable."""
        return any(pair[0] in self.reads(other) for v, other in rest if v is not pair[0])

    def reads(self, node: Node) -> frozenset[object]:
        if node.is_named:
            return frozenset()
        reads = node.reads
        for operand in node.operands:
            reads |= self.reads(operand)
        return reads

    def save(self, node: Node, variable: Variable, loc: Loc | None) -> Node:
        """Saves a new value in a constant before anything is assigned."""
        value = self.value_of(node) if not node.is_named else Text(node.name)
        saved = Node(node.dtype, node.spell, [], node.scope, node.made, node.order)
        saved.name, saved.is_named = self.name(f"next_{variable.hint}", "next"), True
        self.line(f"const {type_name(saved.dtype)} {saved.name} = {value.text};", node.loc or loc)
        return saved

    def set_one(self, variable: Variable, node: Node, loc: Loc | None) -> None:
        target = variable_text(variable, self.loop)
        if node.is_named:
            self.line(f"{target.text} = {node.name};", loc)
            return
        texts = self.texts(node.operands)
        whole = node.spell(texts)
        line = self.compound(target, texts, whole) or f"{target.text} = {whole.text};"
        self.line(line, node.loc or loc)

    def compound(self, target: Text, texts: list[Text], whole: Text) -> str:
        """`x += y` for `x = x + y`."""
        if len(texts) != 2:
            return ""
        left, right = texts
        if left.text != target.text or left.level is not Level.PRIMARY:
            return ""
        for operator, level in _COMPOUND.items():
            if whole in (infix(operator, left, right, level, a) for a in (False, True)):
                return f"{target.text} {operator}= {right.text};"
        return ""

    def branch(self, statement: Branch) -> None:
        condition = self.text(statement.operands[0])
        then, orelse = statement.then, statement.orelse
        if condition.text == "false":
            condition, then, orelse = Text("true"), orelse, Block()
        if condition.text == "true" and then.statements:
            self.block(then)
            return
        if not then.statements:
            if not orelse.statements:
                return
            condition, then, orelse = negated(condition), orelse, then
        if statement.is_guard:
            self.guarded(condition, then, statement.loc)
            return
        if not orelse.statements and self.one_line(f"if ({condition.text})", then, statement.loc):
            return
        self.branches(f"if ({condition.text})", then, orelse, statement.loc)

    def branches(self, head: str, then: Block, orelse: Block, loc: Loc | None) -> None:
        with self.scope(head, loc, tail="" if orelse.statements else "}"):
            self.block(then)
        if not orelse.statements:
            return
        self.writer.lines.pop()
        last = orelse.statements[0]
        is_chain = len(orelse.statements) == 1 and not orelse.declared.get(0)
        if isinstance(last, Branch) and is_chain and last.then.statements:
            condition = self.text(last.operands[0]).text
            self.branches(f"}} else if ({condition})", last.then, last.orelse, last.loc)
            return
        with self.scope("} else", None):
            self.block(orelse)

    def one_line(self, head: str, block: Block, loc: Loc | None) -> bool:
        """Prints a short statement on the line of its condition."""
        only = block.statements[0]
        if len(block.statements) > 1 or not isinstance(only, Act) or block.declared.get(0):
            return False
        line = f"{head} {{ {only.spell(self.texts(only.operands))} }}"
        if len(line) > ONE_LINE:
            return False
        self.line(line, loc)
        return True

    def repeat(self, statement: Loop) -> None:
        texts = self.texts(statement.operands)
        self.taken.append(set())
        for counter in statement.counters:
            self.name_variable(counter)
        head = statement.spell(texts)
        body, first = statement.body, 0
        test = body.statements[0] if body.statements else None
        if isinstance(test, Test) and not test.leaving.statements and not body.declared.get(0):
            head, first = f"while ({self.text(test.operands[0]).text})", 1
        with self.scope(head, statement.loc):
            self.block(body, first)
        self.taken.pop()

    def test(self, statement: Test) -> None:
        condition = negated(self.text(statement.operands[0])).text
        if condition == "false":
            return
        if not statement.leaving.statements:
            self.line(f"if ({condition}) {{ break; }}", statement.loc)
            return
        with self.scope(f"if ({condition})", statement.loc):
            self.block(statement.leaving)
            self.line("break;")

    def elements(self, statement: ElementLoop) -> None:
        around, self.loop = self.loop, statement
        self.taken.append(set())
        extent, threads, slots = statement.extent, statement.threads, statement.slots
        if slots == 1:
            operator = "== 0" if extent == 1 else f"< {extent}"
            self.guarded(Text(f"{self.thread} {operator}", Level.RELATIONAL), statement.body)
        elif statement.uses_slots and threads > 1:
            self.slots(statement)
        else:
            self.name_variable(statement.element)
            e = statement.element.name
            start, advance = ("0", f"++{e}") if threads == 1 else (self.thread, f"{e} += {threads}")
            with self.scope(f"for (int {e} = {start}; {e} < {extent}; {advance})"):
                self.block(statement.body)
        self.taken.pop()
        self.loop = around

    def guarded(self, test: Text, body: Block, loc: Loc | None = None) -> None:
        """A block under a condition; an inner `if` that is all of the block is merged into it."""
        only = body.statements[0]
        is_single = len(body.statements) == 1 and not body.declared.get(0)
        if isinstance(only, Branch) and is_single and not only.orelse.statements:
            if not only.then.statements:
                return
            inner = self.text(only.operands[0])
            test = infix("&&", test, inner, Level.LOGICAL_AND, associative=True)
            body = only.then
        if not self.one_line(f"if ({test.text})", body, loc or only.loc):
            with self.scope(f"if ({test.text})", loc):
                self.block(body)

    def slots(self, statement: ElementLoop) -> None:
        """A loop that indexes variables has a constant trip count, so that it is unrolled."""
        self.name_variable(statement.slot)
        slot, extent, threads = statement.slot.name, statement.extent, statement.threads
        is_even = extent % threads == 0
        with self.scope(f"for (int {slot} = 0; {slot} < {statement.slots}; ++{slot})"):
            if statement.element in self.live or not is_even:
                self.name_variable(statement.element)
                self.line(
                    f"const int {statement.element.name} = {self.thread} + {threads} * {slot};"
                )
            if is_even:
                self.block(statement.body)
                return
            with self.scope(f"if ({statement.element.name} < {extent})"):
                self.block(statement.body)

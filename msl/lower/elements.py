"""Loops over elements, and the index expressions of their lanes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from eas.ir.aliasing.lane_domains import Domain, element
from eas.ir.aliasing.lane_indices import Index, Part, Symbol
from eas.ir.nodes import Compute, Function
from eas.ir.types import BOOL, I32, DType
from eas.msl.analysis.facts import Facts
from eas.msl.cxx.names import unique
from eas.msl.cxx.tree import Block, ElementLoop, Loop, Node, Variable
from eas.msl.cxx.tree_builder import TreeBuilder
from eas.msl.layout.layout import Layout
from eas.msl.ops.text import Level, Text, infix
from eas.support.location import Loc
from eas.support.records import field, frozen, record

NO_LANES = Domain(())


@record(kw_only=True)
class ElementBuilder(TreeBuilder):
    """A tree whose statements are for the lanes of a `domain`.

    `names` are the names of Metal's built-in variables; `builtins` are those that are used.
    """

    facts: Facts
    layout: Layout
    builtins: set[str] = field(default_factory=set[str])
    domain: Domain = NO_LANES

    def __post_init__(self) -> None:
        super().__post_init__()
        self.names = builtin_names(self.facts)

    @property
    def function(self) -> Function:
        return self.facts.function

    @property
    def threads(self) -> int:
        return self.layout.threads

    def builtin(self, name: str, text: str, dtype: DType = I32) -> Node:
        """An expression of built-in variables, whose text has their `{names}`."""
        self.builtins.add(name)
        text = text.format_map(self.names)
        key = ("builtin", text)
        if key not in self.root.nodes:
            self.root.nodes[key] = self.leaf(text, dtype)
        return self.root.nodes[key]

    def thread(self) -> Node:
        return self.literal(0, I32) if self.threads == 1 else self.builtin("t", "{t}")

    def index(self, index: Index) -> Node:
        """The expression of an index."""
        if not index.terms:
            return self.literal(index.offset, I32)
        (factor, part), *others = index.terms
        if factor == 1 and not others and index.offset == 0:
            return self.part(part)
        node = self.find(("index", index))
        if node is None:
            parts = [self.part(part) for _, part in index.terms]
            factors = [factor for factor, _ in index.terms]
            offset = index.offset
            node = self.node(I32, lambda texts: _sum(texts, factors, offset), parts)
            node.is_light = True
            node.scope.nodes["index", index] = node
        return node

    def part(self, part: Part) -> Node:
        base = self.symbol(part.base) if isinstance(part.base, Symbol) else self.index(part.base)
        if part.divisor == 1 and not part.modulus:
            return base
        node = self.find(("part", part))
        if node is None:
            node = self.node(I32, lambda texts: _digit(texts[0], part), [base])
            node.hint = self._axis_name(part)
            node.is_light = True
            node.scope.nodes["part", part] = node
        return node

    def _axis_name(self, part: Part) -> str:
        """The usual letter of a coordinate."""
        for letter, index in zip("ijkl", self.domain.indices, strict=False):
            if index.terms == ((1, part),):
                return letter
        return ""

    def symbol(self, symbol: Symbol) -> Node:
        node = self.find(("symbol", symbol))
        if node is None:
            assert symbol == element(self.threads), f"{symbol} has no loop"
            node = self.thread()
        return node

    @contextmanager
    def counting(self, symbol: Symbol, start: int = 0, loc: Loc | None = None) -> Generator[Node]:
        """Statements for each value of a symbol, in a loop if there are several."""
        if symbol.extent - start == 1:
            last = self.literal(start, I32)
            self.block.nodes["symbol", symbol] = last
            yield last
            return
        body = Block(self.block, is_loop=True)
        counter = Variable("k", I32)
        with self.inside(body):
            node = self.read(counter)
            body.nodes["symbol", symbol] = node
            yield node

        def head(_: object) -> str:
            name = counter.name
            return f"for (int {name} = {start}; {name} < {symbol.extent}; ++{name})"

        self.emit(Loop([], loc=loc, spell=head, body=body, counters=[counter]))

    @contextmanager
    def elements(self, domain: Domain) -> Generator[None]:
        """Statements for each element of a domain, in the thread that owns it."""
        around = self.domain, self.loop
        self.domain, self.loop = domain, None
        if self.layout.is_even(domain.extent):
            yield
        else:
            with self._element_loop(domain.extent) as self.loop:
                yield
        self.domain, self.loop = around

    @contextmanager
    def _element_loop(self, extent: int) -> Generator[ElementLoop]:
        body = Block(self.block, is_loop=extent > self.threads)
        own, slot = Variable("e", I32), Variable("slot", I32)
        self.thread()
        loop = ElementLoop(
            [], extent=extent, threads=self.threads, body=body, element=own, slot=slot
        )
        with self.inside(body):
            node = self.read(own) if loop.slots > 1 else self._thread_inside(body)
            body.nodes["symbol", element(extent)] = node
            yield loop
        if body.statements:
            self.emit(loop)

    def _thread_inside(self, body: Block) -> Node:
        """The thread's index where not all threads are active: its loads stay there."""
        thread = Text(self.names["t"])
        return self.node(I32, lambda _: thread, scope=body, plain=True)

    @contextmanager
    def rounds(self, domain: Domain, loc: Loc) -> Generator[Round]:
        """Statements that all threads execute together, once for each slot of a domain."""
        around = self.domain, self.loop
        body = Block(self.block, is_loop=True)
        slot = Variable("slot", I32)
        own = slot if self.threads == 1 else Variable("e", I32)
        loop = ElementLoop(
            [], extent=domain.extent, threads=self.threads, body=body, element=own, slot=slot
        )

        def head(_: object) -> str:
            return f"for (int {slot.name} = 0; {slot.name} < {loop.slots}; ++{slot.name})"

        with self.inside(body):
            size = self.literal(self.threads, I32)
            start = self.infix("*", self.read(slot), size, Level.PRODUCT, I32)
            yield Round(self, domain, loop, start)
        self.domain, self.loop = around
        self.emit(Loop([], loc=loc, spell=head, body=body, counters=[slot]))


@frozen
class Round:
    """One slot of all threads: `start` is the index of the first thread's element."""

    low: ElementBuilder
    domain: Domain
    loop: ElementLoop
    start: Node

    @contextmanager
    def elements(self) -> Generator[None]:
        """Statements for the element that each thread has in this round, if it has one."""
        low, loop = self.low, self.loop
        around = low.domain, low.loop
        low.domain, low.loop = self.domain, loop
        place = low.infix("+", self.start, low.thread(), Level.SUM, I32)
        low.block.nodes["symbol", element(loop.extent)] = place
        if loop.extent % loop.threads:
            extent = low.literal(loop.extent, I32)
            with low.branch(low.infix("<", place, extent, Level.RELATIONAL, BOOL)):
                yield
        else:
            yield
        low.domain, low.loop = around


def builtin_names(facts: Facts) -> dict[str, str]:
    """The names of Metal's built-in variables; others where the user uses those."""
    taken = {param.name for param in facts.function.params}
    for value in facts.born:
        op = facts.definition(value)
        if not isinstance(op, Compute) or op.op.name != "thread_index":
            taken.add(value.hint)
    others = {
        "t": "tid",
        "lane": "simd_lane",
        "simdgroup": "simd_group",
        "program": "group",
        "programs": "groups",
        "thread_position": "thread_in_group",
    }
    return {name: unique(other if name in taken else name, taken) for name, other in others.items()}


def _sum(texts: Sequence[Text], factors: Sequence[int], offset: int) -> Text:
    signed = sorted(zip(factors, texts, strict=True), key=lambda each: each[0] < 0)
    terms = [
        (
            factor > 0,
            text if abs(factor) == 1 else infix("*", text, Text(str(abs(factor))), Level.PRODUCT),
        )
        for factor, text in signed
    ]
    if offset:
        terms.insert(len(terms) if terms[0][0] else 0, (offset > 0, Text(str(abs(offset)))))
    (_, total), *others = terms
    for is_positive, term in others:
        total = infix("+" if is_positive else "-", total, term, Level.SUM)
    return total


def _digit(text: Text, part: Part) -> Text:
    if part.divisor != 1:
        text = infix("/", text, Text(str(part.divisor)), Level.PRODUCT)
    if part.modulus:
        text = infix("%", text, Text(str(part.modulus)), Level.PRODUCT)
    return text

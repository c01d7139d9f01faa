"""From a plan to a tree of statements: values become expressions, each where it belongs."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from eas.ir.location import Loc
from eas.ir.nodes import (
    Alloc,
    Atomic,
    Compute,
    Constant,
    Function,
    Load,
    Region,
    Value,
)
from eas.ir.records import field, frozen, record
from eas.ir.reports import Site
from eas.ir.types import BOOL, I32, DType, Pointer, count
from eas.msl.building import TreeBuilder
from eas.msl.errors import UnsupportedError
from eas.msl.facts import Facts, is_threadgroup
from eas.msl.helpers import Helpers
from eas.msl.indices import Index, Indices, Part, Symbol, add, fixed, linear, of, operand_indices
from eas.msl.lanes import Domain, Layout, element, is_home, is_view
from eas.msl.names import unique
from eas.msl.numbers import Numbers
from eas.msl.spelling import Spelling, spell
from eas.msl.steps import Plan, staged_name
from eas.msl.storage import Storage
from eas.msl.text import Level, Text, infix, subscript, ternary
from eas.msl.tree import (
    Block,
    ElementLoop,
    LoadNode,
    Loop,
    Node,
    Shared,
    Variable,
)

MEMORY = "memory"
"""Stands for all arrays in the `reads` of what a barrier may change."""

NO_LANES = Domain(())
AXES = "xyz"
LIGHT_OPS = {"add", "sub", "mul", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "cast"}


REDUCTION_WORDS = {
    "reduce_sum": "total",
    "reduce_prod": "product",
    "reduce_max": "high",
    "reduce_min": "low",
    "reduce_argmax": "best_index",
    "reduce_argmin": "best_index",
    "reduce_any": "found",
    "reduce_all": "holds",
    "reduce_xor": "parity",
}


@record(kw_only=True)
class Lowering(TreeBuilder):
    """What it takes to turn values of the IR into expressions; `domain` are the lanes at work.

    `regions` are the blocks of regions, `kept` the variables of values that outlive their loop over
    elements, `variables` those of carried values and results, by their number in `storage`. `homes`
    names arrays of threadgroup memory in which others lie, `home_dtypes` tells what they are of.
    """

    facts: Facts
    layout: Layout
    plan: Plan
    numbers: Numbers
    storage: Storage
    homes: Mapping[str, str]
    home_dtypes: Mapping[str, DType]
    helpers: Helpers = field(default_factory=Helpers)
    builtins: set[str] = field(default_factory=set[str])
    sites: list[Site] = field(default_factory=list[Site])
    shared: dict[str, Shared] = field(default_factory=dict[str, Shared])
    arrays: dict[Value, Shared | str] = field(default_factory=dict[Value, Shared | str])
    parameters: list[str] = field(default_factory=list[str])
    atomics: set[Value] = field(default_factory=set[Value])
    version: tuple[int, int] = (2, 3)
    domain: Domain = NO_LANES
    variables: dict[int, Variable] = field(default_factory=dict[int, Variable])
    kept: dict[Value, Variable] = field(default_factory=dict[Value, Variable])
    declared: set[Variable] = field(default_factory=set[Variable])
    regions: dict[int, Block] = field(default_factory=dict[int, Block])

    def __post_init__(self) -> None:
        super().__post_init__()
        self.names = builtin_names(self.facts)
        self.regions[id(self.function.body)] = self.root

    @property
    def function(self) -> Function:
        return self.facts.function

    @property
    def threads(self) -> int:
        return self.layout.threads

    # --- nodes --------------------------------------------------------------------------------

    def builtin(self, name: str, text: str, dtype: DType = I32) -> Node:
        """Something that the kernel's parameters tell about the thread, by their `{names}`."""
        self.builtins.add(name)
        text = text.format_map(self.names)
        key = ("builtin", text)
        if key not in self.root.nodes:
            self.root.nodes[key] = self.leaf(text, dtype)
        return self.root.nodes[key]

    def thread(self) -> Node:
        return self.literal(0, I32) if self.threads == 1 else self.builtin("t", "{t}")

    # --- values -------------------------------------------------------------------------------

    def at(self, value: Value) -> Node:
        """A value in the lane that is at work, or a shared one."""
        value = self.facts.resolve(value)
        return self.value(value, self.domain.indices_of(value.shape))

    def value(self, value: Value, indices: Indices = ()) -> Node:
        """The element of a value at some coordinates."""
        value = self.facts.resolve(value)
        key = (value, indices)
        node = self.find(key)
        if node is None:
            node = self._make(value, indices)
            node.home.nodes[key] = node
        return node

    def define(self, value: Value, node: Node) -> None:
        """Binds a value, as the lane at work has it, for the ops after and inside."""
        self._name(node, value)
        self.block.nodes[value, self.domain.indices_of(value.shape)] = node

    def _name(self, node: Node, value: Value) -> Node:
        if value.hint and not node.plain and not node.hint.isidentifier():
            node.hint = value.hint
        return node

    def _make(self, value: Value, indices: Indices) -> Node:
        op = self.facts.definition(value)
        if isinstance(op, Constant):
            return self.literal(op.value, op.result.ty.dtype)
        variable = self._home_variable(value, indices)
        if variable is not None:
            return self.read(variable)
        if value in self.layout.staged or self.layout.is_resident(value):
            return self.read_staged(value, indices)
        assert isinstance(op, Compute | Load), f"%{value.id} is not to be had at {indices}"
        return self._name(self.evaluate(op, indices), value)

    def _home_variable(self, value: Value, indices: Indices) -> Variable | None:
        """The variable in which the lane at work has a block, if it has it in one."""
        if not value.shape or (value not in self.kept and value not in self.storage.numbers):
            return None
        is_repeated = value in self.layout.repeated
        if is_repeated or not is_home(value, indices, self.domain.extent):
            return None
        return self.kept.get(value) or self.variable_of(value)

    def variable_of(self, value: Value) -> Variable | None:
        """The variable of a carried value or of a result of control flow."""
        number = self.storage.numbers.get(value)
        if number is None:
            return None
        if number not in self.variables:
            slots = self.layout.slots(count(value.shape)) if self.is_kept_by_lanes(value) else 1
            hint = next((v.hint for v in self.storage.holders[number] if v.hint), value.hint)
            variable = Variable(hint, value.ty.dtype, slots if slots > 1 else 0)
            self.variables[number] = variable
        return self.variables[number]

    def is_kept_by_lanes(self, value: Value) -> bool:
        """Whether lanes keep a value of control flow from one loop over elements to the next."""
        op = self.facts.definition(value) or self.facts.owners.get(value)
        return bool(value.shape) and id(op) in self.layout.shared_control

    # --- pure ops -----------------------------------------------------------------------------

    def evaluate(self, op: Compute | Load, indices: Indices) -> Node:
        return self.compute(op, indices) if isinstance(op, Compute) else self.load(op, indices)

    def compute(self, op: Compute, indices: Indices) -> Node:
        name = op.op.name
        below = operand_indices(op, indices)
        if is_view(op):
            return self.value(op.operands[0], below)
        position = self._position(op, indices)
        if position is not None:
            return position
        operands = [self.value(v, below) for v in op.operands]
        simple = self._simplified(op, operands)
        if simple is not None:
            return simple
        spelling = Spelling(op, self.numbers, self.helpers, self.function.fast_math)
        node = self.node(
            op.result.ty.dtype,
            lambda texts: spell(spelling, texts),
            operands,
            home=self._home(op.result),
            loc=op.loc,
        )
        if name == "and" and op.result.ty.dtype.is_bool:
            node.conjuncts = tuple(operands)
        is_plain_number = name == "cast" or not op.result.ty.dtype.is_float
        node.is_sum = name == "add"
        node.is_light = name in LIGHT_OPS and is_plain_number and not self.numbers.may_wrap(op)
        return node

    def _simplified(self, op: Compute, operands: list[Node]) -> Node | None:
        """What is left of index arithmetic along an axis of extent 1, where the index is zero."""
        dtype = op.result.ty.dtype
        if op.op.name not in ("add", "mul") or not dtype.is_int:
            return None
        zero, one = self.literal(0, dtype), self.literal(1, dtype)
        neutral = zero if op.op.name == "add" else one
        for node, other in (operands, operands[::-1]):
            if node is neutral:
                return other
            if node is zero:
                return zero
        return None

    def _home(self, value: Value) -> Block:
        """The block of the region that defines a value."""
        region = self.facts.regions.get(value)
        return self.root if region is None else self.regions.get(id(region), self.root)

    def _position(self, op: Compute, indices: Indices) -> Node | None:
        if op.operands:
            return None
        match op.op.name:
            case "arange":
                start = op.attr("start")
                assert isinstance(start, int)
                node = self.index(add(indices[0], fixed(start)))
                self._suggest(node, op.result.hint)
                return node
            case "thread_index":
                return self.index(indices[0])
            case "lane_index" | "simdgroup_index":
                return self._in_simdgroup(op, indices[0])
            case "program_id" | "num_programs":
                return self._in_grid(op)
            case _:
                return None

    def _suggest(self, node: Node, hint: str) -> None:
        """Passes the user's name for a row of numbers on to the variable that counts them."""
        if not hint:
            return
        if node.variable is not None and node.variable.hint in ("e", "k"):
            node.variable.hint = hint
        elif not node.plain and not node.is_users:
            node.hint, node.is_users = hint, True

    def _in_simdgroup(self, op: Compute, index: Index) -> Node:
        is_lane = op.op.name == "lane_index"
        if self.threads > 1 and index is of(element(self.threads)):
            name = "lane" if is_lane else "simdgroup"
            return self.builtin(name, f"int({{{name}}})")
        operator = "%" if is_lane else "/"
        return self.infix(operator, self.index(index), self.literal(32, I32), Level.PRODUCT, I32)

    def _in_grid(self, op: Compute) -> Node:
        axis = op.attr("axis")
        assert isinstance(axis, int)
        if axis >= len(AXES):
            message = f"Metal's grids have three axes: there is no axis {axis}"
            raise UnsupportedError(message, op.loc)
        name = "program" if op.op.name == "program_id" else "programs"
        self.builtins.add(name)
        text = Text(f"int({self.names[name]}.{AXES[axis]})")
        node = self.node(I32, lambda _: text, loc=op.loc)
        node.is_light = True
        return node

    # --- indices ------------------------------------------------------------------------------

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
            node.home.nodes["index", index] = node
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
            node.home.nodes["part", part] = node
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

    # --- memory -------------------------------------------------------------------------------

    def load(self, op: Load, indices: Indices) -> Node:
        operands = [self.value(op.offset, indices)]
        if op.mask is not None and op.other is not None:
            operands += [self.value(op.mask, indices), self.value(op.other, indices)]
        pointer = self.facts.resolve(op.pointer)
        reads = frozenset({pointer, MEMORY}) if self._may_change(pointer) else frozenset[object]()

        def spell_load(texts: Sequence[Text]) -> Text:
            place = subscript(self.array_name(pointer), texts[0])
            return ternary(texts[1], place, texts[2]) if len(texts) == 3 else place

        home = self._home(op.result) if not reads else self.block
        node = self.node(
            op.result.ty.dtype, spell_load, operands, home, kind=LoadNode, loc=op.loc, reads=reads
        )
        node.fallback = f"{pointer.hint}_value"
        return node

    def _may_change(self, pointer: Value) -> bool:
        ty = pointer.ty
        return pointer in self.facts.written or (isinstance(ty, Pointer) and ty.space != "device")

    def array_name(self, pointer: Value) -> str:
        array = self.arrays[pointer]
        return array if isinstance(array, str) else array.name

    def read_staged(self, value: Value, indices: Indices) -> Node:
        """An element of a block that lies in threadgroup memory."""
        index = self.index(linear(indices, value.shape))
        return self.element(self.staged_array(value), index)

    def staged_array(self, value: Value) -> Shared:
        value = self.facts.resolve(value)
        hint = f"{value.hint or self.word_for(value)}_shared"
        maker = self.facts.definition(value)
        loc = None if maker is None else maker.loc
        return self.share(staged_name(value), hint, value.ty.dtype, count(value.shape), loc=loc)

    def word_for(self, value: Value) -> str:
        """A word of ours for a block without a name."""
        op = self.facts.definition(value)
        if isinstance(op, Load):
            return f"{op.pointer.hint}_value"
        if isinstance(op, Compute) and op.op.name in REDUCTION_WORDS:
            return REDUCTION_WORDS[op.op.name]
        names = _names_above(value, self.facts)
        return f"{names.pop()}_part" if len(names) == 1 else "block"

    def share(
        self,
        key: str,
        hint: str,
        dtype: DType,
        size: int,
        *,
        halves: int = 1,
        loc: Loc | None = None,
    ) -> Shared:
        """An array of the writer's own in threadgroup memory."""
        own = Shared(hint, dtype, size, halves=halves, loc=loc)
        home = self.homes.get(key, key)
        if home not in self.homes.values():
            own = self.shared.setdefault(key, own)
            own.size = max(own.size, size)
            return own
        scratch = self.shared.setdefault(home, Shared("scratch", self.home_dtypes[home], 0))
        own = scratch.tenants.setdefault(key, own)
        scratch.size = max(scratch.size, -(-own.bytes * 8 // max(scratch.dtype.bits, 8)))
        if dtype == scratch.dtype and halves == 1:
            return scratch
        own.inside = scratch
        return self.shared.setdefault(f"{key} in {home}", own)

    def element(self, shared: Shared, index: Node) -> Node:
        """An element of threadgroup memory, as it is now."""
        return self.node(
            shared.dtype,
            lambda texts: subscript(shared.name, texts[0]),
            [index],
            home=self.block,
            reads=frozenset({shared, MEMORY}),
        )

    def put(self, shared: Shared, index: Node, node: Node, loc: Loc | None = None) -> None:
        """Writes an element of threadgroup memory."""

        def line(texts: Sequence[Text]) -> Text:
            return Text(f"{shared.name}[{texts[0].text}] = {texts[1].text}")

        self.act(line, [index, node], frozenset({shared}), loc)

    # --- statements ---------------------------------------------------------------------------

    def declare_once(
        self,
        variable: Variable,
        first: Node | None,
        loc: Loc | None = None,
        is_ahead: bool = False,
    ) -> None:
        """Declares the variable of a value of control flow where it is first seen."""
        self.declared.add(variable)
        self.declare(variable, first, loc, is_ahead)

    @contextmanager
    def region(self, block: Block, region: Region) -> Generator[None]:
        """Statements of a region go into a block."""
        self.regions[id(region)] = block
        with self.inside(block):
            yield

    def barrier(self, device: bool, threadgroup: bool, loc: Loc | None = None) -> None:
        """All threads wait for each other, and then see what was written."""
        if loc is not None:
            device, threadgroup = self._user_barrier()
        kinds = [("mem_device", device), ("mem_threadgroup", threadgroup)]
        flags = " | ".join(f"mem_flags::{name}" for name, is_set in kinds if is_set)
        if self.threads > 1:
            self.act(f"threadgroup_barrier({flags})", changes=frozenset({MEMORY}), loc=loc)

    def _user_barrier(self) -> tuple[bool, bool]:
        """Which memory a barrier of the user's is for: such as is both written and read."""
        ops = [op for op in self.facts.ops if isinstance(op, Load | Atomic)]
        read = {op.pointer for op in ops} & self.facts.written
        device = any(not is_threadgroup(pointer) for pointer in read)
        return device, bool(self.plan.allocations) or not device

    def allocate(self, op: Alloc) -> None:
        """Threadgroup memory that the user asked for."""
        is_atomic = op.result in self.atomics
        shared = Shared(
            op.result.hint or "shared", op.result.ty.dtype, op.size, is_atomic, loc=op.loc
        )
        self.shared[f"allocated {op.result.id}"] = shared
        self.arrays[op.result] = shared

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
        """Statements for each element of a domain, in the thread that has it."""
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
        """The thread's index where not all threads are: what reads memory by it stays there."""
        thread = Text(self.names["t"])
        return self.node(I32, lambda _: thread, home=body, plain=True)

    @contextmanager
    def turns(self, domain: Domain, loc: Loc) -> Generator[Turn]:
        """Statements that all threads go through together, once for each slot of a domain."""
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
            yield Turn(self, domain, loop, start)
        self.domain, self.loop = around
        self.emit(Loop([], loc=loc, spell=head, body=body, counters=[slot]))


@frozen
class Turn:
    """One slot of all threads: `start` is the index of the first thread's element."""

    low: Lowering
    domain: Domain
    loop: ElementLoop
    start: Node

    @contextmanager
    def elements(self) -> Generator[None]:
        """Statements for the element that each thread has in this turn, if it has one."""
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


def _names_above(value: Value, facts: Facts) -> set[str]:
    """The user's names for what is computed from a value, without a change of its dtype."""
    names: set[str] = set()
    for op in (use.op for use in facts.uses_of(value)):
        if isinstance(op, Compute) and op.result.ty.dtype == value.ty.dtype:
            names |= {op.result.hint} if op.result.hint else _names_above(op.result, facts)
    return names


def builtin_names(facts: Facts) -> dict[str, str]:
    """The names of what Metal tells a thread, other ones where the user has taken those."""
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

"""From values of the IR to expressions of the tree."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from eas.ir.aliasing.lane_domains import element
from eas.ir.aliasing.lane_indices import Index, Indices, add, fixed, make_index, of, operand_indices
from eas.ir.nodes import (
    Compute,
    Constant,
    Load,
    Region,
    Value,
    is_view,
)
from eas.ir.types import I32, Pointer, count
from eas.msl.analysis.numbers import Numbers
from eas.msl.cxx.helpers import Helpers
from eas.msl.cxx.spelling import Spelling, spell
from eas.msl.cxx.tree import Block, LoadNode, Node, Variable
from eas.msl.lower.shared_arrays import MEMORY, SharedArrayBuilder
from eas.msl.ops.errors import UnsupportedError
from eas.msl.ops.text import Level, Text, subscript, ternary
from eas.msl.schedule.value_sources import Source, where_is
from eas.msl.schedule.variable_storage import Storage
from eas.support.location import Loc
from eas.support.records import field, record
from eas.support.report_buffer import Site

AXES = "xyz"
LIGHT_OPS = {"add", "sub", "mul", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "cast"}


@record(kw_only=True)
class Lowering(SharedArrayBuilder):
    """Turns values of the IR into expressions.

    `regions` has the block of each region. `live_out` has the variables of values that outlive
    their loop over elements, `variables` those of carried values and results, by their number in
    `storage`.
    """

    numbers: Numbers
    storage: Storage
    helpers: Helpers = field(default_factory=Helpers)
    sites: list[Site] = field(default_factory=list[Site])
    parameters: list[str] = field(default_factory=list[str])
    version: tuple[int, int] = (2, 3)
    variables: dict[int, Variable] = field(default_factory=dict[int, Variable])
    live_out: dict[Value, Variable] = field(default_factory=dict[Value, Variable])
    declared: set[Variable] = field(default_factory=set[Variable])
    regions: dict[int, Block] = field(default_factory=dict[int, Block])

    def __post_init__(self) -> None:
        super().__post_init__()
        self.regions[self.function.body.number] = self.root

    def at(self, value: Value) -> Node:
        """A value in the current lane, or a uniform one."""
        value = self.facts.resolve(value)
        return self.value(value, self.domain.indices_of(value.shape))

    def value(self, value: Value, indices: Indices = ()) -> Node:
        """The element of a value at some indices."""
        value = self.facts.resolve(value)
        key = (value, indices)
        node = self.find(key)
        if node is None:
            node = self._make(value, indices)
            node.scope.nodes[key] = node
        return node

    def define(self, value: Value, node: Node) -> None:
        """Binds a value of the current lane, for the ops after and inside."""
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
        source = where_is(value, indices, self.domain.extent, self.layout)
        if source is Source.STAGED:
            return self.read_staged(value, indices)
        if source is Source.OWNED:
            variable = self.live_out.get(value) or self.variable_of(value)
            if variable is not None:
                return self.read(variable)
        # An owned value without a variable is part of an `if` that is printed as an expression.
        assert isinstance(op, Compute | Load), f"%{value.id} is not computed yet"
        return self._name(self.evaluate(op, indices), value)

    def variable_of(self, value: Value) -> Variable | None:
        """The variable of a carried value or of a result of control flow."""
        number = self.storage.numbers.get(value)
        if number is None:
            return None
        if number not in self.variables:
            slots = self.layout.slots(count(value.shape)) if self.is_lane_variable(value) else 1
            hint = next((v.hint for v in self.storage.holders[number] if v.hint), value.hint)
            variable = Variable(hint, value.ty.dtype, slots if slots > 1 else 0)
            self.variables[number] = variable
        return self.variables[number]

    def is_lane_variable(self, value: Value) -> bool:
        """Whether a value of control flow is a block in variables of its lanes."""
        op = self.facts.definition(value) or self.facts.owners.get(value)
        is_uniform = op is not None and op.number in self.layout.uniform_control
        return bool(value.shape) and is_uniform

    def evaluate(self, op: Compute | Load, indices: Indices) -> Node:
        return self.compute(op, indices) if isinstance(op, Compute) else self.load(op, indices)

    def compute(self, op: Compute, indices: Indices) -> Node:
        name = op.op.name
        below = operand_indices(op, indices)
        if is_view(op):
            return self.value(op.operands[0], below)
        position = self._position(op, indices) or self._whole_index(op, indices)
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
            scope=self._defining_block(op.result),
            loc=op.loc,
        )
        if name == "and" and op.result.ty.dtype.is_bool:
            node.conjuncts = tuple(operands)
        is_plain_number = name == "cast" or not op.result.ty.dtype.is_float
        node.is_sum = name == "add"
        node.is_light = name in LIGHT_OPS and is_plain_number and not self.numbers.may_wrap(op)
        return node

    def _whole_index(self, op: Compute, indices: Indices) -> Node | None:
        """Simplifies a sum of parts of an index: `e / 8 * 8 + e % 8` is `e`."""
        if op.op.name != "add" or op.result.ty.dtype != I32 or not indices:
            return None
        form = self.facts.forms.of(op.result, indices)
        if form.shared or form.strided or form.unknown or form.constant < 0:
            return None
        whole = fixed(form.constant)
        for part, factor in form.lanes.items():
            whole = add(whole, make_index(((factor, part),), 0))
        if len(whole.terms) == len(form.lanes) or whole.low < 0 or whole.high > I32.max:
            return None
        return self.index(whole)

    def _simplified(self, op: Compute, operands: list[Node]) -> Node | None:
        """Simplifies index arithmetic along an axis of extent 1, where the index is zero."""
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

    def _defining_block(self, value: Value) -> Block:
        """The block of the region that defines a value."""
        region = self.facts.regions.get(value)
        return self.root if region is None else self.regions.get(region.number, self.root)

    def _position(self, op: Compute, indices: Indices) -> Node | None:
        if not op.op.position:
            return None
        if op.op.positional:
            return self._in_grid(op)
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
            case _:
                return None

    def _suggest(self, node: Node, hint: str) -> None:
        """Gives the user's name for an `arange` to the variable that counts its elements."""
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

    def load(self, op: Load, indices: Indices) -> Node:
        operands = [self.value(op.offset, indices)]
        if op.mask is not None and op.other is not None:
            operands += [self.value(op.mask, indices), self.value(op.other, indices)]
        pointer = self.facts.resolve(op.pointer)
        reads = frozenset({pointer, MEMORY}) if self._may_change(pointer) else frozenset[object]()

        def spell_load(texts: Sequence[Text]) -> Text:
            place = subscript(self.array_name(pointer), texts[0])
            return ternary(texts[1], place, texts[2]) if len(texts) == 3 else place

        scope = self._defining_block(op.result) if not reads else self.block
        node = self.node(
            op.result.ty.dtype, spell_load, operands, scope, kind=LoadNode, loc=op.loc, reads=reads
        )
        node.fallback = f"{pointer.hint}_value"
        return node

    def _may_change(self, pointer: Value) -> bool:
        ty = pointer.ty
        return pointer in self.facts.written or (isinstance(ty, Pointer) and ty.space != "device")

    def declare_once(
        self,
        variable: Variable,
        first: Node | None,
        loc: Loc | None = None,
        is_ahead: bool = False,
    ) -> None:
        """Declares the variable of a value of control flow at its first assignment."""
        self.declared.add(variable)
        self.declare(variable, first, loc, is_ahead)

    @contextmanager
    def region(self, block: Block, region: Region) -> Generator[None]:
        """Statements of a region go into a block."""
        self.regions[region.number] = block
        with self.inside(block):
            yield

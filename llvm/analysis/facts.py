"""Facts about a function for the code generator: users, cheap values, loops, divergence."""

from __future__ import annotations

from eas.ir.aliasing.affine_forms import AffineForms, is_index_or_conversion
from eas.ir.analysis import divergences
from eas.ir.nodes import (
    Atomic,
    Break,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    Function,
    If,
    Load,
    Op,
    Region,
    Store,
    Value,
    While,
    Yield,
    operands_of,
    regions_of,
    results_of,
    values_in,
    walk,
)
from eas.ir.passes.ranges import MOST_PROGRAMS, Ranges, analyze
from eas.support.records import field, record

_MOST_CHEAP_OPS = 64
_LEAVES = {"arange", "thread_index", "lane_index", "simdgroup_index", "splat"}
_CHEAP = {
    *("add", "sub", "mul", "neg", "and", "or", "xor", "not", "lt", "le", "gt", "ge", "eq", "ne"),
    *("select", "cast", "minimum", "maximum", "clamp", "index"),
    *("broadcast", "expand_dims", "permute"),
}
MODS = {"mod", "truncmod"}
LIGHT = {*_LEAVES, *_CHEAP}


@record
class Facts:
    """`users` are the ids of the ops that use a value.

    `cheap` is the number of ops that compute a value, for values that are computed on demand.
    `read` and `written` are the arrays that the function reads and writes. `op_loops` is the
    innermost loop around an op, `value_loops` the one around a value's definition. `indexed` are
    the values that depend on a checked index. `owners` are the ops that region arguments belong
    to. `forms` are affine forms of offsets, `index_forms` those of indices that guards compare,
    `distances` those for distances of offsets. `counters` is the loop that an argument counts the
    trips of, `while_values` the value that the test of a `while` passes to an argument.
    """

    function: Function
    definitions: dict[int, Op] = field(default_factory=dict[int, Op])
    users: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    cheap: dict[int, int] = field(default_factory=dict[int, int])
    read: set[int] = field(default_factory=set[int])
    written: set[int] = field(default_factory=set[int])
    ops: dict[int, Op] = field(default_factory=dict[int, Op])
    op_loops: dict[int, Op | None] = field(default_factory=dict[int, "Op | None"])
    value_loops: dict[int, Op | None] = field(default_factory=dict[int, "Op | None"])
    indexed: set[int] = field(default_factory=set[int])
    owners: dict[Value, Op] = field(default_factory=dict[Value, Op])
    counters: dict[int, For] = field(default_factory=dict[int, For])
    while_values: dict[int, Value] = field(default_factory=dict[int, Value])

    def __post_init__(self) -> None:
        params = self.function.params
        self.strides = frozenset(param.value for param in params if param.role == "stride")
        self.forms = AffineForms(self.definition, strides=self.strides)
        self.index_forms = _index_forms(self)
        self.distances = AffineForms(self.definition, is_index_or_conversion)
        found = divergences(self.function)
        self._divergent = {key for key, each in found.items() if each.inside}
        self._yielded: set[int] = set()
        self.ranges = analyze(self.function)
        self.wrapping = self.ranges.wrapping
        if self.ranges.programs < (self.function.programs or MOST_PROGRAMS):
            self.ranges = Ranges()  # they hold only for smaller grids than a launch may have
            self.wrapping = {v.id for v in values_in(self.function.body) if v.ty.dtype.is_int}
        for op in walk(self.function.body):
            for result in results_of(op):
                self.definitions[result.id] = op
            for operand in operands_of(op):
                self.users.setdefault(operand.id, set()).add(op.number)
            if isinstance(op, Compute) and op.result.shape:
                self._count_ops(op)
            if isinstance(op, Compute) and self._is_indexed(op):
                self.indexed.add(op.result.id)
            if isinstance(op, Yield):
                self._yielded.update(value.id for value in op.values)
            if isinstance(op, For):
                self.counters[op.body.args[0].id] = op
            if isinstance(op, While):
                self._pass(op)
            if isinstance(op, Load | Atomic):
                self.read.add(op.pointer.id)
            if isinstance(op, Store | Atomic):
                self.written.add(op.pointer.id)
        self._nest(self.function.body, None)

    def _nest(self, region: Region, loop: Op | None) -> None:
        self.value_loops.update((value.id, loop) for value in region.args)
        for op in region.ops:
            self.ops[op.number], self.op_loops[op.number] = op, loop
            self.value_loops.update((value.id, loop) for value in results_of(op))
            inner = op if isinstance(op, For | While) else loop
            for each in regions_of(op):
                self.owners.update(dict.fromkeys(each.args, op))
                self._nest(each, inner)

    def _pass(self, op: While) -> None:
        """Notes what the test of a `while` passes to the arguments of its body."""
        test = op.test.terminator
        assert isinstance(test, Condition)
        self.while_values.update(
            (arg.id, v) for arg, v in zip(op.body.args, test.values, strict=True)
        )

    def _is_indexed(self, op: Compute) -> bool:
        return op.op.name == "index" or any(v.id in self.indexed for v in op.operands)

    def _count_ops(self, op: Compute) -> None:
        if op.op.name in _LEAVES:
            self.cheap[op.result.id] = 1
            return
        if op.op.name not in _CHEAP or op.result.ty.dtype.is_float:
            return
        counts = [self._ops_of(v, op) for v in op.operands if v.shape]
        total = 1 + sum(count or 0 for count in counts)
        if None not in counts and total <= _MOST_CHEAP_OPS:
            self.cheap[op.result.id] = total

    def _ops_of(self, value: Value, user: Compute) -> int | None:
        """What computing a value on demand costs its user; a row index behind `%` costs 1."""
        op = self.definitions.get(value.id)
        if user.op.name == "expand_dims" and isinstance(op, Compute) and op.op.name in MODS:
            return 1
        return self.cheap.get(value.id)

    def is_cheap(self, value: Value) -> bool:
        return value.id in self.cheap

    def is_checked_at_definition(self, op: Op) -> bool:
        """Whether an op is an index that is checked where it is defined, not where it is used."""
        if not isinstance(op, Compute) or op.op.name != "index":
            return False
        is_materialized = not self.is_cheap(op.result) or op.result.id in self._yielded
        return bool(op.result.shape) and is_materialized

    def is_divergent(self, op: If | For | While) -> bool:
        """Whether lanes diverge inside of an op."""
        return op.number in self._divergent

    def definition(self, value: Value) -> Op | None:
        return self.definitions.get(value.id)

    def resolve(self, value: Value) -> Value:
        """The value that another one is an alias of; this backend has none."""
        return value

    def is_inside(self, value: Value, op: Op) -> bool:
        """Whether a value is defined in the regions of a loop."""
        loop = self.value_loops.get(value.id)
        while loop is not None and loop is not op:
            loop = self.op_loops[loop.number]
        return loop is op

    def is_last_use(self, value: Value, op: Op) -> bool:
        """Whether one operand of an op is the only use of a value.

        In a loop, a value from outside is used again in the next trip.
        """
        if self.users[value.id] != {op.number} or operands_of(op).count(value) != 1:
            return False
        return self.value_loops[value.id] is self.op_loops[op.number]

    def constant(self, value: Value) -> bool | int | float | None:
        """The constant that a value is in all lanes; None if it is not one."""
        op = self.definitions.get(value.id)
        while isinstance(op, Compute) and op.op.view and not op.op.collective:
            op = self.definitions.get(op.operands[0].id)
        return op.value if isinstance(op, Constant) else None


def _index_forms(facts: Facts) -> AffineForms:
    """The forms of blocks that are computed on demand, exact in wrapping arithmetic."""

    def definition(value: Value) -> Op | None:
        return facts.definition(value) if value.shape and facts.is_cheap(value) else None

    def is_same(op: Compute) -> bool:
        return op.op.name == "cast" and _widens(op) and not _may_wrap(op.operands[0], facts)

    return AffineForms(definition, is_same)


def _widens(op: Compute) -> bool:
    """Whether it is an integer conversion that preserves every value."""
    old, new = op.operands[0].ty.dtype, op.result.ty.dtype
    return old.is_int and new.is_int and new.min <= old.min and old.max <= new.max


def _may_wrap(value: Value, facts: Facts) -> bool:
    """Whether an op that an index is computed from may wrap in some lane."""
    op = facts.definitions.get(value.id)
    if not value.shape or not isinstance(op, Compute):
        return False
    return value.id in facts.wrapping or any(_may_wrap(operand, facts) for operand in op.operands)


def has_exit(region: Region, kinds: tuple[type[Break | Continue], ...] = (Break, Continue)) -> bool:
    """Whether a region has an exit to a loop around it. Exits of loops inside do not count."""
    for op in region.ops:
        if isinstance(op, kinds):
            return True
        inner = (op.orelse,) if isinstance(op, For | While) else regions_of(op)
        if any(has_exit(each, kinds) for each in inner):
            return True
    return False


def is_pure(region: Region) -> bool:
    """Whether a region only computes: no loop, no branch, no access to memory."""
    return all(isinstance(op, Compute | Constant) for op in region.ops[:-1])


def with_inner(op: Op) -> list[Op]:
    """An op and all ops inside of its regions."""
    return [op, *(inner for region in regions_of(op) for inner in walk(region))]


def defined_inside(op: Op) -> set[int]:
    """The ids of all values that are defined in an op's regions."""
    return {value.id for region in regions_of(op) for value in values_in(region)}

"""Definitions, uses and aliases of the values of a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eas.ir import rewrite
from eas.ir.aliasing.affine_forms import AffineForms
from eas.ir.analysis import divergences
from eas.ir.nodes import (
    Alloc,
    Barrier,
    Break,
    Combine,
    Compute,
    Condition,
    Continue,
    For,
    Function,
    If,
    Load,
    Op,
    Region,
    TargetOp,
    Value,
    While,
    Yield,
    operands_of,
    regions_of,
    results_of,
    values_in,
    walk,
    written_by,
)
from eas.support.records import field, frozen, record

Control = If | For | While


@frozen
class Use:
    """An op that uses a value, its position in the text, and its region."""

    op: Op
    position: int
    region: Region


@record
class Facts:
    """Definitions, uses and aliases. A position is an index into `ops`, in the order of the text.

    `aliases` are values that only rename another one: what a `Condition` passes on, and results of
    a control op for which all exits give the same value. `lasts` has, for a carried value, the
    argument of the `orelse`. `forms` caches the results of `eas.ir.aliasing.disjointness`.
    """

    function: Function
    ops: tuple[Op, ...]
    definitions: dict[Value, Op] = field(default_factory=dict[Value, Op])
    positions: dict[int, int] = field(default_factory=dict[int, int])
    ends: dict[int, int] = field(default_factory=dict[int, int])
    born: dict[Value, int] = field(default_factory=dict[Value, int])
    regions: dict[Value, Region] = field(default_factory=dict[Value, Region])
    owners: dict[Value, Op] = field(default_factory=dict[Value, Op])
    uses: dict[Value, list[Use]] = field(default_factory=dict[Value, list[Use]])
    aliases: dict[Value, Value] = field(default_factory=dict[Value, Value])
    lasts: dict[Value, Value] = field(default_factory=dict[Value, Value])
    written: frozenset[Value] = frozenset()
    split: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        aliases, params = self.aliases, self.function.params
        self.strides = frozenset(param.value for param in params if param.role == "stride")
        # Not by methods of its own: it would wait for the garbage collector with all that it holds.
        self.forms = AffineForms(
            self.definitions.get,
            resolve=lambda value: aliases.get(value, value),
            strides=self.strides,
        )

    def resolve(self, value: Value) -> Value:
        return self.aliases.get(value, value)

    def inside(self, op: Op) -> tuple[Op, ...]:
        """The ops in the regions of an op, in the order of the text."""
        return self.ops[self.positions[op.number] + 1 : self.ends[op.number] + 1]

    def uses_of(self, value: Value) -> list[Use]:
        return self.uses.get(value, [])

    def is_needed(self, value: Value) -> bool:
        """Whether a value is used, or the argument of the `orelse` that continues it."""
        last = self.lasts.get(value)
        return bool(self.uses_of(value)) or (last is not None and bool(self.uses_of(last)))

    def is_split(self, op: Op) -> bool:
        """Whether lanes diverge inside of a control op."""
        return op.number in self.split

    def definition(self, value: Value) -> Op | None:
        return self.definitions.get(value)

    def is_inside(self, value: Value, op: Op) -> bool:
        """Whether a value is defined in the regions of an op."""
        start = self.positions[op.number]
        return start < self.born.get(value, -1) <= self.ends[op.number]


def gather(function: Function) -> Facts:
    ops = tuple(walk(function.body))
    facts = Facts(function, ops)
    for op in ops:
        if isinstance(op, Control):
            _find_aliases(facts, op)
    for value, other in facts.aliases.items():
        facts.aliases[value] = _last(facts.aliases, other)
    _visit(facts, function.body, 0)
    facts.written = frozenset(filter(None, map(written_by, ops)))
    found = divergences(function)
    facts.split = frozenset(name for name, each in found.items() if each.inside is not None)
    return facts


def _last(aliases: Mapping[Value, Value], value: Value) -> Value:
    while value in aliases:
        value = aliases[value]
    return value


def _find_aliases(facts: Facts, op: Control) -> None:
    if isinstance(op, While):
        test = op.test.terminator
        assert isinstance(test, Condition)
        facts.aliases.update(zip(op.body.args, test.values, strict=True))
        for inner, value in zip(op.orelse.args, test.values, strict=True):
            if value not in op.test.args:
                facts.aliases[inner] = value
    if isinstance(op, For | While):
        facts.lasts.update((value, argument) for argument, value in left_with(op))
    if not op.results:
        return
    inside = {value for inner in regions_of(op) for value in values_in(inner)}
    for result, *given in zip(op.results, *_exit_values(op), strict=True):
        if given and given[0] not in inside and all(v == given[0] for v in given[1:]):
            facts.aliases[result] = given[0]


def _exit_values(op: Control) -> Iterator[tuple[Value, ...]]:
    """The values that each exit of a control op gives to its results."""
    for region in (op.then, op.orelse) if isinstance(op, If) else (op.orelse,):
        if isinstance(region.terminator, Yield):
            yield region.terminator.values
    if not isinstance(op, If):
        for leaving in breaks_of(op):
            yield leaving.values


def _visit(facts: Facts, region: Region, position: int) -> int:
    for value in region.args:
        facts.born[value] = position
        facts.regions[value] = region
    for op in region.ops:
        start = facts.positions[op.number] = position
        operands = operands_of(op)
        if operands:
            use = Use(op, position, region)
            for value in operands:
                facts.uses.setdefault(facts.resolve(value), []).append(use)
        position += 1
        for inner in regions_of(op):
            position = _visit(facts, inner, position)
            facts.owners.update(dict.fromkeys(inner.args, op))
        facts.ends[op.number] = position - 1
        for value in results_of(op):
            facts.definitions[value] = op
            facts.born[value] = start
            facts.regions[value] = region
    return position


def is_collective(op: Op) -> bool:
    if isinstance(op, Compute):
        return op.op.collective
    return isinstance(op, Barrier | Alloc | Combine | TargetOp)


def is_pure(op: Op | None, facts: Facts) -> bool:
    """Whether an op may be evaluated anywhere after its operands, any number of times."""
    if isinstance(op, Load):
        return op.pointer not in facts.written and not is_threadgroup(op.pointer)
    return isinstance(op, Compute) and not op.op.simdgroup and op.op.name != "dot"


def is_threadgroup(pointer: Value) -> bool:
    return getattr(pointer.ty, "space", "") == "threadgroup"


def breaks_of(loop: For | While) -> list[Break]:
    """The breaks that belong to a loop."""
    return [op for op in exits_of(loop.body) if isinstance(op, Break)]


def continues_of(loop: For | While) -> list[Continue]:
    return [op for op in exits_of(loop.body) if isinstance(op, Continue)]


def leaves_outer_loop(op: Control) -> bool:
    """Whether an exit inside of an op leaves a loop around it."""
    regions = (op.then, op.orelse) if isinstance(op, If) else (op.orelse,)
    return any(True for region in regions for _ in exits_of(region))


def exits_of(region: Region) -> Iterator[Op]:
    """The breaks and continues in a region that belong to a loop around it."""
    for op in region.ops:
        match op:
            case Break() | Continue():
                yield op
            case If():
                yield from exits_of(op.then)
                yield from exits_of(op.orelse)
            case For() | While():
                yield from exits_of(op.orelse)
            case _:
                pass


def carried_by(op: Control) -> tuple[Value, ...]:
    """The loop-carried values; a branch has none."""
    return () if isinstance(op, If) else rewrite.carried_by(op)


def left_with(op: For | While) -> Iterator[tuple[Value, Value]]:
    """The arguments of the `orelse`, each with the carried value that it is the last of."""
    carried = carried_by(op)
    values = carried
    if isinstance(op, While):
        assert isinstance(op.test.terminator, Condition)
        values = op.test.terminator.values
    for argument, value in zip(op.orelse.args, values, strict=True):
        if value in carried:
            yield argument, value


def is_trivial(region: Region) -> bool:
    """Whether a region only yields values."""
    return len(region.ops) == 1

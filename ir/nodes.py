"""The IR's data: values, regions, ops, functions. Their meaning is described in `eas.ir`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from operator import attrgetter
from typing import Any, Literal, TypeVar

from eas.ir.ops.record import Attr, OpDef, TargetOpDef
from eas.ir.types import Shape, Type
from eas.support.faults import AccessKind
from eas.support.location import Loc, SourceName
from eas.support.records import field, frozen

T = TypeVar("T")

next_number: Callable[[], int] = count().__next__
"""The number of an op that is made: an op keeps it when a pass rebuilds it, and no other has it.

Tables about ops are keyed by it. It is no part of what an op is: equal ops have other numbers.
"""


@frozen
class Value:
    """One SSA value. `id` is unique in its function; `hint` is the user's name for it, or empty."""

    id: int
    ty: Type
    hint: str = ""

    def __hash__(self) -> int:
        return self.id

    @property
    def shape(self) -> Shape:
        return self.ty.shape


@frozen
class Region:
    """A list of ops that ends in a terminator, with the values it is entered with."""

    args: tuple[Value, ...]
    ops: tuple[Op, ...]

    @property
    def terminator(self) -> Op:
        return self.ops[-1]

    @property
    def number(self) -> int:
        """That of its terminator: unique, and kept wherever the region goes."""
        return self.ops[-1].number


@frozen
class Constant:
    """A literal. Only scalars: a block of equal values is a `splat` of one.

    Compared by what is written: 0.0 is not -0.0, and a NaN is a NaN.
    """

    value: bool | int | float
    result: Value
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self.result)

    def _key(self) -> tuple[str, Value, Loc]:
        return repr(self.value), self.result, self.loc


@frozen
class Compute:
    """A pure op of the table `eas.ir.ops.OPS`."""

    op: OpDef
    operands: tuple[Value, ...]
    attrs: tuple[tuple[str, Attr], ...]
    result: Value
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)

    def attr(self, name: str) -> Attr:
        return dict(self.attrs)[name]


CombineKind = Literal["reduce", "scan"]


@frozen
class Combine:
    """Combines the elements along the last axis, two at a time, by a function of the user's.

    A `reduce` combines all of them, a `scan` gives for each the combination up to it. The operands
    are blocks of one shape. `body` takes an element of each, then another one of each, and yields
    as many values. It computes with scalars only, and uses nothing from outside.
    """

    kind: CombineKind
    operands: tuple[Value, ...]
    body: Region
    results: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Load:
    pointer: Value
    offset: Value
    mask: Value | None
    other: Value | None
    result: Value
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Store:
    pointer: Value
    offset: Value
    value: Value
    mask: Value | None
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


AtomicKind = Literal["add", "max", "min", "and", "or", "xor", "xchg", "cas"]


@frozen
class Atomic:
    """Read, combine, write, as one step per lane; `result` is what was there before.

    `expected` is set for `cas` only: `value` is written where memory equals it.
    """

    kind: AtomicKind
    pointer: Value
    offset: Value
    expected: Value | None
    value: Value
    mask: Value | None
    result: Value
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Alloc:
    """Memory for `size` elements, shared by the lanes of a program; not initialized.

    It is threadgroup memory, or memory of a target's own, see `TargetOp`.
    """

    size: int
    result: Value
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Barrier:
    """All lanes of the program wait for each other and see each other's writes. Collective."""

    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class TargetOp:
    """An op of one target, which may read and write the memory of its pointers. Collective."""

    op: TargetOpDef
    operands: tuple[Value, ...]
    attrs: tuple[tuple[str, Attr], ...]
    result: Value | None
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)

    def attr(self, name: str) -> Attr:
        return dict(self.attrs)[name]

    def operand(self, name: str) -> Value:
        return self.operands[self.op.operands.index(name)]


@frozen
class Fault:
    """What an `Assert` of the compiler's own has found: `number` is outside of an array.

    `number` is an offset, or if `extent` is there an index along an axis of that extent. All are
    i64. `is_masked` says whether the access has a mask.
    """

    kind: AccessKind | Literal["index"]
    array: str
    number: Value
    extent: Value | None = None
    axis: int = 0
    is_masked: bool = False


@frozen
class Assert:
    """Stops the launch with `message` if the condition is false for any active lane.

    One that `is_assumed` is a promise of the user's: a backend need not check it. One with a
    `fault` is a check of an access, see `eas.ir.passes.guards`.
    """

    condition: Value
    message: str
    loc: Loc
    is_assumed: bool = False
    fault: Fault | None = None
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Print:
    """Prints its parts, texts and values in turn, once per active lane (once if all are scalar)."""

    parts: tuple[str | Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class If:
    condition: Value
    then: Region
    orelse: Region
    results: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class For:
    """`body.args` is the counter, then the carried values; `orelse.args` the carried values."""

    start: Value
    stop: Value
    step: Value
    inits: tuple[Value, ...]
    body: Region
    orelse: Region
    results: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class While:
    """The arguments of all regions are the carried values; `test` ends in a `Condition`."""

    inits: tuple[Value, ...]
    test: Region
    body: Region
    orelse: Region
    results: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Scope:
    """A region that a `Leave` with its label may end early. Gone after the pass `exits`."""

    label: int
    body: Region
    results: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Yield:
    values: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Condition:
    condition: Value
    values: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Break:
    values: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Continue:
    values: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


@frozen
class Leave:
    label: int
    values: tuple[Value, ...]
    loc: Loc
    number: int = field(default_factory=next_number, compare=False)


Pure = Constant | Compute
Loop = For | While
Structured = If | For | While | Scope
Exit = Break | Continue | Leave
Terminator = Yield | Condition | Break | Continue | Leave
Op = (
    Constant
    | Compute
    | Combine
    | Load
    | Store
    | Atomic
    | Alloc
    | Barrier
    | TargetOp
    | Assert
    | Print
    | If
    | For
    | While
    | Scope
    | Yield
    | Condition
    | Break
    | Continue
    | Leave
)


Role = Literal["argument", "extent", "stride", "low", "high"]


@frozen
class Param:
    """A parameter. `array` and `axis` are set for hidden ones: an extent or a stride of an array.

    Strides count elements. `low` and `high` are there in functions that check their accesses: the
    offsets from `low` to below `high` are inside of the array.
    """

    value: Value
    role: Role = "argument"
    array: str = ""
    axis: int = 0

    @property
    def name(self) -> str:
        return self.value.hint


@frozen
class Function:
    """A kernel: one program of it, for every point of the grid.

    `constants` are the constexpr arguments, printed for the reader's sake. `programs` is the most
    programs along an axis of the grid that the code counts on, where it counts on a limit. If it is
    `checked`, a backend checks every access to memory, see `eas.ir.passes.bounds_params`.
    """

    name: str
    params: tuple[Param, ...]
    body: Region
    source: SourceName
    threads: int | None = None
    fast_math: bool = False
    constants: tuple[tuple[str, str], ...] = ()
    programs: int | None = None
    checked: bool = False


def operands_of(op: Op) -> tuple[Value, ...]:
    """The values an op itself uses, those of its regions not included."""
    return _OPERANDS[type(op)](op)


def results_of(op: Op) -> tuple[Value, ...]:
    """The values an op defines, those inside its regions not included."""
    results = _RESULTS.get(type(op))
    return () if results is None else results(op)


def regions_of(op: Op) -> tuple[Region, ...]:
    regions = _REGIONS.get(type(op))
    return () if regions is None else regions(op)


def is_elementwise(op: Op) -> bool:
    """Whether an op computes each lane from the operands in that lane alone."""
    return isinstance(op, Compute) and op.op.elementwise and not op.op.positional


def written_by(op: Op) -> Value | None:
    """The pointer to the memory that an op writes, if it writes any."""
    match op:
        case Store() | Atomic():
            return op.pointer
        case TargetOp() if op.op.writes:
            return op.operand(op.op.writes)
        case _:
            return None


def is_view(op: Op | None) -> bool:
    """Whether an op only moves elements of its operand."""
    return isinstance(op, Compute) and op.op.view


def is_reduction(op: Op | None) -> bool:
    """Whether an op reduces a block: to one value, along an axis, or for all lanes of an axis."""
    return isinstance(op, Compute) and op.op.reduction != ""


def walk(region: Region) -> Iterator[Op]:
    """Every op of a region and of the regions inside it, in the order of the text."""
    for op in region.ops:
        yield op
        if type(op) in _REGIONS:
            for inner in regions_of(op):
                yield from walk(inner)


def values_in(region: Region) -> Iterator[Value]:
    """Every value that is defined in a region or in the regions inside it."""
    yield from region.args
    for op in region.ops:
        yield from results_of(op)
        for inner in regions_of(op):
            yield from values_in(inner)


def _present(*values: Value | None) -> tuple[Value, ...]:
    return tuple([value for value in values if value is not None])


def _operands_of_assert(op: Assert) -> tuple[Value, ...]:
    fault = op.fault
    return (op.condition,) + (() if fault is None else _present(fault.number, fault.extent))


# A table finds the function for a kind of op at once: every pass asks for the parts of every op.
_Parts = dict[type[Op], Callable[[Any], tuple[T, ...]]]

_OPERANDS: _Parts[Value] = {
    Constant: lambda op: (),
    Compute: attrgetter("operands"),
    Combine: attrgetter("operands"),
    Load: lambda op: _present(op.pointer, op.offset, op.mask, op.other),
    Store: lambda op: _present(op.pointer, op.offset, op.value, op.mask),
    Atomic: lambda op: _present(op.pointer, op.offset, op.expected, op.value, op.mask),
    Alloc: lambda op: (),
    Barrier: lambda op: (),
    TargetOp: attrgetter("operands"),
    Assert: _operands_of_assert,
    Print: lambda op: tuple([part for part in op.parts if isinstance(part, Value)]),
    If: lambda op: (op.condition,),
    For: lambda op: (op.start, op.stop, op.step, *op.inits),
    While: attrgetter("inits"),
    Scope: lambda op: (),
    Yield: attrgetter("values"),
    Condition: lambda op: (op.condition, *op.values),
    Break: attrgetter("values"),
    Continue: attrgetter("values"),
    Leave: attrgetter("values"),
}

_RESULTS: _Parts[Value] = {
    Constant: lambda op: (op.result,),
    Compute: lambda op: (op.result,),
    Combine: attrgetter("results"),
    Load: lambda op: (op.result,),
    Atomic: lambda op: (op.result,),
    Alloc: lambda op: (op.result,),
    TargetOp: lambda op: _present(op.result),
    If: attrgetter("results"),
    For: attrgetter("results"),
    While: attrgetter("results"),
    Scope: attrgetter("results"),
}

_REGIONS: _Parts[Region] = {
    Combine: lambda op: (op.body,),
    If: attrgetter("then", "orelse"),
    For: attrgetter("body", "orelse"),
    While: attrgetter("test", "body", "orelse"),
    Scope: lambda op: (op.body,),
}

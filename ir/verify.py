"""Checks a function against the contract in `eas.ir`: first its form and types, then its splits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from eas.ir import nodes as ir
from eas.ir.analysis import Divergence, Join, Split, cover, covers, divergences, placed
from eas.ir.nodes import (
    Function,
    Op,
    Param,
    Region,
    Value,
    is_elementwise,
    operands_of,
    regions_of,
    results_of,
    values_in,
    walk,
)
from eas.ir.ops import RuleError
from eas.ir.ops.record import Attrs
from eas.ir.stages import ASSERTS, SOURCE, Stage, kind_of
from eas.ir.text import summarize
from eas.ir.types import (
    BOOL,
    OPAQUE,
    Block,
    DType,
    Pointer,
    Scalar,
    Type,
    broadcast_shapes,
    is_opaque,
    make_type,
)
from eas.support.location import NOWHERE
from eas.support.records import field, frozen, record, replace

Types = tuple[Type, ...]

_type: Callable[[Value], Type] = attrgetter("ty")


class VerifyError(Exception):
    """A function that breaks the contract: what is wrong, and the op at which it is."""

    def __init__(self, message: str, op: Op | None = None) -> None:
        self.message = message
        self.op = op
        self.loc = NOWHERE if op is None else op.loc
        place = "" if self.loc == NOWHERE else f"{self.loc}: "
        super().__init__(message if op is None else f"{place}{message}\n  {summarize(op)}")


def verify(f: Function, stage: Stage = SOURCE) -> None:
    """Raises `VerifyError` if the function breaks the contract, or has what its stage forbids."""
    form = _Form(f.threads, stage)
    form.function(f)
    if len(set(form.numbers)) < len(form.numbers):
        raise _repeated_number(f)
    if form.has_splits:
        _check_splits(f)


def _repeated_number(f: Function) -> VerifyError:
    seen: set[int] = set()
    for op in walk(f.body):
        if op.number in seen:
            return VerifyError("an op before this one has the same number", op)
        seen.add(op.number)
    raise AssertionError("every op has a number of its own")


@frozen
class _Targets:
    """The types that each kind of terminator passes here, None where it is not allowed."""

    yielded: Types | None = None
    tested: Types | None = None
    broken: Types | None = None
    continued: Types | None = None
    scopes: dict[int, Types] = field(default_factory=dict[int, Types])

    def ending(self, passed: Types) -> _Targets:
        """The targets of a region inside that yields."""
        return _Targets(passed, None, self.broken, self.continued, self.scopes)


@record
class _Form:
    """One walk through a function. `visible` are the values that the next op may use."""

    threads: int | None
    stage: Stage
    has_splits: bool = False
    numbers: list[int] = field(default_factory=list[int])
    defined: set[int] = field(default_factory=set[int])
    visible: dict[int, Value] = field(default_factory=dict[int, Value])

    def function(self, f: Function) -> None:
        if f.threads is not None and f.threads < 1:
            raise VerifyError(f"a threadgroup has at least one thread, not {f.threads}")
        arrays = {p.name for p in f.params if isinstance(p.value.ty, Pointer)}
        names: set[str] = set()
        for param in f.params:
            _check_param(param, arrays)
            if param.name in names:
                raise VerifyError(f"two parameters are called `{param.name}`")
            names.add(param.name)
            self.define(param.value, None)
        self.region(f.body, (), _Targets(yielded=()), None)

    def define(self, value: Value, op: Op | None) -> None:
        if value.id in self.defined:
            raise VerifyError(f"%{value.id} is defined twice", op)
        ty = value.ty
        if isinstance(ty, Pointer) and not (op is None or isinstance(op, ir.Alloc)):
            raise VerifyError(f"the pointer %{value.id} is joined or carried", op)
        if self.threads is not None and isinstance(ty, Block) and ty.shape != (self.threads,):
            raise VerifyError(f"{ty} is a block in a function of {self.threads} threads", op)
        self.defined.add(value.id)
        self.visible[value.id] = value

    def use(self, values: Sequence[Value], op: Op) -> None:
        for value in values:
            seen = self.visible.get(value.id)
            if seen is not value and seen != value:
                raise VerifyError(f"%{value.id} {self.trouble(value, seen)}", op)

    def trouble(self, value: Value, seen: Value | None) -> str:
        if seen is not None:
            return f"is used as {value.ty} `{value.hint}`, but is {seen.ty} `{seen.hint}`"
        if value.id in self.defined:
            return "is used outside of the region that defines it"
        return "is used before its definition"

    def region(self, region: Region, entered: Types, targets: _Targets, around: Op | None) -> None:
        """A region of an op, or of the function, that is entered with values of some types."""
        _check_types(region.args, entered, "a region's arguments", around)
        last = region.ops[-1] if region.ops else None
        if not isinstance(last, ir.Terminator):
            raise VerifyError("a region does not end in a terminator", around)
        before = len(self.visible)
        for value in region.args:
            self.define(value, around)
        self.ops(region.ops[:-1], targets)
        self.end(last, targets)
        while len(self.visible) > before:
            self.visible.popitem()

    def ops(self, ops: Sequence[Op], targets: _Targets) -> None:
        has_ended, legal = False, self.stage.nodes
        for op in ops:
            if has_ended:
                raise VerifyError("nothing may follow an `if` whose branches both end in exits", op)
            self.use(operands_of(op), op)
            if type(op) not in legal:
                raise self.illegal(f"a `{type(op).__name__.lower()}`", op)
            self.numbers.append(op.number)
            if isinstance(op, ir.Compute):
                _check_record(op, self.stage)
                self.define(op.result, op)
                continue
            self.op(op, targets)
            for value in results_of(op):
                self.define(value, op)
            has_ended = isinstance(op, ir.If) and _never_ends(op)

    def illegal(self, what: str, op: Op) -> VerifyError:
        return VerifyError(f"{what} is not legal at the stage `{self.stage.name}`", op)

    def end(self, op: ir.Terminator, targets: _Targets) -> None:
        self.use(operands_of(op), op)
        if type(op) not in self.stage.nodes:
            raise self.illegal(f"a `{type(op).__name__.lower()}`", op)
        self.numbers.append(op.number)
        match op:
            case ir.Yield():
                _check_passed(op, targets.yielded, "the test of a `while` ends in a `condition`")
            case ir.Condition():
                _check_passed(
                    op, targets.tested, "only the test of a `while` ends in a `condition`"
                )
                self.condition(op)
            case ir.Break():
                _check_passed(op, targets.broken, "there is no loop here to break")
            case ir.Continue():
                _check_passed(op, targets.continued, "there is no loop here to continue")
            case ir.Leave():
                missing = f"no scope around this has the label {op.label}"
                _check_passed(op, targets.scopes.get(op.label), missing)

    def op(self, op: Op, targets: _Targets) -> None:
        match op:
            case ir.TargetOp():
                _check_record(op, self.stage)
            case ir.Combine():
                self.combine(op)
            case ir.Constant():
                _check_constant(op)
            case ir.Load():
                _check_load(op)
            case ir.Store():
                _check_store(op)
            case ir.Atomic():
                _check_atomic(op)
            case ir.Alloc():
                _check_alloc(op, self.stage)
            case ir.Barrier():
                pass
            case ir.Assert():
                if kind_of(op) not in self.stage.asserts:
                    raise self.illegal(ASSERTS[kind_of(op)], op)
                _check_bool(op.condition, "the condition", op)
                for value in operands_of(op)[1:]:
                    _number(value, "a part of the fault", op)
            case ir.Print():
                for value in operands_of(op):
                    _number(value, "a part", op)
            case ir.If():
                self.branch(op, targets)
            case ir.For():
                self.loop_for(op, targets)
            case ir.While():
                self.loop_while(op, targets)
            case ir.Scope():
                self.scope(op, targets)
            case _:
                raise VerifyError("a terminator stands before the end of its region", op)

    def combine(self, op: ir.Combine) -> None:
        shapes = {value.shape for value in op.operands}
        if len(shapes) != 1 or () in shapes:
            raise VerifyError("the operands are no blocks of one shape", op)
        if len(op.results) != len(op.operands):
            raise VerifyError(f"{len(op.operands)} operands, but {len(op.results)} results", op)
        [shape] = shapes
        dtypes = [_number(value, "an operand", op) for value in op.operands]
        given = shape[:-1] if op.kind == "reduce" else shape
        _check_types(op.results, tuple(make_type(d, given) for d in dtypes), "the results", op)
        for inner in op.body.ops[:-1]:
            if not isinstance(inner, ir.Constant) and not is_elementwise(inner):
                raise VerifyError("the function of a combination only computes with scalars", inner)
        elements = tuple(Scalar(dtype) for dtype in dtypes)
        visible, self.visible = self.visible, {}
        self.region(op.body, (*elements, *elements), _Targets(yielded=elements), op)
        self.visible = visible

    def branch(self, op: ir.If, targets: _Targets) -> None:
        self.condition(op)
        if op.results and _never_ends(op):
            raise VerifyError("an `if` whose branches both end in exits has no results", op)
        inside = targets.ending(_types(op.results))
        self.region(op.then, (), inside, op)
        self.region(op.orelse, (), inside, op)

    def condition(self, op: ir.If | ir.Condition) -> None:
        _check_bool(op.condition, "the condition", op)
        self.has_splits = self.has_splits or op.condition.shape != ()

    def loop_for(self, op: ir.For, targets: _Targets) -> None:
        bound = op.start.ty
        for value in (op.start, op.stop, op.step):
            _check_int(value, "a bound", op)
            if value.ty != bound:
                raise VerifyError(f"the bounds differ in type: {bound} and {value.ty}", op)
        self.has_splits = self.has_splits or isinstance(bound, Block)
        self.trips(op, (bound, *_types(op.inits)), targets)

    def loop_while(self, op: ir.While, targets: _Targets) -> None:
        carried = _types(op.inits)
        # An exit in the test would leave half a trip.
        self.region(op.test, carried, _Targets(tested=carried), op)
        self.trips(op, carried, targets)

    def trips(self, op: ir.Loop, entered: Types, targets: _Targets) -> None:
        carried, results = _types(op.inits), _types(op.results)
        inside = _Targets(carried, None, results, carried, targets.scopes)
        self.region(op.body, entered, inside, op)
        self.region(op.orelse, carried, targets.ending(results), op)

    def scope(self, op: ir.Scope, targets: _Targets) -> None:
        if op.label in targets.scopes:
            raise VerifyError(f"a scope around this has the label {op.label} too", op)
        results = _types(op.results)
        inside = replace(targets.ending(results), scopes={**targets.scopes, op.label: results})
        self.region(op.body, (), inside, op)


def _types(values: Sequence[Value]) -> Types:
    return tuple(map(_type, values))


def _never_ends(op: ir.If) -> bool:
    return all(region.ops and isinstance(region.ops[-1], ir.Exit) for region in regions_of(op))


def _check_param(param: Param, arrays: set[str]) -> None:
    ty = param.value.ty
    if isinstance(ty, Block) or (isinstance(ty, Pointer) and ty.space != "device"):
        raise VerifyError(f"the parameter `{param.name}` is {ty}: no scalar, no array")
    if param.role == "argument":
        if param.array or param.axis:
            raise VerifyError(f"the argument `{param.name}` belongs to the array `{param.array}`")
        return
    if not isinstance(ty, Scalar) or not ty.dtype.is_int:
        raise VerifyError(f"the {param.role} `{param.name}` is {ty}: no integer")
    if param.array not in arrays:
        raise VerifyError(f"the {param.role} `{param.name}` is of no array: `{param.array}`")


def _check_types(values: Sequence[Value], wanted: Types, what: str, op: Op | None) -> None:
    found = _types(values)
    if found != wanted:
        raise VerifyError(f"{what}: {_shown(found)}, but should be {_shown(wanted)}", op)


def _check_passed(op: ir.Terminator, wanted: Types | None, otherwise: str) -> None:
    if wanted is None:
        raise VerifyError(otherwise, op)
    _check_types(op.values, wanted, f"`{type(op).__name__.lower()}`", op)


def _shown(types: Types) -> str:
    return f"({', '.join(map(str, types))})"


def _number(value: Value, what: str, op: Op) -> DType:
    """The dtype of a scalar or block."""
    if isinstance(value.ty, Pointer):
        raise VerifyError(f"{what} is the pointer %{value.id}", op)
    return value.ty.dtype


def _check_bool(value: Value, what: str, op: Op) -> None:
    if _number(value, what, op) != BOOL:
        raise VerifyError(f"{what} should be a bool, not {value.ty}", op)


def _check_int(value: Value, what: str, op: Op) -> None:
    if not _number(value, what, op).is_int:
        raise VerifyError(f"{what} should be an integer, not {value.ty}", op)


def _check_record(op: ir.Compute | ir.TargetOp, stage: Stage) -> None:
    """An op of the stage's table, with the operands and the attributes that its record takes."""
    record, name = op.op, op.op.name
    if stage.ops.get(name) is not record:
        raise VerifyError(f"`{name}` is no op of the stage `{stage.name}`", op)
    if len(op.operands) != len(record.operands):
        wanted = ", ".join(record.operands)
        raise VerifyError(f"`{name}` has {len(op.operands)} operands, but takes ({wanted})", op)
    attrs = dict(op.attrs)
    if tuple(attrs) != record.attrs or len(attrs) != len(op.attrs):
        raise VerifyError(f"the attributes of `{name}` should be ({', '.join(record.attrs)})", op)
    types = _types(op.operands)
    if isinstance(op, ir.Compute) and Pointer in map(type, types):
        for value in op.operands:
            _number(value, "an operand", op)
    _check_result(op, types, attrs)


def _check_result(op: ir.Compute | ir.TargetOp, operands: Types, attrs: Attrs) -> None:
    name, found = op.op.name, None if op.result is None else op.result.ty
    try:
        ty = op.op.typing(operands, attrs)
    except RuleError as error:
        raise VerifyError(f"`{name}` {error.message}", op) from error
    except (TypeError, AttributeError) as error:
        raise VerifyError(f"an attribute of `{name}` is of a wrong kind", op) from error
    if found is not ty and found != ty:
        raise VerifyError(f"the result of `{name}` is {found}, but should be {ty}", op)


def _check_constant(op: ir.Constant) -> None:
    value, ty = op.value, op.result.ty
    if not isinstance(ty, Scalar):
        raise VerifyError(f"a constant should be a scalar, not {ty}", op)
    dtype = ty.dtype
    kind = bool if dtype.is_bool else float if dtype.is_float else int
    if type(value) is not kind:
        raise VerifyError(f"{value!r} is no {dtype}", op)
    if dtype.is_int and not dtype.min <= value <= dtype.max:
        raise VerifyError(f"{value} does not fit in {dtype}", op)


def _check_load(op: ir.Load) -> None:
    element = _check_access(op)
    _check_element(op.result, element, "the result", op)
    if (op.mask is None) != (op.other is None):
        raise VerifyError("a load has a mask and another value, or neither", op)
    if op.other is not None:
        _check_element(op.other, element, "the other value", op)


def _check_store(op: ir.Store) -> None:
    _check_element(op.value, _check_access(op), "the value", op)


def _check_atomic(op: ir.Atomic) -> None:
    element = _check_access(op)
    if (op.kind == "cas") != (op.expected is not None):
        raise VerifyError("a `cas`, and nothing else, has an expected value", op)
    for value, what in ((op.result, "the result"), (op.value, "the value")):
        _check_element(value, element, what, op)
    if op.expected is not None:
        _check_element(op.expected, element, "the expected value", op)


def _check_access(op: ir.Load | ir.Store | ir.Atomic) -> Type:
    """The type of what is read or written."""
    if not isinstance(op.pointer.ty, Pointer):
        raise VerifyError(f"%{op.pointer.id} is {op.pointer.ty}: no pointer", op)
    if is_opaque(op.pointer.ty):
        raise VerifyError(f"no offset leads to an element of {op.pointer.ty}", op)
    _check_int(op.offset, "the offset", op)
    if op.mask is not None:
        _check_bool(op.mask, "the mask", op)
        if op.mask.shape != op.offset.shape:
            raise VerifyError(f"the mask is {op.mask.ty}, the offset is {op.offset.ty}", op)
    return make_type(op.pointer.ty.dtype, op.offset.shape)


def _check_element(value: Value, wanted: Type, what: str, op: Op) -> None:
    if value.ty != wanted:
        raise VerifyError(f"{what} is {value.ty}, but should be {wanted}", op)


def _check_alloc(op: ir.Alloc, stage: Stage) -> None:
    if op.size < 1:
        raise VerifyError(f"memory for {op.size} elements", op)
    ty = op.result.ty
    spaces = ("threadgroup", *OPAQUE) if ir.TargetOp in stage.nodes else ("threadgroup",)
    if not isinstance(ty, Pointer) or ty.space not in spaces:
        raise VerifyError(f"the result is {ty}, but should be a {spaces[0]} pointer", op)


def _check_splits(f: Function) -> None:
    found = divergences(f)
    for op, split in placed(f.body, found):
        if split is not None:
            _check_placed(op, split)
        if isinstance(op, ir.Structured):
            _check_structured(op, split, found[op.number])


def _check_placed(op: Op, split: Split) -> None:
    """An op that some lanes may not reach."""
    is_collective = isinstance(op, ir.Compute) and op.op.collective
    if is_collective or isinstance(op, ir.Barrier | ir.Combine | ir.TargetOp):
        raise VerifyError(f"some lanes may not get here: they are split at {split.loc}", op)
    if not isinstance(op, ir.Compute) or op.op.name != "expand_dims":
        _check_ranks(results_of(op), split, op)
    match op:
        case ir.Load() | ir.Store() | ir.Atomic() | ir.Assert() | ir.Print():
            _check_ranks(operands_of(op), split, op)
        case ir.If() | ir.Condition():
            _check_ranks((op.condition,), split, op)
        case ir.For():
            _check_ranks((op.start,), split, op)
        case _:
            pass


def _check_structured(op: ir.Structured, split: Split | None, divergence: Divergence) -> None:
    """An op that may split lanes by itself."""
    inside = cover(split, divergence.inside)
    for region in regions_of(op):
        _check_ranks(region.args, inside, op)
    _check_join(op, op.results, divergence.results, "result")
    if divergence.carried is not None:
        _check_join(op, _carried(op), divergence.carried, "carried value")
    for _, taken in divergence.exits:
        _check_exit_splits(split, taken, op)
        split = cover(split, taken)


def _check_ranks(values: Sequence[Value], split: Split | None, op: Op) -> None:
    if split is None:
        return
    for value in values:
        shape = value.shape
        if shape != split.shape and broadcast_shapes(shape, split.shape) is None:
            raise VerifyError(
                f"%{value.id} is {value.ty}, but the lanes are split by {list(split.shape)}"
                f" at {split.loc}",
                op,
            )


def _check_exit_splits(a: Split | None, b: Split | None, op: Op) -> None:
    if a is not None and b is not None and broadcast_shapes(a.shape, b.shape) is None:
        raise VerifyError(
            f"lanes leave by {list(a.shape)} at {a.loc} and by {list(b.shape)} at {b.loc}", op
        )


def _carried(op: ir.Structured) -> tuple[Value, ...]:
    match op:
        case ir.For():
            return op.body.args[1:]
        case ir.While():
            return op.test.args
        case ir.If() | ir.Scope():
            return ()


def _check_join(op: ir.Structured, joined: Sequence[Value], join: Join, what: str) -> None:
    """A join of split lanes has a value for each lane, or all paths pass the same value."""
    if join.split is None:
        return
    for value, *passed in zip(joined, *join.paths, strict=True):
        if covers(value.shape, join.split.shape):
            continue
        differ = any(other != passed[0] for other in passed[1:])
        if differ or (passed and what == "result" and _varies(passed[0], op)):
            raise VerifyError(
                f"the {what} %{value.id} is {value.ty}, but lanes that were split by"
                f" {list(join.split.shape)} at {join.split.loc} have different values",
                op,
            )


def _varies(value: Value, op: ir.Structured) -> bool:
    """Whether lanes that leave an op in different trips may have different values of this name."""
    loops = [op] if isinstance(op, ir.Loop) else _loops_in(op)
    return any(value in values_in(region) for loop in loops for region in regions_of(loop))


def _loops_in(op: Op) -> list[ir.Loop]:
    inner = [each for region in regions_of(op) for each in walk(region)]
    return [each for each in inner if isinstance(each, ir.Loop)]

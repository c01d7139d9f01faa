"""All-reduces of whole blocks: in each thread, then in each simdgroup, then across simdgroups.

A thread without an element contributes the identity. All threads get the same result, bit by bit:
uniform control flow may depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.aliasing.lane_domains import element
from eas.ir.aliasing.lane_indices import Indices, make_symbol, of
from eas.ir.nodes import Compute, Value
from eas.ir.ops.reduce import accumulator as accumulator_dtype
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import BF16, BOOL, F32, I32, U32, DType, count
from eas.msl.analysis.numbers import Numbers
from eas.msl.cxx.spelling import converted
from eas.msl.cxx.tree import Node, Shared, Variable
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.shared_arrays import MEMORY, REDUCTION_WORDS, buffer_text
from eas.msl.ops.dtypes import greatest, is_narrow_int, least, literal
from eas.msl.ops.text import Level, Text, call, infix, subscript, ternary
from eas.msl.schedule.steps import ReducePartials, StorePartials
from eas.msl.schedule.threadgroup_arrays import partials_of
from eas.support.records import field, frozen, record

Texts = Sequence[Text]
NO_INDEX = I32.max


@frozen
class Reduction:
    """How a reduction is computed: the dtype and the identity, and the functions for it.

    `better` is the operator that compares two values for `argmax` and `argmin`, else empty.
    """

    name: str
    dtype: DType
    identity: Text
    simd: str
    hint: str
    better: str
    wraps: bool

    def combine(self, texts: Texts) -> Text:
        a, b = texts
        if self.wraps:
            return call(_WRAPPING[self.name], a, b)
        match self.name:
            case "sum":
                return infix("+", a, b, Level.SUM)
            case "prod":
                return infix("*", a, b, Level.PRODUCT)
            case "any":
                return infix("||", a, b, Level.LOGICAL_OR)
            case "all":
                return infix("&&", a, b, Level.LOGICAL_AND)
            case "xor":
                operator, level = (
                    ("!=", Level.EQUALITY) if self.dtype.is_bool else ("^", Level.BIT_XOR)
                )
                return infix(operator, a, b, level)
            case _:
                return call(self.extreme, a, b)

    @property
    def extreme(self) -> str:
        return f"{'f' if self.dtype.is_float else ''}{self.name.removeprefix('arg')}"

    @property
    def is_extreme(self) -> bool:
        return self.name in ("max", "min", "argmax", "argmin")


_SIMD = {
    "sum": "simd_sum",
    "prod": "simd_product",
    "max": "simd_max",
    "min": "simd_min",
    "argmax": "simd_max",
    "argmin": "simd_min",
    "any": "simd_any",
    "all": "simd_all",
    "xor": "simd_xor",
}
_WRAPPING = {"sum": "wrap_add", "prod": "wrap_mul"}


def reduction_of(op: Compute, numbers: Numbers) -> Reduction:
    name = op.op.reduction
    dtype = carried_dtype(name, op.operands[0].ty.dtype)
    wraps = dtype.is_signed and name in _WRAPPING and _may_wrap(op, numbers)
    better = {"argmax": ">", "argmin": "<"}.get(name, "")
    hint = op.result.hint or REDUCTION_WORDS[op.op.reduction]
    return Reduction(name, dtype, _identity(name, dtype), _SIMD[name], hint, better, wraps)


def carried_dtype(name: str, source: DType) -> DType:
    """The dtype of the accumulator for values of another dtype."""
    if name in ("sum", "prod"):
        return F32 if source.is_float else accumulator_dtype(source)
    if source == BF16:
        return F32
    if is_narrow_int(source):
        return I32 if source.is_signed else U32
    return source


def _identity(name: str, dtype: DType) -> Text:
    match name:
        case "max" | "argmax":
            return least(dtype)
        case "min" | "argmin":
            return greatest(dtype)
        case "prod" | "all":
            return literal(1, dtype)
        case _:
            return literal(0, dtype)


def _may_wrap(op: Compute, numbers: Numbers) -> bool:
    """Whether a sum of so many numbers may overflow; a product always may."""
    if op.op.reduction != "sum":
        return True
    dtype, times = op.result.ty.dtype, count(op.operands[0].shape)
    if op.operands[0].ty.dtype.is_bool:
        return times > dtype.max
    least_one, greatest_one = numbers.bounds(op, 0)
    return least_one * times < dtype.min or greatest_one * times > dtype.max


@record
class Accumulator:
    """The variable of a reduction and, for `argmax` and `argmin`, the variable of the index.

    `first` has the initial values while the variables are not declared. If the partials are double
    buffered, `stage` is the stage counter.
    """

    op: Compute
    reduction: Reduction
    value: Variable
    index: Variable | None
    first: list[Node] = field(default_factory=list[Node])
    stage: Variable | None = None

    @property
    def variables(self) -> list[Variable]:
        return [self.value] if self.index is None else [self.value, self.index]


Accumulators = dict[Value, Accumulator]


def make_accumulator(op: Compute, low: Lowering) -> Accumulator:
    reduction = reduction_of(op, low.numbers)
    if reduction.wraps:
        low.helpers.need(_WRAPPING[reduction.name], reduction.dtype)
    if not reduction.better:
        return Accumulator(op, reduction, Variable(reduction.hint, reduction.dtype), None)
    index = Variable(reduction.hint, I32)
    return Accumulator(op, reduction, Variable("best", reduction.dtype), index)


def identity(accumulator: Accumulator, low: Lowering) -> Node:
    return low.leaf(accumulator.reduction.identity, accumulator.reduction.dtype)


def operand(op: Compute, reduction: Reduction, indices: Indices, low: Lowering) -> Node:
    """An element of the operand, in the dtype of the accumulator."""
    source = op.operands[0].ty.dtype
    node = low.value(op.operands[0], indices)
    if source == reduction.dtype:
        return node
    return low.node(reduction.dtype, lambda t: converted(t[0], source, reduction.dtype), [node])


def update(accumulator: Accumulator, node: Node, index: Node, low: Lowering) -> None:
    """Accumulates one element, in the order of the indices."""
    reduction = accumulator.reduction
    if accumulator.index is None:
        combined = low.node(reduction.dtype, reduction.combine, [low.read(accumulator.value), node])
        low.assign([(accumulator.value, combined)], accumulator.op.loc)
        return
    is_better = low.infix(
        reduction.better, node, low.read(accumulator.value), Level.RELATIONAL, BOOL
    )
    with low.branch(is_better, accumulator.op.loc):
        low.assign([(accumulator.value, node), (accumulator.index, index)])


def merge_partial(accumulator: Accumulator, node: Node, index: Node | None, low: Lowering) -> None:
    """Accumulates a partial of other threads: of equal values the one with the lesser index."""
    if accumulator.index is None or index is None:
        update(accumulator, node, node, low)
        return
    better = accumulator.reduction.better

    def is_better(texts: Texts) -> Text:
        value, best, at, best_at = texts
        equal = infix("==", value, best, Level.EQUALITY)
        earlier = infix("<", at, best_at, Level.RELATIONAL)
        tie = infix("&&", equal, earlier, Level.LOGICAL_AND)
        return infix("||", infix(better, value, best, Level.RELATIONAL), tie, Level.LOGICAL_OR)

    known = [low.read(accumulator.value), low.read(accumulator.index)]
    operands = [node, known[0], index, known[1]]
    with low.branch(low.node(BOOL, is_better, operands), accumulator.op.loc):
        low.assign([(accumulator.value, node), (accumulator.index, index)])


def result(accumulator: Accumulator, low: Lowering) -> Node:
    """The result, in its own dtype."""
    return in_own_dtype(accumulator, low.read(accumulator.index or accumulator.value), low)


def in_own_dtype(accumulator: Accumulator, node: Node, low: Lowering) -> Node:
    source, value = accumulator.reduction.dtype, accumulator.op.result
    target = value.ty.dtype
    if accumulator.index is not None or source == target:
        return node
    return low.node(target, lambda t: converted(t[0], source, target), [node], hint=value.hint)


def without_nan(reduction: Reduction, node: Node, low: Lowering) -> Node:
    """An element without NaN: what `simd_max` and `simd_min` do with NaN is not specified."""
    if not reduction.is_extreme or not reduction.dtype.is_float:
        return node
    return low.node(
        reduction.dtype, lambda t: call(reduction.extreme, t[0], reduction.identity), [node]
    )


def first_of(accumulator: Accumulator, node: Node, index: Node, low: Lowering) -> list[Node]:
    """The initial values of a thread with one element."""
    first = without_nan(accumulator.reduction, node, low)
    return [first] if accumulator.index is None else [first, index]


def accumulate(op: Compute, low: Lowering, accumulators: Accumulators) -> None:
    """An item of a loop over elements: each thread reduces its own elements."""
    accumulator = accumulators[op.result] = make_accumulator(op, low)
    node = operand(op, accumulator.reduction, low.domain.indices_of(op.operands[0].shape), low)
    index = low.index(of(element(low.domain.extent)))
    loop = low.loop
    if loop is None:
        accumulator.first = first_of(accumulator, node, index, low)
        return
    with low.ahead():
        low.declare(accumulator.value, identity(accumulator, low), op.loc)
        if accumulator.index is not None:
            first = low.thread() if loop.slots > 1 else low.literal(NO_INDEX, I32)
            low.declare(accumulator.index, first, op.loc)
    if loop.slots > 1:
        update(accumulator, node, index, low)
        return
    pairs = [(accumulator.value, without_nan(accumulator.reduction, node, low))]
    low.assign(pairs if accumulator.index is None else [*pairs, (accumulator.index, index)], op.loc)


def uses_simd(reduction: Reduction, low: Lowering) -> bool:
    """Whether simdgroups reduce: values of 64 bits are shuffled, which needs all 32 lanes."""
    return reduction.dtype.bits < 64 or low.threads % SIMD == 0


def store_partials(
    step: StorePartials, low: Lowering, accumulators: Accumulators, stage: Variable | None
) -> None:
    """The lanes of each simdgroup reduce their values; the first lane stores the partial."""
    states = [accumulators[op.result] for op in step.ops]
    for state in states:
        state.stage = stage
    by_simdgroup = [s for s in states if uses_simd(s.reduction, low) and low.threads > 1]
    for state in states:
        if state in by_simdgroup:
            reduce_simdgroup(state, low)
        else:
            _declare_first(state, low)
    if by_simdgroup and low.threads > SIMD:
        with low.branch(low.builtin("lane", "{lane} == 0", BOOL)):
            for state in by_simdgroup:
                _store_partials(state, low.builtin("simdgroup", "{simdgroup}"), low)
    for state in states:
        if state not in by_simdgroup and low.threads > 1:
            _store_partials(state, low.thread(), low)


def _declare_first(accumulator: Accumulator, low: Lowering) -> None:
    for variable, node in zip(accumulator.variables, accumulator.first, strict=False):
        low.declare(variable, node, accumulator.op.loc)
    accumulator.first = []


def reduce_simdgroup(accumulator: Accumulator, low: Lowering, is_last: bool = False) -> None:
    """Every lane gets the result of its simdgroup; if it `is_last`, only the index of the best."""
    reduction, loc = accumulator.reduction, accumulator.op.loc
    is_new = bool(accumulator.first)
    own = accumulator.first or [low.read(variable) for variable in accumulator.variables]
    reduced = low.node(reduction.dtype, simd_function(reduction, low), own[:1])
    if accumulator.index is None:
        if is_new:
            low.declare(accumulator.value, reduced, loc)
        else:
            low.assign([(accumulator.value, reduced)], loc)
    elif is_new:
        low.declare(accumulator.value, reduced, loc)
        low.declare(accumulator.index, _least_index(own, accumulator.value, low), loc)
    else:
        best = Variable("simd_best", reduction.dtype)
        low.declare(best, reduced, loc)
        low.assign([(accumulator.index, _least_index(own, best, low))], loc)
        if not is_last:
            low.assign([(accumulator.value, low.read(best))], loc)
    accumulator.first = []


def _least_index(own: list[Node], best: Variable, low: Lowering) -> Node:
    """The least index among the lanes that have the best value."""

    def spell(texts: Texts) -> Text:
        is_best = infix("==", texts[0], texts[2], Level.EQUALITY)
        return call("simd_min", ternary(is_best, texts[1], literal(NO_INDEX, I32)))

    return low.node(I32, spell, [*own, low.read(best)])


def simd_function(reduction: Reduction, low: Lowering) -> Callable[[Texts], Text]:
    if reduction.dtype.bits == 64:
        name = low.helpers.need(f"{reduction.simd}_64", reduction.dtype)
        return lambda t: call(name, t[0])
    if reduction.name == "xor" and reduction.dtype.is_bool:
        return lambda t: infix(
            "!=", call("simd_xor", call("uint", t[0])), Text("0u"), Level.EQUALITY
        )
    if reduction.wraps:
        return lambda t: as_unsigned(reduction.simd, t[0])
    return lambda t: call(reduction.simd, t[0])


def as_unsigned(function: str, text: Text) -> Text:
    """A function of an `int`, computed unsigned: that wraps, while signed overflow is undefined."""
    return call("as_type<int>", call(function, call("as_type<uint>", text)))


def _store_partials(accumulator: Accumulator, place: Node, low: Lowering) -> None:
    for shared, variable in zip(_partials(accumulator, low), accumulator.variables, strict=True):
        low.put(shared, place, low.read(variable), accumulator.op.loc, accumulator.stage)


def _partials(accumulator: Accumulator, low: Lowering) -> list[Shared]:
    """The arrays of partials: one per simdgroup, or one per thread if lanes cannot shuffle."""
    threads = low.threads
    size = -(-threads // SIMD) if uses_simd(accumulator.reduction, low) else threads
    return partial_arrays(accumulator, size, low)


def partial_arrays(accumulator: Accumulator, size: int, low: Lowering) -> list[Shared]:
    arrays, buffers = partials_of(accumulator.op), 1 if accumulator.stage is None else 2
    return [
        low.threadgroup_array(
            array, f"{variable.hint}_partial", variable.dtype, size, buffers=buffers
        )
        for array, variable in zip(arrays, accumulator.variables, strict=True)
    ]


def reduce_partials(step: ReducePartials, low: Lowering, accumulators: Accumulators) -> None:
    """Every thread reduces the partials of all simdgroups."""
    partials = -(-low.threads // SIMD)
    for op in step.ops:
        accumulator = accumulators[op.result]
        has_simd = uses_simd(accumulator.reduction, low)
        if low.threads > 1 and (partials > 1 or not has_simd):
            if has_simd and low.threads % SIMD == 0:
                _reduce_by_lanes(accumulator, partials, low)
            else:
                _reduce_serially(accumulator, low)
        low.define(op.result, result(accumulator, low))
    stage = accumulators[step.ops[0].result].stage
    if stage is not None:
        after = low.infix("+", low.read(stage), low.literal(1, I32), Level.SUM, I32)
        low.assign([(stage, after)], step.ops[-1].loc)


def _reduce_by_lanes(accumulator: Accumulator, partials: int, low: Lowering) -> None:
    """Each simdgroup reads all partials, a lane each, so that no second barrier is needed."""
    nodes = partials_of_lane(accumulator, _partials(accumulator, low), partials, low)
    if accumulator.index is None:
        reduction = accumulator.reduction
        reduced = low.node(reduction.dtype, simd_function(reduction, low), nodes)
        low.assign([(accumulator.value, reduced)], accumulator.op.loc)
        return
    low.assign(list(zip(accumulator.variables, nodes, strict=True)), accumulator.op.loc)
    reduce_simdgroup(accumulator, low, is_last=True)


def partials_of_lane(
    accumulator: Accumulator,
    arrays: list[Shared],
    partials: int,
    low: Lowering,
    start: Node | None = None,
) -> list[Node]:
    """A partial for each lane, from index `start` on; the identity for the other lanes."""
    firsts = [accumulator.reduction.identity, literal(NO_INDEX, I32)]
    pairs = zip(arrays, firsts, strict=False)
    stage = accumulator.stage
    return [_partial_of_lane(shared, first, partials, low, start, stage) for shared, first in pairs]


def _partial_of_lane(
    shared: Shared,
    first: Text,
    partials: int,
    low: Lowering,
    start: Node | None,
    stage: Variable | None,
) -> Node:
    low.builtins.add("lane")

    def spell(texts: Texts) -> Text:
        lane = low.names["lane"]
        place = f"{texts[0].at(Level.SUM)} + int({lane})" if texts else lane
        partial = subscript(buffer_text(shared, stage), place)
        if partials == SIMD:
            return partial
        return ternary(Text(f"{lane} < {partials}", Level.RELATIONAL), partial, first)

    operands, reads = [] if start is None else [start], frozenset[object]({shared, MEMORY, stage})
    return low.node(shared.dtype, spell, operands, scope=low.block, reads=reads)


def _reduce_serially(accumulator: Accumulator, low: Lowering) -> None:
    """Where threads do not fill their simdgroups, each thread loops over the partials."""
    arrays = _partials(accumulator, low)
    zero = low.literal(0, I32)
    firsts = [low.element(shared, zero) for shared in arrays]
    low.assign(list(zip(accumulator.variables, firsts, strict=True)), accumulator.op.loc)
    with low.counting(
        make_symbol("partial", arrays[0].size), start=1, loc=accumulator.op.loc
    ) as partial:
        index = low.element(arrays[1], partial) if accumulator.index is not None else None
        merge_partial(accumulator, low.element(arrays[0], partial), index, low)

"""Reductions of whole blocks: in each thread, then in each simdgroup, then across them.

Threads that have no element of a block contribute what changes nothing. All threads end with the
same result, bit by bit: control flow may depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.aliasing.lane_domains import element
from eas.ir.aliasing.lane_indices import Indices, make_symbol, of
from eas.ir.nodes import Compute, Value
from eas.ir.ops.reduce import accumulator
from eas.ir.types import BF16, BOOL, F32, I32, U32, DType, count
from eas.msl.cxx.spelling import converted
from eas.msl.cxx.tree import Node, Shared, Variable
from eas.msl.layout.layout import SIMD
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.shared_arrays import MEMORY, REDUCTION_WORDS, half_name
from eas.msl.ops.dtypes import greatest, is_narrow_int, least, literal
from eas.msl.ops.text import Level, Text, call, infix, subscript, ternary
from eas.msl.schedule.steps import Join, Total, partial_names
from eas.support.records import field, frozen, record

Texts = Sequence[Text]
NO_INDEX = I32.max


@frozen
class Kind:
    """How a reduction is computed: in which dtype, from where on, with which functions.

    `better` compares two values for `argmax` and `argmin`; it is empty for the others.
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
        match self.name:
            case "sum":
                return call("wrap_add", a, b) if self.wraps else infix("+", a, b, Level.SUM)
            case "prod":
                return call("wrap_mul", a, b) if self.wraps else infix("*", a, b, Level.PRODUCT)
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


def kind_of(op: Compute, low: Lowering) -> Kind:
    name = op.op.name.removeprefix("reduce_")
    dtype = carried_dtype(name, op.operands[0].ty.dtype)
    wraps = dtype.is_signed and name in ("sum", "prod") and _may_wrap(op, low)
    if wraps:
        low.helpers.need("wrap_add" if name == "sum" else "wrap_mul", dtype)
    better = {"argmax": ">", "argmin": "<"}.get(name, "")
    hint = op.result.hint or REDUCTION_WORDS[op.op.name]
    return Kind(name, dtype, _identity(name, dtype), _SIMD[name], hint, better, wraps)


def carried_dtype(name: str, source: DType) -> DType:
    """The dtype in which values of another are carried along."""
    if name in ("sum", "prod"):
        return F32 if source.is_float else accumulator(source)
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


def _may_wrap(op: Compute, low: Lowering) -> bool:
    """Whether a sum of that many numbers may leave its dtype; of products nothing is known."""
    if op.op.name != "reduce_sum":
        return True
    dtype, times = op.result.ty.dtype, count(op.operands[0].shape)
    if op.operands[0].ty.dtype.is_bool:
        return times > dtype.max
    least_one, greatest_one = low.numbers.bounds(op, 0)
    return least_one * times < dtype.min or greatest_one * times > dtype.max


@record
class Running:
    """The variable with the value so far and, for `argmax` and `argmin`, that with its index.

    `first` is what each thread begins with, as long as the variables are not declared. Where shares
    have two places, `turn` counts.
    """

    op: Compute
    kind: Kind
    value: Variable
    index: Variable | None
    first: list[Node] = field(default_factory=list[Node])
    turn: Variable | None = None

    @property
    def variables(self) -> list[Variable]:
        return [self.value] if self.index is None else [self.value, self.index]


Runnings = dict[Value, Running]


def begin(op: Compute, low: Lowering) -> Running:
    kind = kind_of(op, low)
    if not kind.better:
        return Running(op, kind, Variable(kind.hint, kind.dtype), None)
    index = Variable(kind.hint, I32)
    return Running(op, kind, Variable("best", kind.dtype), index)


def identity(running: Running, low: Lowering) -> Node:
    return low.leaf(running.kind.identity, running.kind.dtype)


def operand(op: Compute, kind: Kind, indices: Indices, low: Lowering) -> Node:
    """An element of what is reduced, in the dtype that it is reduced in."""
    source = op.operands[0].ty.dtype
    node = low.value(op.operands[0], indices)
    if source == kind.dtype:
        return node
    return low.node(kind.dtype, lambda t: converted(t[0], source, kind.dtype), [node])


def take(running: Running, node: Node, index: Node, low: Lowering) -> None:
    """Takes one more element in, in the order of the indices."""
    kind = running.kind
    if running.index is None:
        combined = low.node(kind.dtype, kind.combine, [low.read(running.value), node])
        low.assign([(running.value, combined)], running.op.loc)
        return
    is_better = low.infix(kind.better, node, low.read(running.value), Level.RELATIONAL, BOOL)
    with low.branch(is_better, running.op.loc):
        low.assign([(running.value, node), (running.index, index)])


def take_share(running: Running, node: Node, index: Node | None, low: Lowering) -> None:
    """Takes in what others have found: of equal ones that with the lesser index."""
    if running.index is None or index is None:
        take(running, node, node, low)
        return
    better = running.kind.better

    def is_better(texts: Texts) -> Text:
        value, best, at, best_at = texts
        equal = infix("==", value, best, Level.EQUALITY)
        earlier = infix("<", at, best_at, Level.RELATIONAL)
        tie = infix("&&", equal, earlier, Level.LOGICAL_AND)
        return infix("||", infix(better, value, best, Level.RELATIONAL), tie, Level.LOGICAL_OR)

    known = [low.read(running.value), low.read(running.index)]
    operands = [node, known[0], index, known[1]]
    with low.branch(low.node(BOOL, is_better, operands), running.op.loc):
        low.assign([(running.value, node), (running.index, index)])


def result(running: Running, low: Lowering) -> Node:
    """The result, in its own dtype."""
    return in_own_dtype(running, low.read(running.index or running.value), low)


def in_own_dtype(running: Running, node: Node, low: Lowering) -> Node:
    source, value = running.kind.dtype, running.op.result
    target = value.ty.dtype
    if running.index is not None or source == target:
        return node
    return low.node(target, lambda t: converted(t[0], source, target), [node], hint=value.hint)


def without_nan(kind: Kind, node: Node, low: Lowering) -> Node:
    """An element that is no NaN: what `simd_max` does with those is not specified."""
    if not kind.is_extreme or not kind.dtype.is_float:
        return node
    return low.node(kind.dtype, lambda t: call(kind.extreme, t[0], kind.identity), [node])


def first_of(running: Running, node: Node, index: Node, low: Lowering) -> list[Node]:
    """What a thread with one element begins with."""
    first = without_nan(running.kind, node, low)
    return [first] if running.index is None else [first, index]


def accumulate(op: Compute, low: Lowering, runnings: Runnings) -> None:
    """An item of a loop over elements: each thread reduces its own elements."""
    running = runnings[op.result] = begin(op, low)
    node = operand(op, running.kind, low.domain.indices_of(op.operands[0].shape), low)
    index = low.index(of(element(low.domain.extent)))
    loop = low.loop
    if loop is None:
        running.first = first_of(running, node, index, low)
        return
    with low.ahead():
        low.declare(running.value, identity(running, low), op.loc)
        if running.index is not None:
            first = low.thread() if loop.slots > 1 else low.literal(NO_INDEX, I32)
            low.declare(running.index, first, op.loc)
    if loop.slots > 1:
        take(running, node, index, low)
        return
    pairs = [(running.value, without_nan(running.kind, node, low))]
    low.assign(pairs if running.index is None else [*pairs, (running.index, index)], op.loc)


def uses_simd(kind: Kind, low: Lowering) -> bool:
    """64 bits are shuffled, which takes all 32 lanes of a simdgroup."""
    return kind.dtype.bits < 64 or low.threads % SIMD == 0


def join(step: Join, low: Lowering, runnings: Runnings, turn: Variable | None) -> None:
    """The lanes of a simdgroup put their shares together; the first passes the result on."""
    states = [runnings[op.result] for op in step.ops]
    for state in states:
        state.turn = turn
    by_simdgroup = [s for s in states if uses_simd(s.kind, low) and low.threads > 1]
    for state in states:
        if state in by_simdgroup:
            across_simdgroup(state, low)
        else:
            _declare_first(state, low)
    if by_simdgroup and low.threads > SIMD:
        with low.branch(low.builtin("lane", "{lane} == 0", BOOL)):
            for state in by_simdgroup:
                _put_shares(state, low.builtin("simdgroup", "{simdgroup}"), low)
    for state in states:
        if state not in by_simdgroup and low.threads > 1:
            _put_shares(state, low.thread(), low)


def _declare_first(running: Running, low: Lowering) -> None:
    for variable, node in zip(running.variables, running.first, strict=False):
        low.declare(variable, node, running.op.loc)
    running.first = []


def across_simdgroup(running: Running, low: Lowering, is_last: bool = False) -> None:
    """Every lane gets the result of its simdgroup; of the last time only the result counts."""
    kind, loc = running.kind, running.op.loc
    is_new = bool(running.first)
    own = running.first or [low.read(variable) for variable in running.variables]
    reduced = low.node(kind.dtype, simd_function(kind, low), own[:1])
    if running.index is None:
        if is_new:
            low.declare(running.value, reduced, loc)
        else:
            low.assign([(running.value, reduced)], loc)
    elif is_new:
        low.declare(running.value, reduced, loc)
        low.declare(running.index, _least_index(own, running.value, low), loc)
    else:
        best = Variable("simd_best", kind.dtype)
        low.declare(best, reduced, loc)
        low.assign([(running.index, _least_index(own, best, low))], loc)
        if not is_last:
            low.assign([(running.value, low.read(best))], loc)
    running.first = []


def _least_index(own: list[Node], best: Variable, low: Lowering) -> Node:
    """The least index among the lanes that have the best value."""

    def spell(texts: Texts) -> Text:
        is_best = infix("==", texts[0], texts[2], Level.EQUALITY)
        return call("simd_min", ternary(is_best, texts[1], literal(NO_INDEX, I32)))

    return low.node(I32, spell, [*own, low.read(best)])


def simd_function(kind: Kind, low: Lowering) -> Callable[[Texts], Text]:
    if kind.dtype.bits == 64:
        name = low.helpers.need(f"{kind.simd}_64", kind.dtype)
        return lambda t: call(name, t[0])
    if kind.name == "xor" and kind.dtype.is_bool:
        return lambda t: infix(
            "!=", call("simd_xor", call("uint", t[0])), Text("0u"), Level.EQUALITY
        )
    if kind.wraps:
        return lambda t: as_unsigned(kind.simd, t[0])
    return lambda t: call(kind.simd, t[0])


def as_unsigned(function: str, text: Text) -> Text:
    """A function of an `int` that wraps, as unsigned numbers do: signed ones must not overflow."""
    return call("as_type<int>", call(function, call("as_type<uint>", text)))


def _put_shares(running: Running, place: Node, low: Lowering) -> None:
    for shared, variable in zip(_partials(running, low), running.variables, strict=True):
        low.put(shared, place, low.read(variable), running.op.loc, running.turn)


def _partials(running: Running, low: Lowering) -> list[Shared]:
    """An array for shares, as many as simdgroups, or as threads where 64 bits are not shuffled."""
    threads = low.threads
    size = -(-threads // SIMD) if uses_simd(running.kind, low) else threads
    return partial_arrays(running, size, low)


def partial_arrays(running: Running, size: int, low: Lowering) -> list[Shared]:
    names, halves = partial_names(running.op), 1 if running.turn is None else 2
    return [
        low.share(name, f"{variable.hint}_partial", variable.dtype, size, halves=halves)
        for name, variable in zip(names, running.variables, strict=True)
    ]


def total(step: Total, low: Lowering, runnings: Runnings) -> None:
    """Every thread puts the shares of all simdgroups together."""
    shares = -(-low.threads // SIMD)
    for op in step.ops:
        running = runnings[op.result]
        has_simd = uses_simd(running.kind, low)
        if low.threads > 1 and (shares > 1 or not has_simd):
            if has_simd and low.threads % SIMD == 0:
                _total_by_lanes(running, shares, low)
            else:
                _total_in_turn(running, low)
        low.define(op.result, result(running, low))
    turn = runnings[step.ops[0].result].turn
    if turn is not None:
        after = low.infix("+", low.read(turn), low.literal(1, I32), Level.SUM, I32)
        low.assign([(turn, after)], step.ops[-1].loc)


def _total_by_lanes(running: Running, shares: int, low: Lowering) -> None:
    """Each simdgroup reads all shares, a lane each, so that no second barrier is needed."""
    nodes = shares_of_lane(running, _partials(running, low), shares, low)
    if running.index is None:
        kind = running.kind
        reduced = low.node(kind.dtype, simd_function(kind, low), nodes)
        low.assign([(running.value, reduced)], running.op.loc)
        return
    low.assign(list(zip(running.variables, nodes, strict=True)), running.op.loc)
    across_simdgroup(running, low, is_last=True)


def shares_of_lane(
    running: Running, arrays: list[Shared], shares: int, low: Lowering, start: Node | None = None
) -> list[Node]:
    """One of some shares for each lane, those from a place on; for other lanes the identity."""
    firsts = [running.kind.identity, literal(NO_INDEX, I32)]
    pairs = zip(arrays, firsts, strict=False)
    turn = running.turn
    return [_share_of_lane(shared, first, shares, low, start, turn) for shared, first in pairs]


def _share_of_lane(
    shared: Shared,
    first: Text,
    shares: int,
    low: Lowering,
    start: Node | None,
    turn: Variable | None,
) -> Node:
    low.builtins.add("lane")

    def spell(texts: Texts) -> Text:
        lane = low.names["lane"]
        place = f"{texts[0].at(Level.SUM)} + int({lane})" if texts else lane
        share = subscript(half_name(shared, turn), place)
        if shares == SIMD:
            return share
        return ternary(Text(f"{lane} < {shares}", Level.RELATIONAL), share, first)

    operands, reads = [] if start is None else [start], frozenset[object]({shared, MEMORY, turn})
    return low.node(shared.dtype, spell, operands, home=low.block, reads=reads)


def _total_in_turn(running: Running, low: Lowering) -> None:
    """Where threads fill no simdgroup, each reads the shares one after the other."""
    arrays = _partials(running, low)
    zero = low.literal(0, I32)
    firsts = [low.element(shared, zero) for shared in arrays]
    low.assign(list(zip(running.variables, firsts, strict=True)), running.op.loc)
    with low.counting(make_symbol("share", arrays[0].size), start=1, loc=running.op.loc) as share:
        index = low.element(arrays[1], share) if running.index is not None else None
        take_share(running, low.element(arrays[0], share), index, low)

"""Reductions by a function of the user's: in each thread, in each simdgroup, across simdgroups.

Such a function has no identity, so threads without an element do not participate. The participants
are always the first threads.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from eas.ir.aliasing.lane_domains import element
from eas.ir.aliasing.lane_indices import fixed, make_symbol, of
from eas.ir.nodes import Combine, Compute, Constant, Region, Value, Yield
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import BF16, BOOL, I32, U32, DType, count
from eas.msl.cxx.spelling import Spelling, spell
from eas.msl.cxx.tree import Block, Loop, Node, Shared, Variable
from eas.msl.layout.layout import combined_indices, combined_symbol
from eas.msl.lower.lowering import Lowering
from eas.msl.lower.shared_arrays import MEMORY
from eas.msl.ops.dtypes import type_name
from eas.msl.ops.text import Level, Text, call, infix, subscript
from eas.msl.schedule.steps import crosses_simdgroups
from eas.msl.schedule.threadgroup_arrays import partials
from eas.support.location import Loc
from eas.support.records import field, record

Nodes = Sequence[Node]
Texts = Sequence[Text]


@record
class State:
    """The accumulators of a thread: a variable for each operand."""

    op: Combine
    variables: list[Variable] = field(default_factory=list[Variable])

    def read(self, low: Lowering) -> list[Node]:
        return [low.read(variable) for variable in self.variables]


States = dict[Value, State]


def make_state(op: Combine, word: str) -> State:
    values = zip(op.results, op.operands, strict=True)
    return State(op, [Variable(v.hint.strip("_") or word, o.ty.dtype) for v, o in values])


def apply(body: Region, first: Nodes, second: Nodes, low: Lowering) -> list[Node]:
    """The results of the function for two elements of each block."""
    known = dict(zip(body.args, (*first, *second), strict=True))
    for op in body.ops:
        if isinstance(op, Constant):
            known[op.result] = low.literal(op.value, op.result.ty.dtype)
        elif isinstance(op, Compute):
            known[op.result] = _compute(op, [known[v] for v in op.operands], low)
    assert isinstance(body.terminator, Yield)
    return [known[value] for value in body.terminator.values]


def _compute(op: Compute, operands: Nodes, low: Lowering) -> Node:
    spelling = Spelling(op, low.numbers, low.helpers, low.function.fast_math)
    node = low.node(
        op.result.ty.dtype,
        lambda texts: spell(spelling, texts),
        operands,
        scope=low.block,
        hint=op.result.hint,
        loc=op.loc,
    )
    if op.op.name == "and" and op.result.ty.dtype.is_bool:
        node.conjuncts = tuple(operands)
    return node


def update(state: State, first: Nodes, second: Nodes, low: Lowering) -> None:
    """Assigns the results for two elements to the variables."""
    given = apply(state.op.body, first, second, low)
    low.assign(list(zip(state.variables, given, strict=True)), state.op.loc)


def accumulate(op: Combine, low: Lowering, states: States) -> None:
    """An item of a loop over elements: each thread reduces its own elements."""
    state = states[op.results[0]] = make_state(op, "combined")
    nodes = [low.at(value) for value in op.operands]
    if low.loop is None:
        declare(state, nodes, low)
        return
    with low.ahead():
        declare(state, [low.literal(0, v.dtype) for v in state.variables], low)
    if low.loop.slots == 1:
        low.assign(list(zip(state.variables, nodes, strict=True)), op.loc)
        return
    place = low.index(of(element(low.domain.extent)))
    is_first = low.infix("==", place, low.thread(), Level.EQUALITY, BOOL)
    taken = apply(op.body, state.read(low), nodes, low)
    given = [choose(is_first, node, other, low) for node, other in zip(nodes, taken, strict=True)]
    low.assign(list(zip(state.variables, given, strict=True)), op.loc)


def choose(condition: Node, node: Node, other: Node, low: Lowering) -> Node:
    def spell_choice(texts: Texts) -> Text:
        test, a, b = (text.at(Level.LOGICAL_OR) for text in texts)
        return Text(f"{test} ? {a} : {b}", Level.TERNARY)

    return low.node(node.dtype, spell_choice, [condition, node, other], scope=low.block)


def declare(state: State, nodes: Nodes, low: Lowering) -> None:
    for variable, node in zip(state.variables, nodes, strict=True):
        low.declare(variable, node, state.op.loc)


def serial(op: Combine, low: Lowering) -> None:
    """An item of a loop over the results."""
    state = make_state(op, "combined")
    indices = low.domain.indices_of(op.results[0].shape)
    first = combined_indices(indices, fixed(0))
    declare(state, [low.value(v, first) for v in op.operands], low)
    along = combined_indices(indices, of(combined_symbol(op)))
    with low.counting(combined_symbol(op), start=1, loc=op.loc):
        update(state, state.read(low), [low.value(v, along) for v in op.operands], low)
    for value, node in zip(op.results, state.read(low), strict=True):
        low.define(value, node)


def store_partials(op: Combine, low: Lowering, states: States) -> None:
    """The lanes of each simdgroup reduce their values; the first lane stores the partial."""
    state, participants = states[op.results[0]], count_participants(op, low)
    if low.threads == 1:
        return
    is_whole = participants % SIMD == 0
    place = low.thread()
    fold_lanes(
        state,
        SIMD if participants > SIMD else participants,
        None if is_whole else place,
        participants,
        low,
    )
    if crosses_simdgroups(low.threads):
        with low.branch(_stores_partial(participants, low), op.loc):
            for shared, node in zip(partial_arrays(op, low), state.read(low), strict=True):
                low.put(shared, low.builtin("simdgroup", "{simdgroup}"), node, op.loc)


def _stores_partial(participants: int, low: Lowering) -> Node:
    """Whether a thread is the first lane of a simdgroup that has elements."""
    is_first = low.builtin("lane", "{lane} == 0", BOOL)
    if -(-participants // SIMD) == -(-low.threads // SIMD):
        return is_first
    limit = low.literal(participants, I32)
    return and_(is_first, low.infix("<", low.thread(), limit, Level.RELATIONAL, BOOL), low)


def reduce_partials(op: Combine, low: Lowering, states: States) -> None:
    """Every thread gets the result: each simdgroup reduces all partials, a lane each."""
    state, partials = states[op.results[0]], -(-count_participants(op, low) // SIMD)
    if crosses_simdgroups(low.threads) and (low.threads % SIMD or partials == 1):
        _reduce_serially(state, low)
    elif crosses_simdgroups(low.threads):
        nodes = [partial_of_lane(shared, partials, low) for shared in partial_arrays(op, low)]
        low.assign(list(zip(state.variables, nodes, strict=True)), op.loc)
        lane = low.builtin("lane", "int({lane})")
        fold_lanes(state, partials, None if partials == SIMD else lane, partials, low)
    for value, variable in zip(op.results, state.variables, strict=True):
        node = low.read(variable)
        if low.threads > 1:
            first = Variable(value.hint or "result", value.ty.dtype)
            low.declare(first, shuffled("simd_broadcast_first", node, None, low), op.loc)
            node = low.read(first)
        low.define(value, node)


def _reduce_serially(state: State, low: Lowering) -> None:
    """Each thread loops over the partials: the last simdgroup may have fewer lanes than those."""
    op, arrays = state.op, partial_arrays(state.op, low)
    firsts = [low.element(shared, low.literal(0, I32)) for shared in arrays]
    low.assign(list(zip(state.variables, firsts, strict=True)), op.loc)
    if arrays[0].size == 1:
        return
    with low.counting(make_symbol("partial", arrays[0].size), start=1, loc=op.loc) as partial:
        update(state, state.read(low), [low.element(shared, partial) for shared in arrays], low)


def count_participants(op: Combine, low: Lowering) -> int:
    """The number of threads that have an element."""
    return min(low.threads, count(op.operands[0].shape))


def fold_lanes(state: State, width: int, place: Node | None, most: int, low: Lowering) -> None:
    """Reduces the values of `width` lanes to the first lane.

    Lanes whose `place` is not below `most` have no value; without a `place` all lanes have one.
    """
    start = 1 << max((width - 1).bit_length() - 1, 0)
    if width < 2:
        return
    with distances(start, "> 0", "/= 2", low, state.op.loc) as distance:
        others = fetch(state, *_lane_at(distance, low), low)
        if place is None:
            update(state, state.read(low), others, low)
            return
        reach = low.infix("+", place, as_int(distance, low), Level.SUM, I32)
        limit = low.literal(most, I32)
        with low.branch(low.infix("<", reach, limit, Level.RELATIONAL, BOOL), state.op.loc):
            update(state, state.read(low), others, low)


def _lane_at(distance: Node, low: Lowering) -> tuple[str, Node]:
    """The function that reads from a lane at a distance, and its argument.

    Reading from a lane that does not exist is undefined in Metal: the last lane replaces it.
    """
    if low.threads % SIMD == 0:
        return "simd_shuffle_down", distance

    def spell_lane(texts: Texts) -> Text:
        reach = infix("+", texts[0], texts[1], Level.SUM)
        there = call("min", reach, Text(str(low.threads - 1)))
        return call("ushort", infix("%", there, Text(str(SIMD)), Level.PRODUCT))

    operands = [low.thread(), as_int(distance, low)]
    return "simd_shuffle", low.node(I32, spell_lane, operands, scope=low.block)


def as_int(distance: Node, low: Lowering) -> Node:
    return low.node(I32, lambda texts: texts[0], [distance], scope=low.block, plain=True)


@contextmanager
def distances(start: int, test: str, step: str, low: Lowering, loc: Loc) -> Generator[Node]:
    """A loop over the distances between lanes that exchange values."""
    body, counter = Block(low.block, is_loop=True), Variable("lane_delta", U32)

    def head(_: object) -> str:
        name = counter.name
        return f"for (ushort {name} = {start}; {name} {test}; {name} {step})"

    with low.inside(body):
        yield low.read(counter)
    low.emit(Loop([], loc=loc, spell=head, body=body, counters=[counter]))


def fetch(state: State, function: str, distance: Node, low: Lowering) -> list[Node]:
    """The values of another lane; all lanes execute the shuffle, whether they use it or not."""
    found: list[Node] = []
    for variable in state.variables:
        other = Variable(f"other_{variable.hint}", variable.dtype)
        low.declare(other, shuffled(function, low.read(variable), distance, low), state.op.loc)
        found.append(low.read(other))
    return found


def shuffled(function: str, node: Node, distance: Node | None, low: Lowering) -> Node:
    """A value of another lane. Metal shuffles numbers of up to 32 bits, and vectors of those."""
    there, back = _carrier(node.dtype)

    def spell_shuffle(texts: Texts) -> Text:
        value = call(there, texts[0]) if there else texts[0]
        moved = call(function, value, *texts[1:])
        return call(back, moved) if back else moved

    operands = [node] if distance is None else [node, distance]
    return low.node(node.dtype, spell_shuffle, operands, scope=low.block)


def _carrier(dtype: DType) -> tuple[str, str]:
    """The conversions of a value before and after a shuffle."""
    own = type_name(dtype)
    if dtype.is_bool:
        return "ushort", "bool"
    if dtype == BF16:
        return "as_type<ushort>", "as_type<bfloat>"
    return ("as_type<uint2>", f"as_type<{own}>") if dtype.bits == 64 else ("", "")


def partial_arrays(op: Combine, low: Lowering, size: int = 0) -> list[Shared]:
    """An array of partials for each operand."""
    size = size or -(-count_participants(op, low) // SIMD)
    arrays: list[Shared] = []
    for value, operand in zip(op.results, op.operands, strict=True):
        hint = f"{value.hint.strip('_') or 'combined'}_partial"
        arrays.append(low.threadgroup_array(partials(value), hint, operand.ty.dtype, size))
    return arrays


def partial_of_lane(shared: Shared, partials: int, low: Lowering) -> Node:
    low.builtins.add("lane")
    lane = low.names["lane"]
    place = lane if partials == SIMD else f"min({lane}, {partials - 1}u)"
    return low.node(
        shared.dtype,
        lambda _: subscript(shared.name, place),
        scope=low.block,
        reads=frozenset({shared, MEMORY}),
    )


def and_(a: Node, b: Node, low: Lowering) -> Node:
    return low.node(
        BOOL, lambda t: infix("&&", t[0], t[1], Level.LOGICAL_AND), [a, b], scope=low.block
    )

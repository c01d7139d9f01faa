"""In-bounds guards: where in a domain masks are known to be true, so that it needs none there.

The lanes where all guards hold are the interior of the domain."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.aliasing.affine_forms import own_indices
from eas.ir.nodes import (
    Atomic,
    Compute,
    If,
    Load,
    Op,
    Store,
    Value,
    is_view,
    operands_of,
)
from eas.ir.types import Shape
from eas.llvm.analysis.facts import MODS, Facts, defined_inside, with_inner
from eas.llvm.emit.emit import V, const
from eas.llvm.lanes.addresses import widened
from eas.llvm.lanes.coordinates import ZERO
from eas.llvm.lanes.lane_values import number
from eas.llvm.lanes.vector_body import Body
from eas.support.records import frozen, replace

Coefficients = dict[int, int]  # of a lane's coordinates, by axis

_SWAPPED = {"gt": "lt", "ge": "le"}


@frozen
class Guard:
    """A comparison `index < bound` (or `<=`) whose index increases by one along one axis.

    If `is_lower`, it is `bound < index`. `axes_by_rank` has pairs of a rank and the axis that the
    index lies along in blocks of that rank, where the comparison is used.
    """

    index: Value
    bound: Value | None  # None: zero
    is_closed: bool
    axis: int
    is_lower: bool = False
    axes_by_rank: frozenset[tuple[int, int]] = frozenset()

    def is_along(self, shape: Shape, axis: int) -> bool:
        """Whether the index increases along an axis of a domain, and is not broadcast along it."""
        is_broadcast = self.index.shape[self.axis] != shape[axis]
        return self.axis_in(len(shape)) == axis and not is_broadcast

    def axis_in(self, rank: int) -> int | None:
        """The axis that it lies along in blocks of a rank, if there is only one."""
        axes = [axis for many, axis in self.axes_by_rank if many == rank]
        return axes[0] if len(axes) == 1 else None


@frozen
class Assumption:
    """What a value is where its guards hold: `replacement`, or true if that is None.

    If `for_all_lanes`, it is used only if they hold in all lanes and all `unit_factors` are 1.
    """

    value: Value
    guards: tuple[Guard, ...]
    replacement: Value | None = None
    for_all_lanes: bool = False
    unit_factors: tuple[Value, ...] = ()


Assumptions = dict[int, Assumption]


def assumptions_of(facts: Facts) -> Assumptions:
    """What is known of masks, conditions and offsets in the interior, by the ids of the values."""
    found: Assumptions = {}
    for op in facts.ops.values():
        if isinstance(op, Load | Store | Atomic) and op.offset.shape:
            _assume_strided(op.offset, facts, found)
            if op.mask is not None:
                _assume_true(op.mask, facts, found)
        elif isinstance(op, If) and op.condition.shape:
            _assume_true(op.condition, facts, found)
    return found


def hoistable_assumptions(
    ops: list[Op], known: Assumptions, rematerialized: set[int], facts: Facts
) -> list[Assumption]:
    """The assumptions that some ops need and whose guards can be hoisted before their loop."""
    inside = {id for op in ops for id in defined_inside(op)}
    needed = needed_by(ops, known, rematerialized, facts)
    return [each for each in needed if not depends(each.value, inside, facts)]


def needed_by(
    ops: list[Op], known: Assumptions, rematerialized: set[int], facts: Facts
) -> list[Assumption]:
    """The assumptions that some ops need, or that values computed on demand for them need."""
    everything = [each for op in ops for each in with_inner(op)]
    found: list[Assumption] = []
    seen: set[int] = set()
    waiting = [value for op in everything for value in operands_of(op)]
    while waiting:
        value = waiting.pop()
        if value.id in seen:
            continue
        seen.add(value.id)
        if value.id in known:
            found.append(known[value.id])
        if (
            facts.is_cheap(value)
            or value.id in rematerialized
            or is_view(facts.definitions.get(value.id))
        ):
            waiting += operands_of(facts.definitions[value.id])
    return found


def depends(value: Value, inside: set[int], facts: Facts) -> bool:
    """Whether computing a value on demand needs one of these values. Cheap blocks do not count."""
    if value.id in inside and not facts.is_cheap(value):
        return True
    op = facts.definitions.get(value.id)
    if not isinstance(op, Compute) or not facts.is_cheap(value):
        return False
    return any(depends(operand, inside, facts) for operand in op.operands)


def _assume_true(
    mask: Value, facts: Facts, found: Assumptions, added: tuple[int, ...] = ()
) -> None:
    """Adds the comparisons of a mask; its users see it with the axes `added`."""
    op = facts.definitions.get(mask.id)
    if not isinstance(op, Compute) or not facts.is_cheap(mask):
        return
    name = op.op.name
    if name == "expand_dims":
        axis = op.attr("axis")
        assert isinstance(axis, int)
        _assume_true(op.operands[0], facts, found, (axis, *added))
    elif name in ("and", "broadcast"):
        for operand in op.operands:
            _assume_true(operand, facts, found, added)
    elif name in ("lt", "le", "gt", "ge") and op.operands[0].ty.dtype.is_int:
        index, bound = op.operands
        if name in _SWAPPED:
            index, bound, name = bound, index, _SWAPPED[name]
        is_lower = coefficients(index, facts) == {}
        if is_lower:
            index, bound = bound, index
        guard = _guard(index, bound, facts, is_lower, name == "le", added)
        _add(Assumption(mask, ()), [guard], found)


def _assume_strided(
    offset: Value, facts: Facts, found: Assumptions, added: tuple[int, ...] = ()
) -> None:
    """Adds assumptions under which an offset is strided: they hold in most lanes or launches."""
    op = facts.definitions.get(offset.id)
    if not isinstance(op, Compute) or not (facts.is_cheap(offset) or op.op.name in MODS):
        return
    if op.op.name == "expand_dims":
        axis = op.attr("axis")
        assert isinstance(axis, int)
        _assume_strided(op.operands[0], facts, found, (axis, *added))
        return
    for operand in op.operands:
        _assume_strided(operand, facts, found, added)
    for index, lower, upper in _bounded(op):
        guards = [_guard(index, bound, facts, True, True, added) for bound in lower]
        guards += [_guard(index, bound, facts, False, True, added) for bound in upper]
        _add(Assumption(offset, (), index), guards, found)
    _assume_for_all_lanes(op, facts, found, added)


def _assume_for_all_lanes(
    op: Compute, facts: Facts, found: Assumptions, added: tuple[int, ...]
) -> None:
    """Adds assumptions: a `%` does not wrap around, a stride is 1 in this launch."""
    if op.op.name in MODS:
        index, size = op.operands
        guards = [_guard(index, None, facts, True, True, added)]
        guards.append(_guard(index, size, facts, False, False, added))
        if guards[0] is not None and _is_along_last_axis(guards[0]):
            _add(Assumption(op.result, (), index, for_all_lanes=True), guards, found)
    elif op.op.name == "mul":
        for index, factor in (op.operands, op.operands[::-1]):
            number = facts.definitions.get(factor.id)
            guard = _guard(_without_mod(index, facts), None, facts, True, True, added)
            if guard is None or not _is_along_last_axis(guard) or not isinstance(number, Compute):
                continue
            if number.op.name == "splat":
                unit_factors = number.operands
                found[op.result.id] = Assumption(op.result, (), index, True, unit_factors)


def _without_mod(index: Value, facts: Facts) -> Value:
    """The index under a `%`."""
    op = facts.definitions.get(index.id)
    if isinstance(op, Compute) and op.op.name in MODS:
        return op.operands[0]
    return index


def _is_along_last_axis(guard: Guard) -> bool:
    """Whether an index increases along the last axis where it is used."""
    rank, axis = max(guard.axes_by_rank)
    return axis == rank - 1


Bounds = tuple[Value | None, ...]


def _bounded(op: Compute) -> list[tuple[Value, Bounds, Bounds]]:
    """The operands that an op passes through within bounds, with the lower and the upper bounds."""
    match op.op.name, op.operands:
        case "index", (index, _):
            return [(index, (None,), ())]
        case "clamp", (index, low, high):
            return [(index, (low,), (high,))]
        case "maximum", (a, b):
            return [(a, (b,), ()), (b, (a,), ())]
        case "minimum", (a, b):
            return [(a, (), (b,)), (b, (), (a,))]
        case _:
            return []


def _guard(
    index: Value,
    bound: Value | None,
    facts: Facts,
    is_lower: bool,
    is_closed: bool,
    added: tuple[int, ...] = (),
) -> Guard | None:
    found = coefficients(index, facts)
    if found is None or list(found.values()) != [1]:
        return None
    if bound is not None and coefficients(bound, facts) != {}:
        return None
    axis = next(iter(found))
    seen = [(len(index.shape), axis)]
    for new in added:
        rank, at = seen[-1]
        seen.append((rank + 1, at + (at >= new)))
    return Guard(index, bound, is_closed, axis, is_lower, frozenset(seen))


def _add(made: Assumption, guards: Sequence[Guard | None], found: Assumptions) -> None:
    """Adds an assumption if all of its guards exist, to those that the value has already."""
    known = tuple(guard for guard in guards if guard is not None)
    if len(known) < len(guards):
        return
    before = found.get(made.value.id)
    if before is not None:
        known = (*before.guards, *(guard for guard in known if guard not in before.guards))
    found[made.value.id] = replace(made, guards=known)


def coefficients(value: Value, facts: Facts) -> Coefficients | None:
    """How an index depends on a lane's coordinates; None if it is not an affine form of them."""
    indices = own_indices(value.shape)
    axes = {index.terms[0][1]: axis for axis, index in enumerate(indices)}
    form = facts.index_forms.of(value, indices)
    if form.unknown or form.strided or not form.lanes.keys() <= axes.keys():
        return None
    return {axes[part]: factor for part, factor in form.lanes.items()}


def interior_end(body: Body, guards: list[Guard], shape: Shape, axis: int) -> V:
    """The end of the interior along the vectors' axis, if it is not empty."""
    e = body.e
    total = const("i64", shape[axis])
    for guard in guards:
        within = lanes_within(body, guard)
        if not guard.is_along(shape, axis):
            enough = e.icmp("sge", within, const("i64", guard.index.shape[guard.axis]))
            within = e.select(enough, const("i64", shape[axis]), const("i64", 0))
        total = e.intrinsic("smin", total, within)
    return e.cast("trunc", e.intrinsic("smax", total, const("i64", 0)), "i32")


def holds_everywhere(body: Body, assumptions: Sequence[Assumption]) -> V:
    """Whether assumptions hold in the whole domain."""
    e, total = body.e, const("i1", True)
    for each in assumptions:
        for factor in each.unit_factors:
            number = body.scalar(factor)
            total = e.and_(total, e.icmp("eq", number, const(number.ty, 1)))
        for guard in each.guards:
            index, bound = _index_and_bound(body, guard)
            last = e.add(index, const("i64", guard.index.shape[guard.axis] - 1))
            if guard.is_lower:
                total = e.and_(total, e.icmp("sge", index, bound))
            else:
                total = e.and_(total, e.icmp("slt", last, bound))
    return total


def interior_start(body: Body, guards: list[Guard], shape: Shape, axis: int) -> V | None:
    """The start of the interior along the vectors' axis; None if there are no lower guards."""
    e, lower = body.e, [guard for guard in guards if guard.is_lower]
    total = const("i64", 0)
    for guard in lower:
        before = lanes_before(body, guard)
        if not guard.is_along(shape, axis):
            some = e.icmp("sgt", before, const("i64", 0))
            before = e.select(some, const("i64", shape[axis]), const("i64", 0))
        total = e.intrinsic("smax", total, before)
    total = e.intrinsic("smin", total, const("i64", shape[axis]))
    return e.cast("trunc", total, "i32") if lower else None


def lanes_before(body: Body, guard: Guard) -> V:
    """How many lanes there are before a lower guard holds; none if the number is negative."""
    index, bound = _index_and_bound(body, guard)
    before = body.e.sub(bound, index)
    return before if guard.is_closed else body.e.add(before, const("i64", 1))


def lanes_within(body: Body, guard: Guard) -> V:
    """How many lanes there are before an upper guard fails; this i64 does not overflow.

    A lower guard fails where the index would wrap.
    """
    index, bound = _index_and_bound(body, guard)
    if guard.is_lower:
        bound = const("i64", min(guard.index.ty.dtype.max, (1 << 62)))
    within = body.e.binary("sub", bound, index)
    is_closed = guard.is_closed or guard.is_lower
    return body.e.add(within, const("i64", 1)) if is_closed else within


def _index_and_bound(body: Body, guard: Guard) -> tuple[V, V]:
    """The index of the first lane, and the bound, in i64."""
    how = "sext" if guard.index.ty.dtype.is_signed else "zext"
    origin = tuple(ZERO for _ in guard.index.shape)
    ends = (guard.index,) if guard.bound is None else (guard.index, guard.bound)
    found = [widened(body, number(body.at(v, origin if v.shape else ())), how) for v in ends]
    return found[0], found[1] if guard.bound is not None else const("i64", 0)

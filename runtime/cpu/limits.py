"""Masks that hold for the lanes in the middle of a domain, so that most of it needs no mask."""

from __future__ import annotations

from eas.ir.nodes import Atomic, Compute, Load, Op, Store, Value, operands_of
from eas.ir.records import frozen
from eas.ir.types import Shape
from eas.runtime.cpu.body import Body
from eas.runtime.cpu.coordinates import ZERO
from eas.runtime.cpu.emit import V, const
from eas.runtime.cpu.facts import Facts, defined_inside, with_inner
from eas.runtime.cpu.lanes import number
from eas.runtime.cpu.memory import widened

Form = dict[int, int]  # how much a coordinate counts, by its axis

_TURNED = {"gt": "lt", "ge": "le"}


@frozen
class Limit:
    """A comparison `index < bound` (or `<=`) whose index goes up by one along one axis.

    If `is_lower`, it is `bound < index`.
    """

    compare: Value
    index: Value
    bound: Value
    is_closed: bool
    axis: int
    is_lower: bool = False


def masking_limits(facts: Facts) -> dict[int, Limit]:
    """The comparisons in the masks of loads and stores, by the ids of what they give."""
    found: dict[int, Limit] = {}
    for op in facts.ops.values():
        if isinstance(op, Load | Store | Atomic) and op.mask is not None and op.mask.shape:
            found |= {limit.compare.id: limit for limit in _limits(op.mask, facts)}
    return found


def limits_of(
    ops: list[Op], known: dict[int, Limit], remade: set[int], facts: Facts
) -> list[Limit]:
    """Those of the known comparisons that some ops need and that are there before their loop."""
    everything = [each for op in ops for each in with_inner(op)]
    inside = {id for op in ops for id in defined_inside(op)}
    found: dict[int, Limit] = {}
    seen: set[int] = set()
    waiting = [value for op in everything for value in operands_of(op)]
    while waiting:
        value = waiting.pop()
        if value.id in seen:
            continue
        seen.add(value.id)
        if value.id in known and not depends(value, inside, facts):
            found[value.id] = known[value.id]
        if facts.is_cheap(value) or value.id in remade:
            waiting += operands_of(facts.definitions[value.id])
    return list(found.values())


def depends(value: Value, inside: set[int], facts: Facts) -> bool:
    """Whether a value that is made on demand needs one of these; cheap blocks are not counted."""
    if value.id in inside and not facts.is_cheap(value):
        return True
    op = facts.definitions.get(value.id)
    if not isinstance(op, Compute) or not facts.is_cheap(value):
        return False
    return any(depends(operand, inside, facts) for operand in op.operands)


def _limits(mask: Value, facts: Facts) -> list[Limit]:
    op = facts.definitions.get(mask.id)
    if not isinstance(op, Compute) or not facts.is_cheap(mask):
        return []
    name = op.op.name
    if name in ("and", "broadcast", "expand_dims"):
        return [limit for operand in op.operands for limit in _limits(operand, facts)]
    if name not in ("lt", "le", "gt", "ge") or not op.operands[0].ty.dtype.is_int:
        return []
    index, bound = op.operands
    if name in _TURNED:
        index, bound, name = bound, index, _TURNED[name]
    is_lower = form_of(index, facts) == {}
    if is_lower:
        index, bound = bound, index
    form = form_of(index, facts)
    if form is None or list(form.values()) != [1] or form_of(bound, facts) != {}:
        return []
    return [Limit(op.result, index, bound, name == "le", next(iter(form)), is_lower)]


def form_of(value: Value, facts: Facts) -> Form | None:
    """How an index depends on a lane's coordinates: as a sum of multiples, or None."""
    op = facts.definitions.get(value.id)
    if not value.shape:
        return {}
    if not isinstance(op, Compute) or not facts.is_cheap(value):
        return None
    forms = [form_of(operand, facts) for operand in op.operands]
    match op.op.name, forms:
        case (("arange" | "thread_index"), _):
            return {0: 1}
        case "splat", _:
            return {}
        case "broadcast", [dict() as form]:
            return form
        case "expand_dims", [dict() as form]:
            axis = dict(op.attrs)["axis"]
            assert isinstance(axis, int)
            return {at + (at >= axis): factor for at, factor in form.items()}
        case "add", [dict() as a, dict() as b]:
            return _sum(a, b, 1)
        case "sub", [dict() as a, dict() as b]:
            return _sum(a, b, -1)
        case _:
            return {} if all(form == {} for form in forms) else None


def _sum(a: Form, b: Form, sign: int) -> Form:
    total = {axis: a.get(axis, 0) + sign * b.get(axis, 0) for axis in (*a, *b)}
    return {axis: factor for axis, factor in total.items() if factor}


def full_lanes(body: Body, limits: list[Limit], shape: Shape, axis: int) -> V:
    """Before which lane along the vectors' axis all the comparisons hold, but for the first."""
    e = body.e
    total = const("i64", shape[axis])
    for limit in limits:
        room = _room(body, limit)
        if not _is_along(limit, shape, axis):
            enough = e.icmp("sge", room, const("i64", limit.index.shape[limit.axis]))
            room = e.select(enough, const("i64", shape[axis]), const("i64", 0))
        total = e.intrinsic("smin", total, room)
    return e.cast("trunc", e.intrinsic("smax", total, const("i64", 0)), "i32")


def first_lane(body: Body, limits: list[Limit], shape: Shape, axis: int) -> V | None:
    """From which lane on the lower limits hold; None if there are none."""
    e, lower = body.e, [limit for limit in limits if limit.is_lower]
    total = const("i64", 0)
    for limit in lower:
        index, bound = _ends(body, limit)
        missing = e.sub(bound, index)
        missing = missing if limit.is_closed else e.add(missing, const("i64", 1))
        if not _is_along(limit, shape, axis):
            some = e.icmp("sgt", missing, const("i64", 0))
            missing = e.select(some, const("i64", shape[axis]), const("i64", 0))
        total = e.intrinsic("smax", total, missing)
    total = e.intrinsic("smin", total, const("i64", shape[axis]))
    return e.cast("trunc", total, "i32") if lower else None


def _is_along(limit: Limit, shape: Shape, axis: int) -> bool:
    return limit.index.shape == shape and limit.axis == axis


def _room(body: Body, limit: Limit) -> V:
    """How many lanes there are before the bound; it cannot overflow, unlike the index.

    Of a lower limit, they end where the index would wrap.
    """
    index, bound = _ends(body, limit)
    if limit.is_lower:
        bound = const("i64", min(limit.index.ty.dtype.max, (1 << 62)))
    room = body.e.binary("sub", bound, index)
    is_closed = limit.is_closed or limit.is_lower
    return body.e.add(room, const("i64", 1)) if is_closed else room


def _ends(body: Body, limit: Limit) -> list[V]:
    """The index of the first lane, and the bound."""
    how = "sext" if limit.index.ty.dtype.is_signed else "zext"
    origin = tuple(ZERO for _ in limit.index.shape)
    found = [body.at(v, origin if v.shape else ()) for v in (limit.index, limit.bound)]
    return [widened(body, number(each), how) for each in found]

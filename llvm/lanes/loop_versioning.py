"""Loop versioning: an unmasked body for trips in which all guards hold, a masked one for others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.nodes import Compute, Constant, Region, Value, results_of
from eas.llvm.analysis.facts import LIGHT, Facts, defined_inside
from eas.llvm.emit.emit import V, const
from eas.llvm.lanes.addresses import widened
from eas.llvm.lanes.interior import Assumption, Guard, needed_by
from eas.llvm.lanes.lane_values import Strided, Uniform, number
from eas.llvm.lanes.vector_body import Body


def run_versioned(body: Body, region: Region, run: Callable[[], object]) -> None:
    """Writes the body of a loop in two versions: without masks where all guards hold, and with."""
    e, found = body.e, _assumptions(body, region)
    holds = const("i1", True)
    for guard in [guard for each in found for guard in each.guards]:
        holds = e.and_(holds, _guard_holds(body, guard))
    if holds.known:
        run()
        return
    unmasked, masked, after = e.label("unmasked"), e.label("masked"), e.label("after")
    e.branch(holds, unmasked, masked)
    e.begin(unmasked)
    before = body.assumed
    body.assumed = {**before, **{each.value.id: each.replacement for each in found}}
    run()
    body.assumed = before
    e.jump(after)
    e.begin(masked)
    run()
    e.begin(after)


def _assumptions(body: Body, region: Region) -> list[Assumption]:
    """The assumptions that hold in some trips only, and whose guards are known from the start.

    If a guard were not, its mask would stay, and a second version would not be worth its length.
    """
    ops = list(region.ops[:-1])
    inside = {value.id for op in ops for value in results_of(op)}
    inside |= {id for op in ops for id in defined_inside(op)}
    hoistable, variant = _Hoistable(body.facts, inside), _LoopVariant(body.facts, region)
    needed = needed_by(ops, body.program.assumptions, set(), body.facts)
    return [
        each
        for each in needed
        if each.value.id not in body.assumed
        and not each.for_all_lanes
        and all(_is_known(body, guard, hoistable) for guard in each.guards)
        and any(variant.holds(v) for guard in each.guards for v in _index_and_bound(guard))
    ]


def _index_and_bound(guard: Guard) -> Sequence[Value]:
    return (guard.index,) if guard.bound is None else (guard.index, guard.bound)


def _is_known(body: Body, guard: Guard, hoistable: _Hoistable) -> bool:
    """Whether a guard can be evaluated before the ops of the region."""
    if not body.fits(guard.index.shape) or not all(map(hoistable.holds, _index_and_bound(guard))):
        return False
    indices = [
        body.at(guard.index, coords) for coords, _ in body.distinct_coords(guard.index.shape)
    ]
    return all(isinstance(at, Uniform | Strided) for at in indices)


class _Hoistable:
    """Whether a value is defined before those `inside`, or can be hoisted there."""

    def __init__(self, facts: Facts, inside: set[int]) -> None:
        self.facts, self.inside, self.found = facts, inside, dict[int, bool]()

    def holds(self, value: Value) -> bool:
        if value.id not in self.inside:
            return True
        if value.id not in self.found:
            op = self.facts.definitions.get(value.id)
            self.found[value.id] = isinstance(op, Constant) or (
                isinstance(op, Compute)
                and op.op.name in LIGHT
                and all(map(self.holds, op.operands))
            )
        return self.found[value.id]


class _LoopVariant:
    """Whether a value changes from trip to trip of a loop with this body."""

    def __init__(self, facts: Facts, region: Region) -> None:
        self.facts, self.found = facts, {value.id: True for value in region.args}

    def holds(self, value: Value) -> bool:
        if value.id not in self.found:
            op = self.facts.definitions.get(value.id)
            self.found[value.id] = (
                isinstance(op, Compute)
                and op.op.name in LIGHT
                and any(map(self.holds, op.operands))
            )
        return self.found[value.id]


def _guard_holds(body: Body, guard: Guard) -> V:
    """Whether a guard holds in the first and in the last lane."""
    e, dtype = body.e, guard.index.ty.dtype
    how = "sext" if dtype.is_signed else "zext"
    bound = const("i64", 0)
    if guard.bound is not None:
        origin = next(iter(body.distinct_coords(guard.bound.shape)))[0]
        bound = widened(body, number(body.at(guard.bound, origin)), how)
    total = const("i1", True)
    for base, (low, high) in _extremes(body, guard.index).items():
        first, last = (e.add(widened(body, base, how), const("i64", n)) for n in (low, high))
        if guard.is_lower:
            total = e.and_(total, e.icmp("sge" if guard.is_closed else "sgt", first, bound))
            end = const("i64", min(dtype.max, 1 << 62))  # beyond it the index would wrap
            total = e.and_(total, e.icmp("sle", last, end))
        else:
            total = e.and_(total, e.icmp("sle" if guard.is_closed else "slt", last, bound))
    return total


def _extremes(body: Body, index: Value) -> dict[V, tuple[int, int]]:
    """The distances of the first and the last lane of the unrolled vectors from their base."""
    extremes: dict[V, tuple[int, int]] = {}
    for coords, _ in body.distinct_coords(index.shape):
        lanes = body.at(index, coords)
        if isinstance(lanes, Strided):
            base, low, high = lanes.base, lanes.start, lanes.start + body.width - 1
        else:
            base, low, high = number(lanes), 0, 0
        before = extremes.get(base, (low, high))
        extremes[base] = min(before[0], low), max(before[1], high)
    return extremes

"""Trips of a loop in which all lanes are within their limits, and the others: code for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.nodes import Compute, Constant, Region, Value, results_of
from eas.llvm.analysis.facts import LIGHT, Facts, defined_inside
from eas.llvm.emit.emit import V, const
from eas.llvm.lanes.addresses import widened
from eas.llvm.lanes.interior import Assumption, Limit, needed_by
from eas.llvm.lanes.lane_values import Steps, Uniform, number
from eas.llvm.lanes.vector_body import Body


def run_in_versions(body: Body, region: Region, run: Callable[[], object]) -> None:
    """Runs the body of a loop; without masks, if in this trip all lanes are within their limits."""
    e, found = body.e, _assumptions(body, region)
    holds = const("i1", True)
    for limit in [limit for each in found for limit in each.limits]:
        holds = e.both(holds, _holds(body, limit))
    if holds.known:
        run()
        return
    middle, edge, after = e.label("middle"), e.label("edge"), e.label("after")
    e.branch(holds, middle, edge)
    e.begin(middle)
    before = body.assumed
    body.assumed = {**before, **{each.value.id: each.instead for each in found}}
    run()
    body.assumed = before
    e.jump(after)
    e.begin(edge)
    run()
    e.begin(after)


def _assumptions(body: Body, region: Region) -> list[Assumption]:
    """What may be assumed in one trip and not in another, if its limits are known from the start.

    Where not all of it is known, some masks stay, and code for both is not worth its length.
    """
    ops = list(region.ops[:-1])
    inside = {value.id for op in ops for value in results_of(op)}
    inside |= {id for op in ops for id in defined_inside(op)}
    early, changing = _Early(body.facts, inside), _Changing(body.facts, region)
    needed = needed_by(ops, body.program.assumptions, set(), body.facts)
    return [
        each
        for each in needed
        if each.value.id not in body.assumed
        and not each.is_whole
        and all(_is_known(body, limit, early) for limit in each.limits)
        and any(changing.holds(v) for limit in each.limits for v in _ends(limit))
    ]


def _ends(limit: Limit) -> Sequence[Value]:
    return (limit.index,) if limit.bound is None else (limit.index, limit.bound)


def _is_known(body: Body, limit: Limit, early: _Early) -> bool:
    """Whether the ends of a limit can be computed before the ops of the region."""
    if not body.fits(limit.index.shape) or not all(map(early.holds, _ends(limit))):
        return False
    places = [body.at(limit.index, coords) for coords, _ in body.places(limit.index.shape)]
    return all(isinstance(at, Uniform | Steps) for at in places)


class _Early:
    """Whether a value is there before the ops that define those `inside`, or can be."""

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


class _Changing:
    """Whether a value is another in each trip of a loop with this body."""

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


def _holds(body: Body, limit: Limit) -> V:
    """Whether the first lane is not below a limit, and the last one not beyond it."""
    e, dtype = body.e, limit.index.ty.dtype
    how = "sext" if dtype.is_signed else "zext"
    bound = const("i64", 0)
    if limit.bound is not None:
        origin = next(iter(body.places(limit.bound.shape)))[0]
        bound = widened(body, number(body.at(limit.bound, origin)), how)
    total = const("i1", True)
    for base, (low, high) in _spans(body, limit.index).items():
        first, last = (e.add(widened(body, base, how), const("i64", n)) for n in (low, high))
        if limit.is_lower:
            total = e.both(total, e.icmp("sge" if limit.is_closed else "sgt", first, bound))
            end = const("i64", min(dtype.max, 1 << 62))  # beyond it the index would wrap
            total = e.both(total, e.icmp("sle", last, end))
        else:
            total = e.both(total, e.icmp("sle" if limit.is_closed else "slt", last, bound))
    return total


def _spans(body: Body, index: Value) -> dict[V, tuple[int, int]]:
    """How far from a base the first and the last lane of the vectors side by side are."""
    spans: dict[V, tuple[int, int]] = {}
    for coords, _ in body.places(index.shape):
        lanes = body.at(index, coords)
        if isinstance(lanes, Steps):
            base, low, high = lanes.base, lanes.start, lanes.start + body.width - 1
        else:
            base, low, high = number(lanes), 0, 0
        before = spans.get(base, (low, high))
        spans[base] = min(before[0], low), max(before[1], high)
    return spans

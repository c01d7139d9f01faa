"""Checks of accesses to memory: in place, vector by vector, unless a loop has proved them before.

A lane outside of its array ends the program with a report. `eas.runtime.cpu.spans` proves accesses
for all lanes of a loop at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.nodes import Atomic, Compute, Load, Store, Value
from eas.ir.records import frozen
from eas.ir.types import Shape
from eas.runtime.cpu.addresses import offsets
from eas.runtime.cpu.body import Body, Mask
from eas.runtime.cpu.coordinates import ZERO, Coords, linear, seen_through
from eas.runtime.cpu.emit import V, const
from eas.runtime.cpu.facts import VIEWS
from eas.runtime.cpu.lanes import Lanes, Steps, Uniform, Vector, number
from eas.runtime.cpu.masks import is_any, narrow

Access = Load | Store | Atomic


@frozen
class Bounds:
    """The offsets from `low` to below `high` are inside of an array; both are i64."""

    low: V
    high: V


@frozen
class _Check:
    """Numbers of the lanes that have to be from `low` to below `high`; `site` reports others.

    `shape` is that of the lanes at `coords`, or None if these are not the lanes of the source.
    """

    site: int
    shape: Shape | None
    coords: Coords
    lanes: Lanes
    low: V
    high: V
    extent: V


def guard(body: Body, op: Access, coords: Coords, offset: Lanes, mask: Mask) -> None:
    """Ends the program if a lane is about to touch memory outside of the array."""
    bounds = body.program.bounds.get(op.pointer.id)
    if bounds is None or id(op) in body.proven:
        return
    for check in _index_checks(body, op.offset, coords):
        _require(body, check, mask)
    site, shape = body.program.site(op)
    zero = const("i64", 0)
    _require(body, _Check(site, shape, coords, offset, bounds.low, bounds.high, zero), mask)


def _index_checks(body: Body, value: Value, coords: Coords) -> Iterator[_Check]:
    """The indices that an offset is computed from; those that are kept are checked when made."""
    op = body.facts.definitions.get(value.id)
    if not isinstance(op, Compute) or value.id not in body.facts.indexed:
        return
    if op.op.name in VIEWS:
        yield from _index_checks(body, op.operands[0], seen_through(body.e, op, coords, body.width))
        return
    if op.op.name != "index":
        for operand in op.operands:
            yield from _index_checks(body, operand, coords)
    elif not value.shape or body.facts.is_cheap(value):
        yield _index_check(body, op, coords)


def check_index(body: Body, op: Compute, coords: Coords, mask: Mask) -> None:
    """Ends the program if a lane has an index that its axis does not have."""
    if body.program.bounds:
        _require(body, _index_check(body, op, coords), mask)


def _index_check(body: Body, op: Compute, coords: Coords) -> _Check:
    index, extent = op.operands
    origin = tuple(ZERO for _ in extent.shape)  # an axis has one extent in all lanes
    length = number(offsets(body, extent, origin))
    site, shape = body.program.site(op)
    low = body.e.sub(const("i64", 0), length)
    return _Check(site, shape, coords, offsets(body, index, coords), low, length, length)


def _require(body: Body, check: _Check, mask: Mask) -> None:
    e = body.e
    size = e.sub(check.high, check.low)
    if isinstance(check.lanes, Uniform):
        bad = e.icmp("uge", e.sub(check.lanes.v, check.low), size)
        if mask is not None:
            bad = e.both(bad, is_any(body, [mask]))
        e.when(bad, lambda: _report(body, check, Uniform(bad)), is_rare=True)
        return
    if isinstance(check.lanes, Steps):
        ends = _ends(body, check.lanes)
        outside = [e.icmp("uge", e.sub(end, check.low), size) for end in ends]
        suspect = e.either(*outside)
        e.when(suspect, lambda: _require_lanes(body, check, mask, size), is_rare=True)
        return
    _require_lanes(body, check, mask, size)


def _ends(body: Body, steps: Steps) -> tuple[V, V]:
    """The numbers of the first and of the last lane."""
    e, last = body.e, steps.start + steps.step * (body.width - 1)
    return e.add(steps.base, const("i64", steps.start)), e.add(steps.base, const("i64", last))


def _require_lanes(body: Body, check: _Check, mask: Mask, size: V) -> None:
    """Looks at each lane of a vector."""
    e = body.e
    v = body.to_vector(check.lanes)
    distance = e.binary("sub", v, e.splat(check.low, body.width))
    bad = Vector(e.icmp("uge", distance, e.splat(size, body.width)))
    failed = narrow(body, mask, bad)
    e.when(is_any(body, [failed]), lambda: _report(body, check, failed), is_rare=True)


def _report(body: Body, check: _Check, failed: Mask) -> None:
    e = body.e
    place = Uniform(const("i32", -1))
    if check.shape is not None:
        place = linear(e, check.coords, check.shape)
    lane, value = first_of(body, failed, place, check.lanes)
    report_fault(body, check.site, lane, value, check.extent)


def first_of(body: Body, failed: Mask, *parts: Lanes) -> list[V]:
    """The numbers of the first lane that failed."""
    e = body.e
    if failed is None or isinstance(failed, Uniform):
        at = const("i64", 0)
    else:
        bits = e.bitcast(body.to_vector(failed), f"i{body.width}")
        at = e.cast("zext", e.intrinsic("cttz", bits, const("i1", False)), "i64")
    return [
        part.v if isinstance(part, Uniform) else e.extract(body.to_vector(part), at)
        for part in parts
    ]


def report_fault(body: Body, site: int, lane: V, value: V, extent: V) -> None:
    """Notes a fault or a failed assert in the report, and ends the program."""
    e, program = body.e, body.program
    where = (*program.ids, *program.extents[:2], lane)
    e.do("eas_report_fault", program.report, const("i32", site), *where, value, extent)
    e.leave()

"""Bounds checks of memory accesses, vector by vector, where the access is not proved in bounds.

A lane outside of its array ends the program with a report. `eas.llvm.lanes.proofs` proves accesses
for a whole launch, or for all lanes of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from eas.ir.nodes import Atomic, Compute, Load, Store, Value
from eas.ir.types import Shape
from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.lanes.addresses import offsets
from eas.llvm.lanes.coordinates import ZERO, Coords, ravel, view_coords
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector, first, number
from eas.llvm.lanes.masks import is_any, mask_vector, narrow
from eas.llvm.lanes.vector_body import Body, Mask
from eas.support.records import frozen

Access = Load | Store | Atomic

_MOST_I32 = (1 << 31) - 1
FAULT, LANES, STRIDED, RECORD = 20, 21, 22, 23  # words of a job: what programs call to report


@frozen
class Bounds:
    """The offsets from `low` to below `high` are inside of an array; both are i64."""

    low: V
    high: V


@frozen
class _Check:
    """Numbers of the lanes that must be from `low` to below `high`; `site` reports others.

    `lanes` are these numbers in i64, `narrow` as the kernel computes them. `shape` is that of the
    lanes at `coords`, or None if these are not the lanes of the source.
    """

    site: int
    shape: Shape | None
    coords: Coords
    lanes: LaneValue
    narrow: LaneValue
    low: V
    high: V
    extent: V


def check_access(body: Body, op: Access, coords: Coords, offset: LaneValue, mask: Mask) -> None:
    """Ends the program if a lane is about to access memory outside of the array."""
    bounds = body.program.bounds.get(op.pointer.id)
    if bounds is None or op.number in body.proven:
        return
    for check in _index_checks(body, op.offset, coords):
        _require(body, check, mask)
    site, shape = body.program.site(op)
    own, zero = body.at(op.offset, coords), const("i64", 0)
    _require(body, _Check(site, shape, coords, offset, own, bounds.low, bounds.high, zero), mask)


def _index_checks(body: Body, value: Value, coords: Coords) -> Iterator[_Check]:
    """The indices that an offset depends on, except those that are checked at their definition."""
    op = body.facts.definitions.get(value.id)
    if not isinstance(op, Compute) or value.id not in body.facts.indexed:
        return
    if op.op.view:
        yield from _index_checks(body, op.operands[0], view_coords(body.e, op, coords, body.width))
        return
    if op.op.name != "index":
        for operand in op.operands:
            yield from _index_checks(body, operand, coords)
    elif not value.shape or body.facts.is_cheap(value):
        yield _index_check(body, op, coords)


def check_index(body: Body, op: Compute, coords: Coords, mask: Mask) -> None:
    """Ends the program if a lane has an index outside of its axis."""
    if body.program.bounds:
        _require(body, _index_check(body, op, coords), mask)


def _index_check(body: Body, op: Compute, coords: Coords) -> _Check:
    index, extent = op.operands
    origin = tuple(ZERO for _ in extent.shape)  # an axis has one extent in all lanes
    length = number(offsets(body, extent, origin))
    site, shape = body.program.site(op)
    low = body.e.sub(const("i64", 0), length)
    lanes, own = offsets(body, index, coords), body.at(index, coords)
    return _Check(site, shape, coords, lanes, own, low, length, length)


def _require(body: Body, check: _Check, mask: Mask) -> None:
    e = body.e
    size = e.sub(check.high, check.low)
    match check.lanes:
        case Uniform(v):
            bad = e.icmp("uge", e.sub(v, check.low), size)
            if mask is None or isinstance(mask, Uniform):
                report = partial(_report, body, check, v)
            else:  # the first lane may be masked off
                report = partial(_check_lanes, body, check, mask, size)
            if mask is not None:
                bad = e.and_(bad, is_any(body, [mask]))
            e.when(bad, report, is_unlikely=True)
        case Strided() as steps:
            ends = _ends(body, steps)
            suspect = e.or_(*(e.icmp("uge", e.sub(end, check.low), size) for end in ends))
            e.when(suspect, lambda: _check_lanes(body, check, mask, size), is_unlikely=True)
        case Vector(v):
            outside = _is_outside(body, check, v, size)
            suspect = is_any(body, [narrow(body, mask, Vector(outside))])
            e.when(suspect, lambda: _check_lanes(body, check, mask, size), is_unlikely=True)


def _ends(body: Body, steps: Strided) -> tuple[V, V]:
    """The numbers of the first and of the last lane."""
    e, last = body.e, steps.start + steps.step * (body.width - 1)
    return e.add(steps.base, const("i64", steps.start)), e.add(steps.base, const("i64", last))


def _is_outside(body: Body, check: _Check, v: V, size: V) -> V:
    """The lanes that may be outside. Integers of 32 bits are compared in 32 bits."""
    e, width = body.e, body.width
    if check.low.known != 0 or not isinstance(check.narrow, Vector):
        distance = e.binary("sub", v, e.splat(check.low, width))
        return e.icmp("uge", distance, e.splat(size, width))
    if check.narrow.v.element != "i32":
        return e.icmp("uge", v, e.splat(size, width))
    end = e.cast("trunc", e.intrinsic("smin", check.high, const("i64", _MOST_I32)), "i32")
    return e.icmp("uge", check.narrow.v, e.splat(end, width))


def _check_lanes(body: Body, check: _Check, mask: Mask, size: V) -> None:
    """The slow path: a function of `support.ll` checks each lane of a vector."""
    e, program, width = body.e, body.program, body.width
    position: LaneValue = Uniform(const("i32", -1))
    if check.shape is not None:
        position = ravel(e, check.coords, check.shape)
    head = (program.report, const("i32", check.site), *program.ids, *program.extents[:2])
    active = e.cast("zext", e.bitcast(mask_vector(body, mask), f"i{width}"), "i64")
    numbers = (check.low, size, active, const("i64", width), check.extent)
    if isinstance(position, Vector) or isinstance(check.lanes, Vector):
        memories = [program.slow_path_memory(element) for element in ("i32", "i64")]
        for memory, lanes in zip(memories, (position, check.lanes), strict=True):
            e.store(body.to_vector(lanes), memory)
        failed = reporter(e, LANES, "i1", *head, *memories, *numbers)
    else:
        steps = (*_start_and_step(e, position), *_start_and_step(e, check.lanes))
        failed = reporter(e, STRIDED, "i1", *head, *steps, *numbers)
    e.when(failed, e.leave, is_unlikely=True)


def _start_and_step(e: Emitter, lanes: Uniform | Strided) -> tuple[V, V]:
    if isinstance(lanes, Uniform):
        return lanes.v, const(lanes.v.ty, 0)
    return first(e, lanes), const(lanes.base.ty, lanes.step)


def _report(body: Body, check: _Check, value: V) -> None:
    """Reports a uniform value, as that of the first lane."""
    e, lane = body.e, const("i32", -1)
    if check.shape is not None:
        position = ravel(e, check.coords, check.shape)
        lane = (
            position.v if isinstance(position, Uniform) else e.extract(body.to_vector(position), 0)
        )
    report_fault(body, check.site, lane, value, check.extent)


def report_fault(body: Body, site: int, lane: V, value: V, extent: V) -> None:
    """Writes a fault or a failed assert to the report, and ends the program."""
    e, program = body.e, body.program
    where = (*program.ids, *program.extents[:2], lane)
    reporter(e, FAULT, "void", program.report, const("i32", site), *where, value, extent)
    e.leave()


def reporter(e: Emitter, word: int, ty: str, *arguments: V) -> V:
    """Calls a function whose address is in a word of the job, see `support.ll`."""
    pointer = e.gep("i64", V("ptr", "%job"), const("i64", word))
    function = e.load("ptr", pointer, 8)
    call = f"call {ty} {function.text}({', '.join(map(str, arguments))})"
    if ty != "void":
        return e.value(ty, call)
    e.line(call)
    return V(ty, "")

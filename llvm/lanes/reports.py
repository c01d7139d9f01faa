"""Asserts and prints of lanes: they write words of `eas.support.report_buffer`."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Assert, Print, Value
from eas.ir.types import DType, Shape, broadcast_shapes
from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.lanes.bounds_checks import RECORD, report_fault, reporter
from eas.llvm.lanes.coordinates import ZERO, Coords, ravel
from eas.llvm.lanes.lane_values import LaneValue, Uniform, number
from eas.llvm.lanes.masks import condition, is_any, joint_mask, narrow, when
from eas.llvm.lanes.serialization import serialize
from eas.llvm.lanes.vector_body import Body, Mask
from eas.support.report_buffer import RECORD_HEAD, words_of

Masks = Sequence[Mask]


def check(body: Body, op: Assert, coords: Coords, mask: Mask) -> None:
    """Ends the program if the condition is false in a lane, and reports that lane."""
    e = body.e
    site, _ = body.program.site(op)
    failed = narrow(body, mask, body.at(op.condition, coords), expected=False)

    def report() -> None:
        index = ravel(e, coords, op.condition.shape) if op.condition.shape else ZERO
        lane = _first(body, failed, index)
        value, extent = _numbers(body, op, coords, failed)
        report_fault(body, site, lane, value, extent)

    e.when(is_any(body, [failed]), report, is_unlikely=True)


def _numbers(body: Body, op: Assert, coords: Coords, failed: Mask) -> tuple[V, V]:
    """What a check of the compiler's own has found: the number, and the extent of its axis."""
    if op.fault is None or op.fault.extent is None:
        return const("i64", 0), const("i64", 0)
    value, extent = (body.at(each, coords) for each in (op.fault.number, op.fault.extent))
    return _first(body, failed, value), _first(body, failed, extent)


def _first(body: Body, failed: Mask, index: LaneValue) -> V:
    """The index of the first lane that failed, or another number of that lane."""
    e = body.e
    if isinstance(index, Uniform):
        return index.v
    indices = body.to_vector(index)
    if failed is None or isinstance(failed, Uniform):
        return e.extract(indices, 0)
    bits = e.bitcast(body.to_vector(failed), f"i{body.width}")
    lane = e.intrinsic("cttz", bits, const("i1", False))
    return e.extract(indices, e.cast("zext", lane, "i64"))


def printed_shape(op: Print) -> Shape:
    """The shape of the lanes that print: that of the blocks among the parts."""
    whole: Shape = ()
    for part in op.parts:
        if isinstance(part, Value):
            whole = broadcast_shapes(whole, part.shape) or whole
    return whole


def show(body: Body, op: Print, masks: Masks) -> None:
    """A record for each lane that prints, or one if all lanes print the same."""
    values = [part for part in op.parts if isinstance(part, Value)]
    shape = printed_shape(op)
    for coords, points in body.distinct_coords(shape):
        point = body.points[points[0]]
        parts = [body.at(value, body.coords_in(value.shape, point)) for value in values]
        parts.append(ravel(body.e, coords, shape))
        _print(body, op, parts, joint_mask(body, masks, points, coords))


def _print(body: Body, op: Print, parts: Sequence[LaneValue], mask: Mask) -> None:
    """The records of the lanes of a vector, or of one lane; the last part is the lane's index."""
    site, _ = body.program.site(op)
    dtypes = [part.ty.dtype for part in op.parts if isinstance(part, Value)]

    def act(numbers: Sequence[V]) -> None:
        _record(body, site, numbers[-1], list(zip(numbers[:-1], dtypes, strict=True)))

    if isinstance(parts[-1], Uniform):
        when(body, condition(body, mask), lambda: act([number(part) for part in parts]))
        return
    serialize(body, parts, mask, lambda _, numbers: act(numbers))


def _record(body: Body, site: int, lane: V, numbers: Sequence[tuple[V, DType]]) -> None:
    e, program = body.e, body.program
    size = RECORD_HEAD + sum(words_of(dtype) for _, dtype in numbers)
    head = (program.report, const("i32", size), const("i32", site), *program.ids, lane)
    record = reporter(e, RECORD, "ptr", *head)

    def fill() -> None:
        at = RECORD_HEAD
        for v, dtype in numbers:
            words = _words(e, v, dtype)
            e.store(words, e.gep("i32", record, const("i64", at)), 4)
            at += words_of(dtype)

    e.when(e.icmp("ne", record, V("ptr", "null")), fill)


def _words(e: Emitter, v: V, dtype: DType) -> V:
    """A value as one or two words, see `eas.support.report_buffer`."""
    if dtype.is_float:
        return e.bits(v)
    if dtype.bits == 64:
        return v
    return e.cast("sext" if dtype.is_signed else "zext", v, "i32")

"""Faults, asserts and prints of lanes: they leave words in a buffer, see `eas.ir.reports`."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Assert, Print, Value
from eas.ir.reports import RECORD_HEAD, words_of
from eas.ir.types import DType, Shape, broadcast_shapes
from eas.runtime.cpu.body import Body, Mask
from eas.runtime.cpu.bounds import first_of, report_fault
from eas.runtime.cpu.coordinates import ZERO, Coords, linear
from eas.runtime.cpu.emit import Emitter, V, const
from eas.runtime.cpu.lanes import Lanes, Uniform, number
from eas.runtime.cpu.masks import condition, is_any, narrow, shared, when
from eas.runtime.cpu.turns import in_turn

Masks = Sequence[Mask]


def check(body: Body, op: Assert, coords: Coords, mask: Mask) -> None:
    """Stops the program if the condition is false in a lane, and tells which."""
    e = body.e
    site, _ = body.program.site(op)
    failed = narrow(body, mask, body.at(op.condition, coords), expected=False)

    def report() -> None:
        place = linear(e, coords, op.condition.shape) if op.condition.shape else ZERO
        [lane] = first_of(body, failed, place)
        none = const("i64", 0)
        report_fault(body, site, lane, none, none)

    e.when(is_any(body, [failed]), report, is_rare=True)


def printed_shape(op: Print) -> Shape:
    """The shape of the lanes that print: that of the blocks among the parts."""
    whole: Shape = ()
    for part in op.parts:
        if isinstance(part, Value):
            whole = broadcast_shapes(whole, part.shape) or whole
    return whole


def show(body: Body, op: Print, masks: Masks) -> None:
    """A record for each lane that prints, or one for all that print the same."""
    values = [part for part in op.parts if isinstance(part, Value)]
    shape = printed_shape(op)
    for coords, points in body.places(shape):
        point = body.points[points[0]]
        parts = [body.at(value, body.natural(value.shape, point)) for value in values]
        parts.append(linear(body.e, coords, shape))
        _print(body, op, parts, shared(body, masks, points, coords))


def _print(body: Body, op: Print, parts: Sequence[Lanes], mask: Mask) -> None:
    """The records of a vector of lanes, or of one; the lane itself is the last of the parts."""
    site, _ = body.program.site(op)
    dtypes = [part.ty.dtype for part in op.parts if isinstance(part, Value)]

    def act(numbers: Sequence[V]) -> None:
        _record(body, site, numbers[-1], list(zip(numbers[:-1], dtypes, strict=True)))

    if isinstance(parts[-1], Uniform):
        when(body, condition(body, mask), lambda: act([number(part) for part in parts]))
        return
    in_turn(body, parts, mask, lambda _, numbers: act(numbers))


def _record(body: Body, site: int, lane: V, numbers: Sequence[tuple[V, DType]]) -> None:
    e, program = body.e, body.program
    size = RECORD_HEAD + sum(words_of(dtype) for _, dtype in numbers)
    head = (program.report, const("i32", size), const("i32", site), *program.ids, lane)
    place = e.call("eas_report_record", "ptr", *head)

    def fill() -> None:
        at = RECORD_HEAD
        for v, dtype in numbers:
            words = _words(e, v, dtype)
            e.store(words, e.gep("i32", place, const("i64", at)), 4)
            at += words_of(dtype)

    e.when(e.icmp("ne", place, V("ptr", "null")), fill)


def _words(e: Emitter, v: V, dtype: DType) -> V:
    """A value as one or two words, see `eas.ir.reports`."""
    if dtype.is_float:
        return e.bits(v)
    if dtype.bits == 64:
        return v
    return e.cast("sext" if dtype.is_signed else "zext", v, "i32")


SUPPORT = """\
; Of the faults of several programs that of the first program is kept, so that every launch reports
; the same. Word 12 of the report is a lock, words 14 and 15 are the number of the program.
define internal void @eas_report_fault(ptr %report, i32 %site, i32 %x, i32 %y, i32 %z, \
i32 %extent_x, i32 %extent_y, i32 %lane, i64 %value, i64 %length) noinline cold {
entry:
  %x64 = zext i32 %x to i64
  %y64 = zext i32 %y to i64
  %z64 = zext i32 %z to i64
  %ex64 = zext i32 %extent_x to i64
  %ey64 = zext i32 %extent_y to i64
  %planes = mul i64 %z64, %ey64
  %rows = add i64 %planes, %y64
  %before = mul i64 %rows, %ex64
  %program = add i64 %before, %x64
  %p12 = getelementptr i32, ptr %report, i64 12
  %p14 = getelementptr i32, ptr %report, i64 14
  br label %lock
lock:
  %pair = cmpxchg ptr %p12, i32 0, i32 1 acquire monotonic
  %is_locked = extractvalue { i32, i1 } %pair, 1
  br i1 %is_locked, label %look, label %lock
look:
  %known = load atomic i32, ptr %report monotonic, align 4
  %is_first = icmp eq i32 %known, 0
  %known_program = load atomic i64, ptr %p14 monotonic, align 8
  %is_earlier = icmp slt i64 %program, %known_program
  %is_kept = or i1 %is_first, %is_earlier
  br i1 %is_kept, label %keep, label %end
keep:
  store atomic i64 %program, ptr %p14 monotonic, align 8
  %p8 = getelementptr i32, ptr %report, i64 8
  store i64 %value, ptr %p8
  %p10 = getelementptr i32, ptr %report, i64 10
  store i64 %length, ptr %p10
  %p1 = getelementptr i32, ptr %report, i64 1
  store i32 %x, ptr %p1
  %p2 = getelementptr i32, ptr %report, i64 2
  store i32 %y, ptr %p2
  %p3 = getelementptr i32, ptr %report, i64 3
  store i32 %z, ptr %p3
  %p4 = getelementptr i32, ptr %report, i64 4
  store i32 %lane, ptr %p4
  %number = add i32 %site, 1
  store atomic i32 %number, ptr %report release, align 4
  br label %end
end:
  store atomic i32 0, ptr %p12 release, align 4
  ret void
}

define internal ptr @eas_report_record(ptr %report, i32 %size, i32 %site, i32 %x, i32 %y, i32 %z, \
i32 %lane) noinline cold {
  %proom = getelementptr i32, ptr %report, i64 5
  %room = load i32, ptr %proom
  %pneeded = getelementptr i32, ptr %report, i64 6
  %start = atomicrmw add ptr %pneeded, i32 %size monotonic
  %end = add i32 %start, %size
  %fits = icmp ule i32 %end, %room
  br i1 %fits, label %write, label %full
write:
  %at = add i32 %start, 16
  %at64 = zext i32 %at to i64
  %record = getelementptr i32, ptr %report, i64 %at64
  store i32 %site, ptr %record
  %p1 = getelementptr i32, ptr %record, i64 1
  store i32 %x, ptr %p1
  %p2 = getelementptr i32, ptr %record, i64 2
  store i32 %y, ptr %p2
  %p3 = getelementptr i32, ptr %record, i64 3
  store i32 %z, ptr %p3
  %p4 = getelementptr i32, ptr %record, i64 4
  store i32 %lane, ptr %p4
  ret ptr %record
full:
  %plost = getelementptr i32, ptr %report, i64 7
  %lost = atomicrmw add ptr %plost, i32 1 monotonic
  ret ptr null
}
"""

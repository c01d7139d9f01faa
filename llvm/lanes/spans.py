"""Interval arithmetic at run time: the span of offsets over many lanes, from a few instructions.

The span of an integer block over a box of coordinates is computed in i64. Masks and the conditions
of branches around an access clip the spans of what they compare. If the span of an access is in
bounds, the access needs no checks, see `eas.llvm.lanes.proofs`.

Kernels compute offsets in i32, which wraps. A span is *exact* if it holds the numbers themselves.
Else it holds them modulo the width of their dtype: sums and products of such numbers are still
right modulo the width, and any other op requires that the span fits, which makes it exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eas.ir.nodes import Compute, Constant, For, Value
from eas.ir.ops import OPS
from eas.ir.types import DType, Shape
from eas.llvm.analysis.facts import Facts
from eas.llvm.emit.emit import Emitter, V, const
from eas.support.records import frozen, replace

_BITS = 62  # sums and products of fewer bits cannot overflow
_MOST = (1 << 63) - 1  # an i64; a u64 may be more
_NONE = -1  # the label of an axis of extent 1

Label = int | tuple[int, int]  # an axis of the lanes, or the number of a view and an axis of it


@frozen
class Span:
    """From `low` to `high`, both included; their magnitude is below 2^`bits`."""

    low: V
    high: V
    bits: int
    is_exact: bool = True

    @property
    def is_point(self) -> bool:
        return self.low == self.high


@frozen
class Axis:
    """The coordinates along an axis of a block. Axes with one label have equal coordinates."""

    extent: int
    label: Label


Box = tuple[Axis, ...]


def box_of(shape: Shape) -> Box:
    """All lanes of a shape."""
    return tuple(Axis(extent, axis if extent > 1 else _NONE) for axis, extent in enumerate(shape))


@frozen
class _Clip:
    """A comparison that holds: a value is below (or above) a bound."""

    is_upper: bool
    is_closed: bool
    bound: Value
    box: Box


_COMPARISONS = {"lt": (True, False), "le": (True, True), "gt": (False, False), "ge": (False, True)}


class Spans:
    """Computes spans in lanes in which the conditions hold that were given to `under`.

    `number` gives a scalar that is defined already, `position` the span of a program's position.
    `relied_on` collects the conditions under which the requested spans are right. `views` numbers
    the views that mix axes.
    """

    def __init__(
        self,
        e: Emitter,
        facts: Facts,
        number: Callable[[Value], V | None],
        position: Callable[[Compute], Span],
    ) -> None:
        self.e, self.facts, self.number, self.position = e, facts, number, position
        self.relied_on: dict[V, None] = {}
        self.clips: dict[tuple[int, Box], list[_Clip]] = {}
        self.found: dict[tuple[int, Box, bool], tuple[Span | None, dict[V, None]]] = {}
        self.views: dict[object, int] = {}
        self.has_clips = True

    def under(self, conditions: Sequence[Value]) -> None:
        """Sets the conditions that hold in the lanes of the next spans."""
        self.clips, self.found, self.relied_on = {}, {}, {}
        seen: set[tuple[int, Box]] = set()
        for condition in conditions:
            self._clip(condition, box_of(condition.shape), seen)

    def _clip(self, condition: Value, box: Box, seen: set[tuple[int, Box]]) -> None:
        op = self.facts.definitions.get(condition.id)
        if not isinstance(op, Compute) or (condition.id, box) in seen:
            return
        seen.add((condition.id, box))
        name, a = op.op.name, op.operands
        if name == "and":
            for operand in a:
                self._clip(operand, box, seen)
        elif op.op.view:
            self._clip(a[0], self.view_box(op, box), seen)
        elif name in _COMPARISONS and a[0].ty.dtype.is_int:
            is_upper, is_closed = _COMPARISONS[name]
            for value, bound, side in ((a[0], a[1], is_upper), (a[1], a[0], not is_upper)):
                clips = self.clips.setdefault((value.id, box if value.shape else ()), [])
                clips.append(_Clip(side, is_closed, bound, box if bound.shape else ()))

    def of(self, value: Value, box: Box) -> Span | None:
        """The span of a value in the lanes of a box; None if it is not known."""
        box = box if value.shape else ()
        key = (value.id, box, self.has_clips)
        if key not in self.found:
            before, self.relied_on = self.relied_on, {}
            span = self._of(value, box)
            if self.has_clips:
                span = self._clipped(value, box, span)
            self.found[key] = span, self.relied_on
            self.relied_on = before
        span, relied_on = self.found[key]
        self.relied_on |= relied_on
        return span

    def view_box(self, op: Compute, box: Box) -> Box:
        """The box of a view's operand that the lanes of a box read.

        A view that mixes axes may map a lane to any coordinates; an equal view maps it to equal
        ones.
        """
        name, shape = op.op.name, op.operands[0].shape
        if name in _VIEW_BOXES:
            return _VIEW_BOXES[name](op, box)
        view = (name, op.attrs, op.result.shape, shape, box)
        number = self.views.setdefault(view, len(self.views))
        return tuple(Axis(extent, (number, axis)) for axis, extent in enumerate(shape))

    def rely_on(self, condition: V) -> None:
        self.relied_on[condition] = None

    def _clipped(self, value: Value, box: Box, span: Span | None) -> Span | None:
        """A span clipped by comparisons. Without a span, the comparisons may be enough."""
        clips = self.clips.get((value.id, box), [])
        if not clips:
            return span
        is_new = span is None
        span = self._static(value) if span is None else self.fit(span, value.ty.dtype)
        for clip in clips:
            self.has_clips = False
            bound = self.of(clip.bound, clip.box)
            self.has_clips = True
            if bound is not None:
                span = self._within(span, clip, self.fit(bound, clip.bound.ty.dtype))
        if is_new and value.ty.dtype.max > _MOST:  # only a clip shows that it fits i64
            self.rely_on(self.e.icmp("slt", span.high, const("i64", _MOST)))
        return span

    def _static(self, value: Value) -> Span:
        """The span that the range analysis of the function gives."""
        dtype = value.ty.dtype
        low, high = self.facts.ranges.bounds(value) or (dtype.min, dtype.max)
        low, high = max(low, -(1 << 63)), min(high, _MOST)
        return Span(const("i64", low), const("i64", high), 63)

    def _within(self, span: Span, clip: _Clip, bound: Span) -> Span:
        e, one, bits = self.e, const("i64", 1), max(span.bits, min(bound.bits + 1, 63))
        if clip.is_upper:
            last = bound.high if clip.is_closed else e.sub(bound.high, one)
            return replace(span, high=_min_or_max(e, "smin", span.high, last), bits=bits)
        first = bound.low if clip.is_closed else e.add(bound.low, one)
        return replace(span, low=_min_or_max(e, "smax", span.low, first), bits=bits)

    def fit(self, span: Span, dtype: DType) -> Span:
        """The span as an exact one, which requires that it fits the dtype."""
        if span.is_exact:
            return span
        low, high = max(dtype.min, -(1 << 63)), min(dtype.max, _MOST)
        self.rely_on(self.e.icmp("sge", span.low, const("i64", low)))
        self.rely_on(self.e.icmp("sle", span.high, const("i64", high)))
        return replace(span, is_exact=True)

    def _of(self, value: Value, box: Box) -> Span | None:
        if not value.ty.dtype.is_int:
            return None
        op = self.facts.definitions.get(value.id)
        if isinstance(op, Constant):
            number = int(op.value)
            if number > _MOST:
                return None
            return Span(const("i64", number), const("i64", number), number.bit_length())
        if not value.shape and value.id not in self.facts.indexed:  # an index has to be proved
            v = self.number(value)
            if v is not None:
                return self._point(v, value.ty.dtype)
        same = self.facts.while_values.get(value.id)
        if same is not None:
            return self.of(same, box)
        loop = self.facts.counters.get(value.id)
        if loop is not None:
            return self._counter(loop, box)
        if not isinstance(op, Compute):
            return None
        rule = RULES.get(op.op.name)
        return None if rule is None else rule(self, op, box)

    def _point(self, v: V, dtype: DType) -> Span:
        """The span of a scalar that is defined already."""
        wide = self.e.cast("sext" if dtype.is_signed else "zext", v, "i64")
        if dtype.bits == 64 and not dtype.is_signed:
            self.rely_on(self.e.icmp("sge", wide, const("i64", 0)))
        return Span(wide, wide, min(dtype.bits - dtype.is_signed, 63))

    def _counter(self, op: For, box: Box) -> Span | None:
        """The values of a loop's counter, if its step is constant."""
        step = self.facts.constant(op.step)
        start, stop = self.of(op.start, box), self.of(op.stop, box)
        if start is None or stop is None or not isinstance(step, int) or step == 0:
            return None
        start, stop = (self.fit(span, op.start.ty.dtype) for span in (start, stop))
        e, one, bits = self.e, const("i64", 1), min(max(start.bits, stop.bits) + 1, 63)
        if step > 0:
            return Span(start.low, e.sub(stop.high, one), bits)
        return Span(e.add(stop.low, one), start.high, bits)

    def plus(self, a: V, b: V, bits: int, how: str = "add") -> V:
        if bits <= _BITS:
            return self.e.add(a, b) if how == "add" else self.e.sub(a, b)
        return self._checked(f"s{how}", a, b)

    def times(self, a: V, b: V, bits: int) -> V:
        return self.e.mul(a, b) if bits <= _BITS else self._checked("smul", a, b)

    def _checked(self, name: str, a: V, b: V) -> V:
        """A sum or product that must not overflow."""
        e, pair = self.e, "{ i64, i1 }"
        both = e.call(f"llvm.{name}.with.overflow.i64", pair, a, b)
        self.rely_on(e.not_(e.value("i1", f"extractvalue {both}, 1")))
        return e.value("i64", f"extractvalue {both}, 0")


def _min_or_max(e: Emitter, how: str, a: V, b: V) -> V:
    """The smaller (`smin`) or the larger (`smax`) of two numbers."""
    if isinstance(a.known, int) and isinstance(b.known, int):
        return const("i64", min(a.known, b.known) if how == "smin" else max(a.known, b.known))
    return a if a == b else e.intrinsic(how, a, b)


# The boxes of the operands of views that do not mix axes.


def _broadcast_box(op: Compute, box: Box) -> Box:
    pairs = zip(op.operands[0].shape, box, strict=True)
    return tuple(Axis(1, _NONE) if extent == 1 else at for extent, at in pairs)


def _expanded_box(op: Compute, box: Box) -> Box:
    axis: Any = op.attr("axis")
    return (*box[:axis], *box[axis + 1 :])


def _permuted_box(op: Compute, box: Box) -> Box:
    axes: Any = op.attr("axes")
    found = {axis: box[position] for position, axis in enumerate(axes)}
    return tuple(found[axis] for axis in range(len(box)))


def _splat_box(op: Compute, box: Box) -> Box:
    del op, box
    return ()


_VIEW_BOXES: Mapping[str, Callable[[Compute, Box], Box]] = {
    "splat": _splat_box,
    "broadcast": _broadcast_box,
    "expand_dims": _expanded_box,
    "permute": _permuted_box,
}


# The span of an op's result; None where it is not known.

Rule = Callable[[Spans, Compute, Box], Span | None]


def _view(spans: Spans, op: Compute, box: Box) -> Span | None:
    return spans.of(op.operands[0], spans.view_box(op, box))


def _exact_operands(spans: Spans, op: Compute, box: Box) -> list[Span] | None:
    found: list[Span] = []
    for operand in op.operands:
        span = spans.of(operand, box)
        if span is None:
            return None
        found.append(spans.fit(span, operand.ty.dtype))
    return found


def _ring(make: Callable[[Spans, Span, Span], Span]) -> Rule:
    """A sum or a product."""

    def rule(spans: Spans, op: Compute, box: Box) -> Span | None:
        a, b = (spans.of(operand, box) for operand in op.operands)
        if a is None or b is None:
            return None
        wraps = op.result.id in spans.facts.wrapping
        made = make(spans, a, b)
        return replace(made, is_exact=a.is_exact and b.is_exact and not wraps)

    return rule


def _add(spans: Spans, a: Span, b: Span) -> Span:
    bits = max(a.bits, b.bits) + 1
    low, high = spans.plus(a.low, b.low, bits), spans.plus(a.high, b.high, bits)
    return Span(low, high, min(bits, 63))


def _sub(spans: Spans, a: Span, b: Span) -> Span:
    bits = max(a.bits, b.bits) + 1
    low = spans.plus(a.low, b.high, bits, "sub")
    return Span(low, spans.plus(a.high, b.low, bits, "sub"), min(bits, 63))


def _mul(spans: Spans, a: Span, b: Span) -> Span:
    bits = a.bits + b.bits
    if a.is_point:
        a, b = b, a
    products = [spans.times(x, y, bits) for x in _ends(a) for y in _ends(b)]
    if b.is_point and isinstance(b.low.known, int):
        ordered = products if b.low.known >= 0 else products[::-1]
        return Span(ordered[0], ordered[-1], min(bits, 63))
    low = high = products[0]
    for product in products[1:]:
        low = _min_or_max(spans.e, "smin", low, product)
        high = _min_or_max(spans.e, "smax", high, product)
    return Span(low, high, min(bits, 63))


def _ends(span: Span) -> list[V]:
    return [span.low] if span.is_point else [span.low, span.high]


def _shl(spans: Spans, op: Compute, box: Box) -> Span | None:
    by, a = spans.facts.constant(op.operands[1]), spans.of(op.operands[0], box)
    if a is None or not isinstance(by, int) or not 0 <= by < 31:
        return None
    factor = Span(const("i64", 1 << by), const("i64", 1 << by), by + 1)
    return replace(_mul(spans, a, factor), is_exact=False)


def _chosen(how: str) -> Rule:
    """`minimum` or `maximum`."""

    def rule(spans: Spans, op: Compute, box: Box) -> Span | None:
        found = _exact_operands(spans, op, box)
        return None if found is None else _meet(spans.e, how, *found)

    return rule


def _meet(e: Emitter, how: str, a: Span, b: Span) -> Span:
    low, high = _min_or_max(e, how, a.low, b.low), _min_or_max(e, how, a.high, b.high)
    return Span(low, high, max(a.bits, b.bits))


def _clamp(spans: Spans, op: Compute, box: Box) -> Span | None:
    found = _exact_operands(spans, op, box)
    if found is None:
        return None
    return _meet(spans.e, "smin", _meet(spans.e, "smax", found[0], found[1]), found[2])


def _select(spans: Spans, op: Compute, box: Box) -> Span | None:
    e, (a, b) = spans.e, [spans.of(operand, box) for operand in op.operands[1:]]
    if a is None or b is None:
        return None
    a, b = (spans.fit(span, op.result.ty.dtype) for span in (a, b))
    low, high = _min_or_max(e, "smin", a.low, b.low), _min_or_max(e, "smax", a.high, b.high)
    return Span(low, high, max(a.bits, b.bits))


def _mod(spans: Spans, op: Compute, box: Box) -> Span | None:
    """A dividend that is below the divisor is not changed."""
    found = _exact_operands(spans, op, box)
    if found is None:
        return None
    e, (a, n), zero = spans.e, found, const("i64", 0)
    spans.rely_on(e.icmp("sgt", n.low, zero))
    is_positive = e.icmp("sge", a.low, zero)
    if op.op.name == "truncmod":
        spans.rely_on(is_positive)
    stays = e.and_(is_positive, e.icmp("slt", a.high, n.low))
    last = e.sub(n.high, const("i64", 1))
    return Span(e.select(stays, a.low, zero), e.select(stays, a.high, last), n.bits)


def _quotient(spans: Spans, op: Compute, box: Box) -> Span | None:
    """A quotient by a positive number is nearer to zero, and 0 or of the dividend's sign."""
    found = _exact_operands(spans, op, box)
    if found is None:
        return None
    e, (a, n), zero = spans.e, found, const("i64", 0)
    spans.rely_on(e.icmp("sgt", n.low, zero))
    by_low, by_high = (_min_or_max(e, "smax", end, const("i64", 1)) for end in (n.low, n.high))
    low = e.select(e.icmp("sge", a.low, zero), e.binary("sdiv", a.low, by_high), a.low)
    high = _min_or_max(e, "smax", e.binary("sdiv", a.high, by_low), zero)
    return Span(low, high, a.bits)


def _and(spans: Spans, op: Compute, box: Box) -> Span | None:
    """`and` with a constant is at most that constant."""
    del box
    for operand in op.operands:
        mask = spans.facts.constant(operand)
        if isinstance(mask, int) and 0 <= mask <= _MOST:
            return Span(const("i64", 0), const("i64", mask), mask.bit_length())
    return None


def _index(spans: Spans, op: Compute, box: Box) -> Span | None:
    """A negative index, which counts from the end, is not proved: it is checked."""
    found = _exact_operands(spans, op, box)
    if found is None:
        return None
    index, extent = found
    spans.rely_on(spans.e.icmp("sge", index.low, const("i64", 0)))
    spans.rely_on(spans.e.icmp("slt", index.high, extent.low))
    return index


def _cast(spans: Spans, op: Compute, box: Box) -> Span | None:
    found = _exact_operands(spans, op, box)
    if found is None:
        return None
    old, new = op.operands[0].ty.dtype, op.result.ty.dtype
    return replace(found[0], is_exact=new.min <= old.min and new.max >= old.max)


def _arange(spans: Spans, op: Compute, box: Box) -> Span | None:
    del spans
    start: Any = dict(op.attrs).get("start", 0)
    last = start + box[0].extent - 1
    return Span(const("i64", start), const("i64", last), max(abs(start), abs(last)).bit_length())


def _lane(most: int) -> Rule:
    def rule(spans: Spans, op: Compute, box: Box) -> Span | None:
        del spans, op, box
        return Span(const("i64", 0), const("i64", most), most.bit_length())

    return rule


def _position(spans: Spans, op: Compute, box: Box) -> Span | None:
    del box
    return spans.position(op)


RULES: dict[str, Rule] = {
    **{name: _view for name, op in OPS.items() if op.view},
    "add": _ring(_add),
    "sub": _ring(_sub),
    "mul": _ring(_mul),
    "shl": _shl,
    "and": _and,
    "minimum": _chosen("smin"),
    "maximum": _chosen("smax"),
    "clamp": _clamp,
    "select": _select,
    "mod": _mod,
    "truncmod": _mod,
    "floordiv": _quotient,
    "truncdiv": _quotient,
    "index": _index,
    "cast": _cast,
    "arange": _arange,
    "thread_index": _arange,
    "lane_index": _lane(31),
    "simdgroup_index": _lane(31),
    "program_id": _position,
    "num_programs": _position,
}

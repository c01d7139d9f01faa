"""Interval arithmetic at run time: proves the accesses of a loop over lanes before it begins.

The span of an integer block over a box of coordinates is computed in i64 with a few scalar
instructions. If every span of a loop's offsets is inside of its array, the loop needs no checks.

Kernels compute offsets in i32, which wraps. Sums and products are exact modulo 2^32, so it is
enough that their final span fits; what goes into any other op has to fit there (`_Spans.fit`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eas.ir.nodes import (
    Atomic,
    Compute,
    Constant,
    For,
    Load,
    Op,
    Store,
    Value,
    operands_of,
    regions_of,
    results_of,
)
from eas.ir.records import frozen
from eas.ir.types import DType, Shape
from eas.runtime.cpu.body import Body
from eas.runtime.cpu.bounds import Bounds
from eas.runtime.cpu.emit import Emitter, V, const
from eas.runtime.cpu.facts import Facts, with_inner
from eas.runtime.cpu.limits import Assumptions, Limit, depends, limits_in, room, shortfall

Access = Load | Store | Atomic

_BITS = 62  # sums and products of fewer bits cannot overflow


@frozen
class Span:
    """From `low` to `high`, both included; their magnitude is below 2^`bits`."""

    low: V
    high: V
    bits: int

    @property
    def is_point(self) -> bool:
        return self.low == self.high


Box = tuple[Span, ...]


def provable(
    body: Body,
    ops: Sequence[Op],
    remade: set[int],
    bounds: Mapping[int, Bounds],
    known: Assumptions,
    lanes: tuple[Shape, int, V | None, V | None],
) -> tuple[frozenset[int], V]:
    """The accesses of a loop that a condition proves, by the ids of their ops, and the condition.

    `lanes` are the domain, the axis of the vectors, and between which lanes along it the loop
    without masks runs, where that is not all of them.
    """
    facts = body.facts
    members = [each for op in ops for each in with_inner(op)]
    accesses = [op for op in members if isinstance(op, Access) and op.pointer.id in bounds]
    accesses += _remade_loads(members, remade, facts, bounds)
    spans = _Spans(body, members)
    proven: set[int] = set()
    holds = const("i1", True)
    for op in accesses:
        found = spans.inside(op, bounds[op.pointer.id], known, lanes)
        if found is not None:
            proven.add(id(op))
            holds = body.e.both(holds, found)
    return frozenset(proven), holds


def _remade_loads(
    members: Sequence[Op], remade: set[int], facts: Facts, bounds: Mapping[int, Bounds]
) -> list[Access]:
    """The loads that are rematerialized where the members of a loop need them."""
    found: dict[int, Access] = {}
    seen: set[int] = set()
    waiting = [value for op in members for value in operands_of(op)]
    while waiting:
        value = waiting.pop()
        op = facts.definitions.get(value.id)
        if value.id in seen or op is None:
            continue
        seen.add(value.id)
        if isinstance(op, Load) and value.id in remade and op.pointer.id in bounds:
            found[id(op)] = op
        if isinstance(op, Compute) or value.id in remade:
            waiting += operands_of(op)
    return [op for key, op in found.items() if key not in {id(each) for each in members}]


class _Spans:
    """Spans of integers before a loop; `conditions` are what the one under way relies on."""

    def __init__(self, body: Body, members: Sequence[Op]) -> None:
        self.body, self.e = body, body.e
        self.definitions = body.facts.definitions
        self.inner = {value.id for op in members for value in _defined(op)}
        self.counters = {op.body.args[0].id: op for op in members if isinstance(op, For)}
        self.conditions: list[V] = []
        self.found: dict[tuple[int, Box], tuple[Span | None, list[V]]] = {}

    def inside(
        self,
        op: Access,
        bounds: Bounds,
        known: Assumptions,
        lanes: tuple[Shape, int, V | None, V | None],
    ) -> V | None:
        """Whether no active lane of an access is outside; None if that cannot be computed here."""
        e, shape = self.e, op.offset.shape
        limits = [] if op.mask is None else limits_in(op.mask, self.body.facts, known)
        box = self._box(shape, limits, lanes)
        self.conditions = []
        span = self.of(op.offset, box)
        if span is None:
            return None
        self.fit(span, op.offset.ty.dtype)
        holds = e.both(e.icmp("sge", span.low, bounds.low), e.icmp("slt", span.high, bounds.high))
        for condition in self.conditions:
            holds = e.both(holds, condition)
        for axis in box:
            if axis.low.known is None or axis.high.known is None:
                holds = e.either(holds, e.icmp("sgt", axis.low, axis.high))
        return holds

    def _box(
        self,
        shape: Shape,
        limits: Sequence[Limit],
        lanes: tuple[Shape, int, V | None, V | None],
    ) -> Box:
        """The coordinates of the lanes that take part, as far as the limits of the mask say so."""
        e = self.e
        lows: list[V] = [const("i64", 0) for _ in shape]
        highs: list[V] = [const("i64", extent - 1) for extent in shape]
        for limit in limits:
            axis = limit.axis_in(len(shape))
            ends = [v for v in (limit.index, limit.bound) if v is not None]
            if axis is None or any(depends(v, self.inner, self.body.facts) for v in ends):
                continue
            if limit.is_lower:
                lows[axis] = e.intrinsic("smax", lows[axis], shortfall(self.body, limit))
            else:
                last = e.sub(room(self.body, limit), const("i64", 1))
                highs[axis] = e.intrinsic("smin", highs[axis], last)
        domain, axis, first, full = lanes
        if shape == domain and full is not None:
            last = e.sub(e.cast("sext", full, "i64"), const("i64", 1))
            highs[axis] = e.intrinsic("smin", highs[axis], last)
        if shape == domain and first is not None:
            lows[axis] = e.intrinsic("smax", lows[axis], e.cast("sext", first, "i64"))
        return tuple(Span(low, high, 32) for low, high in zip(lows, highs, strict=True))

    def axis(self, extent: int) -> Span:
        """All coordinates along an axis."""
        return Span(const("i64", 0), const("i64", extent - 1), 32)

    def fit(self, span: Span, dtype: DType) -> None:
        """Relies on it that a span fits into a dtype, so that no number in it has wrapped."""
        e = self.e
        bits = dtype.bits - dtype.is_signed
        if span.bits > bits or not dtype.is_signed:
            low = max(dtype.min, -(1 << 63))
            self.conditions.append(e.icmp("sge", span.low, const("i64", low)))
        if span.bits > bits and bits < 63:
            self.conditions.append(e.icmp("sle", span.high, const("i64", dtype.max)))

    def of(self, value: Value, box: Box) -> Span | None:
        """Between which numbers a value lies in the lanes of a box, before the loop begins."""
        key = (value.id, box if value.shape else ())
        if key not in self.found:
            before, self.conditions = self.conditions, []
            span = self._of(value, key[1])
            self.found[key] = span, self.conditions
            self.conditions = before
        span, conditions = self.found[key]
        self.conditions += conditions
        return span

    def _of(self, value: Value, box: Box) -> Span | None:
        dtype = value.ty.dtype
        if not dtype.is_int:
            return None
        op = self.definitions.get(value.id)
        if isinstance(op, Constant):
            return self._point(const("i64", int(op.value)), int(op.value).bit_length())
        if value.id in self.counters:
            return self._counter(self.counters[value.id], box)
        is_indexed = value.id in self.body.facts.indexed  # its indices have to be proved as well
        if not value.shape and value.id not in self.inner and not is_indexed:
            return self._scalar(value)
        if not isinstance(op, Compute):
            return None
        rule = _RULES.get(op.op.name)
        return None if rule is None else rule(self, op, box)

    def _point(self, v: V, bits: int) -> Span:
        return Span(v, v, bits)

    def _scalar(self, value: Value) -> Span:
        """A number that is there before the loop."""
        dtype = value.ty.dtype
        v = self.e.cast("sext" if dtype.is_signed else "zext", self.body.scalar(value), "i64")
        if dtype.bits == 64 and not dtype.is_signed:
            self.conditions.append(self.e.icmp("sge", v, const("i64", 0)))
        return self._point(v, min(dtype.bits, 64) - (dtype.is_signed or dtype.bits == 64))

    def _counter(self, op: For, box: Box) -> Span | None:
        """All that a counter can be; its step has to be known."""
        step = self.body.facts.constant(op.step)
        start, stop = self.of(op.start, box), self.of(op.stop, box)
        if start is None or stop is None or not isinstance(step, int) or step == 0:
            return None
        for span in (start, stop):
            self.fit(span, op.start.ty.dtype)
        e, one, bits = self.e, const("i64", 1), max(start.bits, stop.bits) + 1
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
        overflows = e.value("i1", f"extractvalue {both}, 1")
        self.conditions.append(e.invert(overflows))
        return e.value("i64", f"extractvalue {both}, 0")


def _defined(op: Op) -> list[Value]:
    inside = [value for region in regions_of(op) for value in region.args]
    return [*results_of(op), *inside]


# Rules: the span of an op's result, None where it is not known.


def _operand_spans(spans: _Spans, op: Compute, box: Box, fits: bool) -> list[Span] | None:
    """The spans of all operands, which have to fit into their dtype if asked."""
    found: list[Span] = []
    for operand in op.operands:
        span = spans.of(operand, box)
        if span is None:
            return None
        if fits:
            spans.fit(span, operand.ty.dtype)
        found.append(span)
    return found


Rule = Callable[[_Spans, Compute, Box], Span | None]


def _ring(make: Callable[[_Spans, Span, Span], Span]) -> Rule:
    """A sum or a product, which is exact modulo the width."""

    def rule(spans: _Spans, op: Compute, box: Box) -> Span | None:
        found = _operand_spans(spans, op, box, fits=False)
        return None if found is None else make(spans, found[0], found[1])

    return rule


def _add(spans: _Spans, a: Span, b: Span) -> Span:
    bits = max(a.bits, b.bits) + 1
    return Span(spans.plus(a.low, b.low, bits), spans.plus(a.high, b.high, bits), min(bits, 63))


def _sub(spans: _Spans, a: Span, b: Span) -> Span:
    bits = max(a.bits, b.bits) + 1
    low = spans.plus(a.low, b.high, bits, "sub")
    return Span(low, spans.plus(a.high, b.low, bits, "sub"), min(bits, 63))


def _mul(spans: _Spans, a: Span, b: Span) -> Span:
    e, bits = spans.e, a.bits + b.bits
    if a.is_point:
        a, b = b, a
    products = [spans.times(x, y, bits) for x in _ends(a) for y in _ends(b)]
    if b.is_point and isinstance(b.low.known, int):
        ordered = products if b.low.known >= 0 else products[::-1]
        return Span(ordered[0], ordered[-1], min(bits, 63))
    low = high = products[0]
    for product in products[1:]:
        low, high = e.intrinsic("smin", low, product), e.intrinsic("smax", high, product)
    return Span(low, high, min(bits, 63))


def _ends(span: Span) -> list[V]:
    return [span.low] if span.is_point else [span.low, span.high]


def _chosen(how: str) -> Rule:
    """`minimum` or `maximum`."""

    def rule(spans: _Spans, op: Compute, box: Box) -> Span | None:
        found = _operand_spans(spans, op, box, fits=True)
        return None if found is None else _meet(spans.e, how, *found)

    return rule


def _meet(e: Emitter, how: str, a: Span, b: Span) -> Span:
    low, high = e.intrinsic(how, a.low, b.low), e.intrinsic(how, a.high, b.high)
    return Span(low, high, max(a.bits, b.bits))


def _clamp(spans: _Spans, op: Compute, box: Box) -> Span | None:
    found = _operand_spans(spans, op, box, fits=True)
    if found is None:
        return None
    return _meet(spans.e, "smin", _meet(spans.e, "smax", found[0], found[1]), found[2])


def _select(spans: _Spans, op: Compute, box: Box) -> Span | None:
    e, (a, b) = spans.e, [spans.of(operand, box) for operand in op.operands[1:]]
    if a is None or b is None:
        return None
    spans.fit(a, op.result.ty.dtype)
    spans.fit(b, op.result.ty.dtype)
    low, high = e.intrinsic("smin", a.low, b.low), e.intrinsic("smax", a.high, b.high)
    return Span(low, high, max(a.bits, b.bits))


def _mod(spans: _Spans, op: Compute, box: Box) -> Span | None:
    """Where the dividend is below the divisor, it stays as it is."""
    found = _operand_spans(spans, op, box, fits=True)
    if found is None:
        return None
    e, (a, n), zero = spans.e, found, const("i64", 0)
    spans.conditions.append(e.icmp("sgt", n.low, zero))
    is_positive = e.icmp("sge", a.low, zero)
    if op.op.name == "truncmod":
        spans.conditions.append(is_positive)
    stays = e.both(is_positive, e.icmp("slt", a.high, n.low))
    last = e.sub(n.high, const("i64", 1))
    return Span(e.select(stays, a.low, zero), e.select(stays, a.high, last), n.bits)


def _index(spans: _Spans, op: Compute, box: Box) -> Span | None:
    """An index that counts from the end is not proved here: it is checked in place."""
    found = _operand_spans(spans, op, box, fits=True)
    if found is None:
        return None
    index, extent = found
    spans.conditions.append(spans.e.icmp("sge", index.low, const("i64", 0)))
    spans.conditions.append(spans.e.icmp("slt", index.high, extent.low))
    return index


def _cast(spans: _Spans, op: Compute, box: Box) -> Span | None:
    found = _operand_spans(spans, op, box, fits=True)
    return None if found is None else found[0]


def _arange(spans: _Spans, op: Compute, box: Box) -> Span | None:
    start: Any = dict(op.attrs).get("start", 0)
    first = const("i64", start)
    return Span(spans.e.add(box[0].low, first), spans.e.add(box[0].high, first), 32)


def _splat(spans: _Spans, op: Compute, box: Box) -> Span | None:
    del box
    return spans.of(op.operands[0], ())


def _broadcast(spans: _Spans, op: Compute, box: Box) -> Span | None:
    single = spans.axis(1)
    shape = op.operands[0].shape
    return spans.of(
        op.operands[0],
        tuple(single if mine == 1 else at for mine, at in zip(shape, box, strict=True)),
    )


def _expand_dims(spans: _Spans, op: Compute, box: Box) -> Span | None:
    axis: Any = op.attr("axis")
    return spans.of(op.operands[0], (*box[:axis], *box[axis + 1 :]))


def _permute(spans: _Spans, op: Compute, box: Box) -> Span | None:
    axes: Any = op.attr("axes")
    found = {axis: box[place] for place, axis in enumerate(axes)}
    return spans.of(op.operands[0], tuple(found[axis] for axis in range(len(box))))


def _anywhere(spans: _Spans, op: Compute, box: Box) -> Span | None:
    """A view whose coordinates may be any of its operand's."""
    del box
    return spans.of(op.operands[0], tuple(map(spans.axis, op.operands[0].shape)))


_RULES: dict[str, Rule] = {
    "add": _ring(_add),
    "sub": _ring(_sub),
    "mul": _ring(_mul),
    "minimum": _chosen("smin"),
    "maximum": _chosen("smax"),
    "clamp": _clamp,
    "select": _select,
    "mod": _mod,
    "truncmod": _mod,
    "index": _index,
    "cast": _cast,
    "arange": _arange,
    "thread_index": _arange,
    "splat": _splat,
    "broadcast": _broadcast,
    "expand_dims": _expand_dims,
    "permute": _permute,
    "reshape": _anywhere,
    "slice": _anywhere,
    "cycle": _anywhere,
}

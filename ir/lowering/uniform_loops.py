"""Makes loops uniform whose lanes start at different counters, but have nearly equal trip counts.

`for i in range(start + t, stop, step)`, where `t` is the thread, becomes the
uniform loop `for j in range(start, stop, step)` with `i = j + t` under a predicate
`if t < stop - j`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eas.ir.aliasing.affine_forms import AffineForms, Form, is_never, own_indices
from eas.ir.builder import Builder
from eas.ir.nodes import (
    Break,
    Compute,
    Continue,
    For,
    Function,
    If,
    Loop,
    Op,
    Region,
    Value,
    Yield,
    regions_of,
    walk,
)
from eas.ir.ops import OPS
from eas.ir.passes.ranges import Ranges, analyze
from eas.ir.rewrite import builder_for, renumber, rewrite
from eas.ir.types import Scalar
from eas.support.records import frozen, replace

_LANES = ("thread_index", "arange")


def make_loops_uniform(f: Function) -> Function:
    """The function with such loops made uniform."""
    if not any(isinstance(op, For) and op.start.shape for op in walk(f.body)):
        return f
    makers = {op.result.id: op for op in walk(f.body) if isinstance(op, Compute)}
    uniform = _UniformLoops(builder_for(f), makers, _forms(makers), analyze(f))
    return renumber(replace(f, body=rewrite(f.body, uniform.change)))


def _forms(makers: Mapping[int, Compute]) -> AffineForms:
    """Forms that are exact in wrapping arithmetic; scalars and the lanes' numbers are symbols."""

    def definition(value: Value) -> Compute | None:
        op = makers.get(value.id) if value.shape else None
        return op if op is not None and op.op.name not in _LANES else None

    return AffineForms(definition, is_never)


@frozen
class _UniformLoops:
    build: Builder
    makers: Mapping[int, Compute]
    forms: AffineForms
    ranges: Ranges

    def change(self, op: Op, _: Op) -> Sequence[Op] | None:
        return self.level(op) if isinstance(op, For) else None

    def level(self, op: For) -> Sequence[Op] | None:
        parts = self.first_and_lane(op.start)
        stop, step = self.forms.scalar(op.stop), self.forms.scalar(op.step)
        if parts is None or stop is None or step is None or _exits(op.body):
            return None
        first, lane = parts
        if self.low(step) < 1 or (first is not None and self.low(first) < 0):
            return None  # the counters of lanes that are beyond the end might wrap
        if any(value.shape != lane.shape for value in op.inits):
            return None
        self.build.ops, self.build.loc = [], op.loc
        if first is None:
            first = self.build.constant(0, stop.ty.dtype)
        before, self.build.ops = self.build.ops, []
        counter = self.build.value(Scalar(stop.ty.dtype))
        ops = self.body(op, counter, lane, stop)
        inside = Region((counter, *op.body.args[1:]), ops)
        return [*before, replace(op, start=first, stop=stop, step=step, body=inside)]

    def body(self, op: For, counter: Value, lane: Value, stop: Value) -> tuple[Op, ...]:
        """The ops of a trip, under a predicate of the lanes that are still active."""
        build, old = self.build, op.body
        start = build.compute("splat", counter, shape=lane.shape)
        left = build.compute("sub", stop, counter)
        room = build.compute("splat", left, shape=lane.shape)
        here = build.compute("lt", lane, room)
        build.emit(Compute(OPS["add"], (start, lane), (), old.args[0], op.loc))
        carried, last = old.args[1:], old.terminator
        then = Region((), old.ops)
        orelse = Region((), (Yield(carried, last.loc),))
        results = tuple(build.value(value.ty, value.hint) for value in carried)
        return (*build.ops, If(here, then, orelse, results, op.loc), Yield(results, last.loc))

    def first_and_lane(self, start: Value) -> tuple[Value | None, Value] | None:
        """A uniform value, and how far each lane is from it, which is not below zero."""
        form = self.forms.of(start, own_indices(start.shape))
        rest = replace(form, shared={}, unknown={})
        if len(form.unknown) != 1 or len(form.shared) > 1 or rest != Form():
            return None
        (((lane, _), times),) = form.unknown.items()
        first = next(iter(form.shared), None)
        if times != 1 or lane.shape != start.shape or not self.is_lane(lane):
            return None
        if first is not None and (first.shape or form.shared[first] != 1):
            return None
        return first, lane

    def is_lane(self, value: Value) -> bool:
        op = self.makers.get(value.id)
        return op is not None and op.op.name in _LANES and self.low(value) >= 0

    def low(self, value: Value) -> int:
        known = self.ranges.values.get(value.id)
        return -1 if known is None else known.low


def _exits(region: Region) -> bool:
    """Whether something leaves a trip before its end."""
    return any(
        isinstance(op, Break | Continue)
        or (not isinstance(op, Loop) and any(map(_exits, regions_of(op))))
        for op in region.ops
    )

"""Prepares products of matrices: their sums live in 8x8 fragments, which are no values.

A `dot` becomes three ops that name the fragments by a number: `mma_begin` fills them, `mma_step`
adds a product to them, `mma_end` gives the block. Where a loop carries a sum that it only adds
products to, only the step stays inside: the fragments keep the sum from trip to trip. A `dot` whose
extents are no multiples of 8, or of a batch, stays as it is: each lane computes its element.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Compute,
    Constant,
    For,
    Function,
    Op,
    Region,
    Value,
    Yield,
    operands_of,
    regions_of,
    walk,
)
from eas.ir.ops import OPS
from eas.ir.ops.record import Attrs, OpDef
from eas.ir.records import field, record, replace
from eas.ir.rewrite import builder_for, loop_exits, rebuild
from eas.ir.types import F32, Scalar, Type

EDGE = 8


def _untyped(operands: Sequence[Type], attrs: Attrs) -> Type:
    raise TypeError("these ops are made by the writer only")


def _no_meaning(*_: object) -> None:
    raise TypeError("these ops are made by the writer only")


def _record(name: str, operands: tuple[str, ...], doc: str) -> OpDef:
    attrs = ("slot", "m", "n", "k")
    return OpDef(name, operands, _untyped, _no_meaning, doc, attrs, False, collective=True)


BEGIN = _record("mma_begin", ("acc",), "fills fragments with a block, or with zeros")
STEP = _record("mma_step", ("a", "b"), "adds the product of two matrices to fragments")
END = _record("mma_end", (), "the block that fragments hold")
MMA_OPS = frozenset({"mma_begin", "mma_step", "mma_end"})


def with_fragments(function: Function) -> Function:
    """The function with the products that fragments can do prepared."""
    dots = [op for op in walk(function.body) if isinstance(op, Compute) and op.op.name == "dot"]
    if not any(map(_fits, dots)):
        return function
    change = _Change(builder_for(function), _Uses(function))
    return replace(function, body=change.region(function.body, {}))


def _fits(op: Compute) -> bool:
    shapes = [value.shape for value in op.operands]
    return all(len(s) == 2 and all(extent % EDGE == 0 for extent in s) for s in shapes)


class _Uses:
    """How often each value is used, and what makes it."""

    def __init__(self, function: Function) -> None:
        self.counts: dict[int, int] = {}
        self.makers: dict[int, Op] = {}
        for op in walk(function.body):
            for value in operands_of(op):
                self.counts[value.id] = self.counts.get(value.id, 0) + 1
            if isinstance(op, Compute | Constant):
                self.makers[op.result.id] = op

    def is_zero(self, value: Value) -> bool:
        maker = self.makers.get(value.id)
        if isinstance(maker, Compute) and maker.op.name in ("splat", "broadcast"):
            return self.is_zero(maker.operands[0])
        return isinstance(maker, Constant) and maker.value == 0

    def is_once(self, value: Value) -> bool:
        return self.counts.get(value.id) == 1


@record
class _Change:
    build: Builder
    uses: _Uses
    slots: int = field(default=0)

    def region(self, region: Region, kept: dict[int, int]) -> Region:
        """`kept` are the sums whose fragments a loop around keeps, by the value that it carries."""
        ops: list[Op] = []
        for op in region.ops:
            ops += self.op(op, region, kept)
        return Region(region.args, tuple(ops))

    def op(self, op: Op, region: Region, kept: dict[int, int]) -> list[Op]:
        if isinstance(op, Compute) and op.op.name == "dot" and _fits(op):
            return self.dot(op, region, kept)
        if isinstance(op, Compute) and kept:
            dot = self.added(op)
            if dot is not None and dot.operands[2].id in kept:
                return self.dot(dot, region, kept)
        if isinstance(op, For):
            return self.loop(op)
        if regions_of(op):
            return [rebuild(op, inner=lambda inner: self.region(inner, {}))]
        return [op]

    # --- products -----------------------------------------------------------------------------

    def added(self, op: Compute) -> Compute | None:
        """`acc + dot(a, b)` as one product that adds, if nothing else needs the plain one."""
        if op.op.name != "add" or op.result.ty.dtype != F32:
            return None
        for plain, acc in (op.operands, op.operands[::-1]):
            maker = self.uses.makers.get(plain.id)
            is_plain = isinstance(maker, Compute) and self.is_plain(maker)
            if is_plain and self.uses.is_once(plain) and isinstance(maker, Compute):
                a, b, _ = maker.operands
                return Compute(OPS["dot"], (a, b, acc), (), op.result, op.loc)
        return None

    def is_plain(self, op: Compute) -> bool:
        return op.op.name == "dot" and _fits(op) and self.uses.is_zero(op.operands[2])

    def dot(self, op: Compute, region: Region, kept: dict[int, int]) -> list[Op]:
        if kept and self.is_plain(op) and self.is_added_later(op, region, kept):
            return []  # the sum does it
        acc = op.operands[2]
        if acc.id in kept:
            return [self.step(op, kept[acc.id])]
        slot = self.new_slot()
        is_zero = self.uses.is_zero(acc)
        product = op.result if is_zero else self.build.value(op.result.ty)
        begin = Compute(BEGIN, (), _attrs(op, slot), self.nothing(product.hint), op.loc)
        ops: list[Op] = [begin, self.step(op, slot), self.end(op, product, slot)]
        if not is_zero:  # lanes have it already: they add it themselves
            ops.append(Compute(OPS["add"], (product, acc), (), op.result, op.loc))
        return ops

    def is_added_later(self, op: Compute, region: Region, kept: dict[int, int]) -> bool:
        """Whether a product is only added to a sum that fragments keep."""
        for other in region.ops:
            if isinstance(other, Compute) and op.result in other.operands:
                found = self.added(other)
                return found is not None and found.operands[2].id in kept
        return False

    def begin(self, op: Compute, init: Value, hint: str, slot: int) -> Op:
        """Fills the fragments that a loop is about to keep."""
        operands = () if self.uses.is_zero(init) else (init,)
        return Compute(BEGIN, operands, _attrs(op, slot), self.nothing(hint), op.loc)

    def step(self, op: Compute, slot: int) -> Op:
        return Compute(STEP, op.operands[:2], _attrs(op, slot), self.nothing(), op.loc)

    def end(self, op: Compute, result: Value, slot: int) -> Op:
        return Compute(END, (), _attrs(op, slot), result, op.loc)

    def nothing(self, hint: str = "") -> Value:
        return self.build.value(Scalar(F32), hint)

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots

    # --- loops --------------------------------------------------------------------------------

    def loop(self, op: For) -> list[Op]:
        """The loop without the sums that fragments keep."""
        kept: dict[int, int] = {}
        before: list[Op] = []
        after: list[Op] = []
        places: list[int] = []
        for place, (carried, init) in enumerate(zip(op.body.args[1:], op.inits, strict=True)):
            dot = self.summed(op, place)
            if dot is None or any(True for _ in loop_exits(op.body)):
                places.append(place)
                continue
            slot = kept[carried.id] = self.new_slot()
            before.append(self.begin(dot, init, carried.hint, slot))
            after.append(self.end(dot, op.results[place], slot))
        body = self.region(op.body, kept)
        orelse = self.region(op.orelse, {})
        if not kept:
            return [replace(op, body=body, orelse=orelse)]
        return [*before, _without(op, body, orelse, places), *after]

    def summed(self, op: For, place: int) -> Compute | None:
        """The product that a carried value is nothing but the sum of."""
        carried, end = op.body.args[1 + place], op.body.terminator
        is_passed = _is_passed_on(op, place)
        if not isinstance(end, Yield) or not is_passed or not self.uses.is_once(carried):
            return None
        last = end.values[place]
        maker = self.uses.makers.get(last.id)
        if not isinstance(maker, Compute) or not self.uses.is_once(last):
            return None
        dot = self.added(maker) or maker
        is_sum = dot.op.name == "dot" and _fits(dot) and dot.operands[2] == carried
        is_direct = any(each is maker for each in op.body.ops)
        return dot if is_sum and is_direct else None


def _is_passed_on(op: For, place: int) -> bool:
    """Whether the result at a place is the carried value at the end of the loop."""
    end = op.orelse.terminator
    is_trivial = len(op.orelse.ops) == 1 and isinstance(end, Yield)
    return is_trivial and isinstance(end, Yield) and end.values == op.orelse.args


def _without(op: For, body: Region, orelse: Region, places: Sequence[int]) -> For:
    """The loop with only the carried values at these places."""

    def at(values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(values[place] for place in places)

    def cut(region: Region, args: tuple[Value, ...]) -> Region:
        end = region.terminator
        assert isinstance(end, Yield)
        return Region(args, (*region.ops[:-1], Yield(at(end.values), end.loc)))

    inner = cut(body, (body.args[0], *at(body.args[1:])))
    return replace(
        op,
        inits=at(op.inits),
        body=inner,
        orelse=cut(orelse, at(orelse.args)),
        results=at(op.results),
    )


def _attrs(op: Compute, slot: int) -> tuple[tuple[str, int], ...]:
    (m, k), (_, n) = (value.shape for value in op.operands[:2])
    return ("slot", slot), ("m", m), ("n", n), ("k", k)

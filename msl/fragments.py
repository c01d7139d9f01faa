"""Prepares products of matrices: their sums live in 8x8 fragments, which are no values.

A `dot` becomes ops that name the fragments by a number, their `slot`: `mma_begin` fills them,
`mma_step` adds a product to them, `mma_end` gives the block. Where loops carry a sum that they only
add products to, as `eas.msl.sums` finds out, only the steps stay inside: the fragments keep the sum
from trip to trip. There the factors may have two tiles each. Then a step is an `mma_put`: it adds
the product of the tiles that the trip before has written, and writes the other ones; an `mma_last`
after the loop adds the last product. Where a step multiplies the sum before, row by row, the
product cannot wait for the next trip: there the factors have one tile each.

A `dot` whose extents are no multiples of 8 stays as it is: each lane computes its element.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Compute,
    For,
    Function,
    If,
    Op,
    Region,
    Terminator,
    Value,
    While,
    regions_of,
    walk,
)
from eas.ir.ops import OPS
from eas.ir.ops.record import Attr, Attrs, OpDef
from eas.ir.records import field, record, replace
from eas.ir.rewrite import builder_for, rebuild, with_values
from eas.ir.types import F32, Scalar, Type, count
from eas.msl.sums import Link, Sum, Sums, find_sums

EDGE = 8
_STRIP_BYTES = 8192


def _untyped(operands: Sequence[Type], attrs: Attrs) -> Type:
    raise TypeError("these ops are made by the writer only")


def _no_meaning(*_: object) -> None:
    raise TypeError("these ops are made by the writer only")


def _record(name: str, operands: tuple[str, ...], doc: str) -> OpDef:
    attrs = ("slot", "tiles", "batch", "m", "n", "k", "flips", "turns")
    return OpDef(name, operands, _untyped, _no_meaning, doc, attrs, False, collective=True)


BEGIN = _record("mma_begin", ("acc",), "fills fragments with a block, or with zeros")
STEP = _record("mma_step", ("a", "b", "factor"), "multiplies fragments, and adds a product")
PUT = _record("mma_put", ("a", "b"), "adds the product of the step before, and keeps two matrices")
LAST = _record("mma_last", (), "adds the product of the last two matrices that were kept")
END = _record("mma_end", (), "the block that fragments hold")
MMA_OPS = frozenset(op.name for op in (BEGIN, STEP, PUT, LAST, END))


def with_fragments(function: Function, buffers: int) -> Function:
    """The function with the products that fragments can do prepared; `buffers` tiles per factor."""
    dots = [op for op in walk(function.body) if isinstance(op, Compute) and op.op.name == "dot"]
    if not any(map(fits, dots)):
        return function
    change = _Change(builder_for(function), find_sums(function, fits), buffers)
    return replace(function, body=change.region(function.body))


def fits(op: Compute) -> bool:
    """Whether fragments can do a product."""
    return all(extent % EDGE == 0 for value in op.operands for extent in value.shape[-2:])


def strip_rows(op: Compute, threads: int) -> int:
    """How many rows of a product go through threadgroup memory at a time; none if it goes whole.

    So many that each thread has as many elements of each strip.
    """
    batch, m, n = op.attr("batch"), op.attr("m"), op.attr("n")
    assert isinstance(batch, int) and isinstance(m, int) and isinstance(n, int)
    rows, most = batch * m, _STRIP_BYTES * 8 // (n * F32.bits)
    choices = range(EDGE, min(rows - 1, most) + 1, EDGE)
    return max((h for h in choices if rows % h == 0 and h * n % threads == 0), default=0)


@record
class _Change:
    build: Builder
    sums: Sums
    buffers: int
    alone_so_far: int = 0
    tiles: int = 0
    steps: dict[Value, Compute] = field(default_factory=dict[Value, Compute])
    before: dict[int, list[Op]] = field(default_factory=dict[int, "list[Op]"])
    after: dict[int, list[Op]] = field(default_factory=dict[int, "list[Op]"])

    def __post_init__(self) -> None:
        for each in self.sums.sums:
            self.frame(each)

    def region(self, region: Region) -> Region:
        """A region without the versions of sums that fragments keep."""
        ops: list[Op] = []
        for op in region.ops:
            ops += self.before.get(id(op), [])
            ops += self.op(op)
            ops += self.after.get(id(op), [])
        return Region(self.others(region.args), tuple(ops))

    def op(self, op: Op) -> list[Op]:
        match op:
            case Compute():
                return self.compute(op)
            case For() | While():
                return [self.loop(op)]
            case If():
                then, orelse = self.region(op.then), self.region(op.orelse)
                results = self.results_of(op)
                return [replace(op, then=then, orelse=orelse, results=results)]
            case _ if isinstance(op, Terminator):
                places = self.sums.dropped.get(id(op), ())
                return [with_values(op, [v for n, v in enumerate(op.values) if n not in places])]
            case _:
                return [rebuild(op, inner=self.region) if regions_of(op) else op]

    def loop(self, op: For | While) -> For | While:
        carried = zip(op.orelse.args, op.inits, strict=True)
        inits = tuple(init for value, init in carried if value not in self.sums.versions)
        body, orelse, results = self.region(op.body), self.region(op.orelse), self.results_of(op)
        if isinstance(op, For):
            return replace(op, inits=inits, body=body, orelse=orelse, results=results)
        test = self.region(op.test)
        return replace(op, inits=inits, test=test, body=body, orelse=orelse, results=results)

    def others(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """Those of some values that are no versions of sums in fragments."""
        return tuple(value for value in values if value not in self.sums.versions)

    def results_of(self, op: For | While | If) -> tuple[Value, ...]:
        """The results that control flow still gives: fragments give the last versions of sums."""
        last = {each.result for each in self.sums.sums}
        return tuple(value for value in self.others(op.results) if value not in last)

    # --- products -----------------------------------------------------------------------------

    def compute(self, op: Compute) -> list[Op]:
        if op.result in self.sums.absorbed:
            return []  # the sum that it is added to does it
        if op.result in self.steps:
            return [self.steps[op.result]]
        if op.op.name == "dot" and fits(op):
            return self.alone(op)
        return [op]

    def alone(self, op: Compute) -> list[Op]:
        """A product that is part of no sum."""
        acc, is_zero = op.operands[2], self.sums.is_zero(op.operands[2])
        product = op.result if is_zero else self.build.value(op.result.ty)
        self.alone_so_far += 1
        slot = len(self.sums.sums) + self.alone_so_far
        begin = self.make(BEGIN, op, slot, hint=product.hint)
        step = self.make(STEP, op, slot, self.new_tiles(), op.operands[:2])
        ops: list[Op] = [begin, step, self.make(END, op, slot, result=product)]
        if not is_zero:  # lanes have it already: they add it themselves
            ops.append(Compute(OPS["add"], (product, acc), (), op.result, op.loc))
        return ops

    def frame(self, kept: Sum) -> None:
        """Makes the ops of a sum: those around it, and a step for each product."""
        tiles, lasts = _Tiles(self), list[Op]()
        turns_tiles = self.buffers == 2 and all(link.factor is None for link in kept.links)
        for link in kept.links:
            record = PUT if link.is_looped and turns_tiles else STEP
            dot, number = link.dot, tiles.number(link)
            operands = dot.operands[:2] if link.factor is None else (*dot.operands[:2], link.factor)
            self.steps[dot.result] = self.make(record, dot, kept.slot, number, operands)
            if record is PUT:
                lasts.append(self.make(LAST, dot, kept.slot, number))
        turns = tuple(_tiles_of(last) for last in lasts)
        init = () if self.sums.is_zero(kept.init) else (kept.init,)
        dot, hint = kept.links[0].dot, kept.result.hint or kept.init.hint
        begin = self.make(BEGIN, dot, kept.slot, operands=init, hint=hint, turns=turns)
        end = self.make(END, dot, kept.slot, result=kept.result)
        self.before.setdefault(id(kept.first), []).append(begin)
        self.after.setdefault(id(kept.last), []).extend([*lasts, end])

    def new_tiles(self) -> int:
        self.tiles += 1
        return self.tiles

    def make(
        self,
        record: OpDef,
        dot: Compute,
        slot: int,
        tiles: int = 0,
        operands: tuple[Value, ...] = (),
        *,
        result: Value | None = None,
        hint: str = "",
        turns: tuple[int, ...] = (),
    ) -> Compute:
        """One of our ops, for a product."""
        m, k = dot.operands[0].shape[-2:]
        n = dot.operands[1].shape[-1]
        batch = count(dot.operands[0].shape[:-2])
        flips = tuple(map(int, map(self.sums.is_flipped, dot.operands[:2])))
        if record in (STEP, PUT):
            operands = (*map(self.sums.unflipped, operands[:2]), *operands[2:])
        attrs: list[tuple[str, Attr]] = [("slot", slot), ("tiles", tiles), ("batch", batch)]
        attrs += [("m", m), ("n", n), ("k", k), ("flips", flips), ("turns", turns)]
        value = result or self.build.value(Scalar(F32), hint)
        return Compute(record, operands, tuple(attrs), value, dot.loc)


@record
class _Tiles:
    """Numbers the tiles of a sum: steps in a row take turns with two, those in loops have own."""

    change: _Change
    pairs: dict[object, list[int]] = field(default_factory=dict[object, "list[int]"])

    def number(self, link: Link) -> int:
        if link.is_looped:
            return self.change.new_tiles()
        a, b, _ = link.dot.operands
        pair = self.pairs.setdefault((a.ty, b.ty), [])
        if len(pair) < 2:
            pair.append(self.change.new_tiles())
            return pair[-1]
        pair.reverse()
        return pair[1]


def _tiles_of(op: Op) -> int:
    assert isinstance(op, Compute)
    found = op.attr("tiles")
    assert isinstance(found, int)
    return found

"""Finds sums of products that can stay in fragments: such as nothing but products is added to.

A sum has many versions: what a `dot` makes of it, what a loop carries, what a loop or branch gives
back. All of them but the last live in the same fragments, if nothing else looks at one.
"""

from __future__ import annotations

from collections.abc import Callable

from eas.ir.nodes import (
    Compute,
    Constant,
    For,
    Function,
    If,
    Op,
    Region,
    Value,
    Yield,
    operands_of,
    regions_of,
    results_of,
    walk,
)
from eas.ir.ops import OPS
from eas.ir.records import field, frozen, record
from eas.ir.rewrite import loop_exits
from eas.ir.types import F32

Fits = Callable[[Compute], bool]


@frozen
class Link:
    """A product that makes a new version of a sum, perhaps again and again in a loop."""

    dot: Compute
    is_looped: bool


@frozen
class Sum:
    """What a sum begins with, the first and the last op of its region, and what that gives."""

    slot: int
    init: Value
    first: Op
    last: Op
    result: Value
    links: tuple[Link, ...]


@record
class Sums:
    """The sums that stay in fragments.

    `versions` tells the slot of each version of a sum that is no value any more, `links` the
    product that makes one. Products that are `absorbed` are added by what follows.
    """

    makers: dict[Value, Op]
    sums: list[Sum] = field(default_factory=list[Sum])
    versions: dict[Value, int] = field(default_factory=dict[Value, int])
    links: dict[Value, Link] = field(default_factory=dict[Value, Link])
    absorbed: set[Value] = field(default_factory=set[Value])

    def is_zero(self, value: Value) -> bool:
        maker = self.makers.get(value)
        if isinstance(maker, Compute) and maker.op.name in ("splat", "broadcast"):
            return self.is_zero(maker.operands[0])
        return isinstance(maker, Constant) and maker.value == 0

    def is_flipped(self, value: Value) -> bool:
        """Whether a matrix is another one, transposed."""
        maker = self.makers.get(value)
        if not isinstance(maker, Compute) or maker.op.name != "permute":
            return False
        *first, a, b = range(len(value.shape))
        return maker.attr("axes") == (*first, b, a)

    def unflipped(self, value: Value) -> Value:
        maker = self.makers.get(value)
        return maker.operands[0] if self.is_flipped(value) and isinstance(maker, Compute) else value


def find_sums(function: Function, fits: Fits) -> Sums:
    makers = {value: op for op in walk(function.body) for value in results_of(op)}
    finder = _Finder(Sums(makers), fits)
    finder.survey(function.body)
    finder.region(function.body)
    return finder.sums


@record
class _Chain:
    """The versions of one sum: how often it uses each itself, and the products that make them."""

    uses: dict[Value, int] = field(default_factory=dict[Value, int])
    links: dict[Value, Link] = field(default_factory=dict[Value, Link])
    absorbed: set[Value] = field(default_factory=set[Value])
    loops: int = 0

    def use(self, value: Value) -> Value:
        self.uses[value] = self.uses.get(value, 0) + 1
        return value

    def copy(self) -> _Chain:
        return _Chain(dict(self.uses), dict(self.links), set(self.absorbed))


@record
class _Finder:
    sums: Sums
    fits: Fits
    counts: dict[Value, int] = field(default_factory=dict[Value, int])
    regions: dict[Value, int] = field(default_factory=dict[Value, int])

    def survey(self, region: Region) -> None:
        """Counts uses, and notes in which region each value is made."""
        for op in region.ops:
            for value in operands_of(op):
                self.counts[value] = self.counts.get(value, 0) + 1
            self.regions |= dict.fromkeys(results_of(op), id(region))
            for inner in regions_of(op):
                self.survey(inner)

    def region(self, region: Region) -> None:
        """Notes the sums of a region, from the last versions on, then those inside of it."""
        for op in reversed(region.ops):
            for value in results_of(op):
                if value not in self.sums.versions:
                    self.note(value, region)
        for op in region.ops:
            for inner in regions_of(op):
                self.region(inner)

    def note(self, last: Value, region: Region) -> None:
        """Notes the sum that a value is the last version of, if there is something to keep."""
        chain, first, init = _Chain(), last, last
        while self.regions.get(init) == id(region):
            longer = chain.copy()
            before = self.before(init, longer)
            if before is None or not self.is_closed(longer, before):
                break
            chain, first, init = longer, init, before
        links = tuple(chain.links.values())
        if len(links) < 2 and not any(link.is_looped for link in links):
            return
        makers, slot = self.sums.makers, len(self.sums.sums) + 1
        self.sums.sums.append(Sum(slot, init, makers[first], makers[last], last, links[::-1]))
        self.sums.versions |= {value: slot for value in chain.uses if value != init}
        self.sums.links |= chain.links
        self.sums.absorbed |= chain.absorbed

    def is_closed(self, chain: _Chain, init: Value) -> bool:
        """Whether nothing but the sum itself uses its versions; what it begins with is no such."""
        return all(self.counts[v] == times for v, times in chain.uses.items() if v != init)

    # --- backwards along a sum ----------------------------------------------------------------

    def begin_of(self, last: Value, region: Region, chain: _Chain) -> Value | None:
        """What the value that a region yields is, but for products that it adds to it."""
        value: Value | None = chain.use(last)
        while value is not None and self.regions.get(value) == id(region):
            value = self.before(value, chain)
        return value

    def before(self, value: Value, chain: _Chain) -> Value | None:
        """The version before one, None if it is none."""
        match self.sums.makers[value]:
            case Compute() as op:
                return self.through_product(op, chain)
            case For() as op:
                return self.through_loop(op, value, chain)
            case If() as op:
                return self.through_branches(op, value, chain)
            case _:
                return None

    def through_product(self, op: Compute, chain: _Chain) -> Value | None:
        dot = op if op.op.name == "dot" else self.added(op)
        if dot is None or not self.fits(dot):
            return None
        chain.links[op.result] = Link(dot, chain.loops > 0)
        if dot is not op:
            chain.absorbed.update(value for value in op.operands if value != dot.operands[2])
        return chain.use(dot.operands[2])

    def added(self, op: Compute) -> Compute | None:
        """`acc + dot(a, b)` as one product that adds, if nothing else needs the plain one."""
        if op.op.name != "add" or op.result.ty.dtype != F32:
            return None
        for plain, acc in (op.operands, op.operands[::-1]):
            maker = self.sums.makers.get(plain)
            is_here = self.regions.get(plain) == self.regions[op.result]
            if not isinstance(maker, Compute) or maker.op.name != "dot" or not is_here:
                continue
            a, b, start = maker.operands
            if self.counts[plain] == 1 and self.sums.is_zero(start):
                return Compute(OPS["dot"], (a, b, acc), (), op.result, op.loc)
        return None

    def through_loop(self, op: For, result: Value, chain: _Chain) -> Value | None:
        place, end = _place_of(op, result), op.body.terminator
        if place < 0 or not isinstance(end, Yield) or any(True for _ in loop_exits(op.body)):
            return None
        chain.loops += 1
        begin = self.begin_of(end.values[place], op.body, chain)
        chain.loops -= 1
        if begin != op.body.args[1 + place]:
            return None
        chain.use(op.orelse.args[place])
        return chain.use(op.inits[place])

    def through_branches(self, op: If, result: Value, chain: _Chain) -> Value | None:
        if op.condition.shape:
            return None
        place = op.results.index(result)
        found: set[Value | None] = set()
        for region in regions_of(op):
            end = region.terminator
            if not isinstance(end, Yield):
                return None
            found.add(self.begin_of(end.values[place], region, chain))
        return found.pop() if len(found) == 1 else None


def _place_of(op: For, result: Value) -> int:
    """The place of the carried value that a result is at the end of a loop; else -1."""
    end = op.orelse.terminator
    if len(op.orelse.ops) != 1 or not isinstance(end, Yield):
        return -1
    value = end.values[op.results.index(result)]
    return op.orelse.args.index(value) if value in op.orelse.args else -1

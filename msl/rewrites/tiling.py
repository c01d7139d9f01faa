"""Takes products of matrices apart into the ops of `eas.msl.ops.mma`.

Which tiles a product needs is decided here. A factor that several products have, or that does not
change in a loop, is kept once, before the first of them. Those that change from trip to trip take
turns, all that the products of a loop's body have together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from eas.ir.builder import Builder
from eas.ir.nodes import Compute, Op, Value
from eas.ir.ops import OPS
from eas.ir.ops.record import Attr, OpDef
from eas.ir.types import F32, Scalar, count
from eas.msl.analysis.outline import is_loop
from eas.msl.layout.layout import Budget
from eas.msl.ops.mma import BEGIN, END, HOLD, KEEP, START, STEP, TURN, fits
from eas.msl.rewrites.accumulators import Link, Sum, Sums
from eas.support.location import Loc
from eas.support.records import field, frozen, record, replace

Tiles = dict[Value, int]


@frozen
class Step:
    """A product that is added to the sum in a slot; it `turns` tiles or not."""

    slot: int
    link: Link
    turns: bool

    @property
    def result(self) -> Value:
        return self.link.dot.result


@frozen
class Use:
    """A factor of a step, at a place; `op` has the step inside of it, where the factor is made.

    It `is_lasting` if it stays the same until the product has been added again.
    """

    value: Value
    place: int
    step: Step
    op: Op
    is_lasting: bool


@record
class Tiling:
    """`instead` has what stands in the place of the op with a result, `before` and `after`, by
    `id()`, what comes around an op. `shared` are the tiles of factors that are kept once."""

    build: Builder
    sums: Sums
    budget: Budget
    tiles: int = 0
    turns: int = 0
    shared: Tiles = field(default_factory=dict[Value, int])
    instead: dict[Value, list[Op]] = field(default_factory=dict[Value, "list[Op]"])
    before: dict[int, list[Op]] = field(default_factory=dict[int, "list[Op]"])
    after: dict[int, list[Op]] = field(default_factory=dict[int, "list[Op]"])

    def take_apart(self, dots: Sequence[Compute]) -> None:
        """Decides about all products of a function."""
        sums = self.sums.sums
        gone = self.sums.absorbed | {link.dot.result for each in sums for link in each.links}
        others = [dot for dot in dots if fits(dot) and dot.result not in gone]
        alone = [
            Step(slot, Link(dot, False, None), False)
            for slot, dot in enumerate(others, len(sums) + 1)
        ]
        waiting = {self.region_of(step) for step in alone}
        in_sums = [step for each in sums for step in self.steps_of(each, waiting)]
        self.share([*in_sums, *alone])
        for each in sums:
            self.frame(each, [step for step in in_sums if step.slot == each.slot])
        for run in self.runs([step for step in in_sums if step.turns]):
            self.take_turns(run)
        for step in alone:
            self.frame_alone(step)

    def steps_of(self, kept: Sum, waiting: Collection[int]) -> Iterator[Step]:
        """The products of a sum.

        In loops their tiles take turns, so that threads need not wait for each other as often. That
        is of no use in regions in which they wait anyway. If the sum is multiplied in between, no
        product can be added later.
        """
        may_turn = self.budget.buffers == 2 and all(link.factor is None for link in kept.links)
        for link in kept.links:
            step = Step(kept.slot, link, False)
            turns = may_turn and link.is_looped and self.region_of(step) not in waiting
            yield replace(step, turns=turns)

    def share(self, steps: Sequence[Step]) -> None:
        if not self.budget.keeps_factors:
            return
        uses: dict[Value, list[Use]] = {}
        for use in (use for step in steps for use in self.uses_of(step)):
            if use.is_lasting or not use.step.turns:
                uses.setdefault(use.value, []).append(use)
        for value, found in uses.items():
            if len(found) > 1 or found[0].is_lasting:
                tile = self.shared[value] = self.new_tile()
                first = min(found, key=lambda use: self.sums.outline.position(use.op))
                keep = self.keep(value, tile, first.place, first.step.link.dot.loc)
                self.before.setdefault(id(first.op), []).append(keep)

    def uses_of(self, step: Step) -> Iterator[Use]:
        outline = self.sums.outline
        for place, value in enumerate(self.factors(step)):
            chain = outline.around(self.op_of(step), outline.regions[value])
            loops = list(filter(is_loop, chain[1:]))
            if step.turns:  # the product may be added as late as behind the outermost loop
                loops = [op for op in chain if op is self.loop_of(step)]
            yield Use(value, place, step, chain[-1], is_lasting=bool(loops))

    def loop_of(self, step: Step) -> Op:
        """The op in the region of the sum that a product happens in."""
        return self.sums.outline.around(self.op_of(step), self.home_of(step))[-1]

    def factors(self, step: Step) -> tuple[Value, ...]:
        return tuple(map(self.sums.unflipped, step.link.dot.operands[:2]))

    def op_of(self, step: Step) -> Op:
        return self.sums.outline.makers[step.result]

    def region_of(self, step: Step) -> int:
        return self.sums.outline.regions[step.result]

    def frame(self, kept: Sum, steps: Sequence[Step]) -> None:
        """Makes the ops around a sum, and those of products whose tiles do not take turns."""
        dot, hint = kept.links[0].dot, kept.result.hint or kept.init.hint
        begin: list[Op] = []
        tiles: tuple[int, ...] = ()
        if not self.sums.is_zero(kept.init):
            tiles = (self.new_tile(),)
            begin.append(self.keep(kept.init, tiles[0], 3, dot.loc))
        begin.append(self.make(BEGIN, dot, kept.slot, tiles, hint=hint))
        self.before.setdefault(id(kept.first), []).extend(begin)
        end = self.make(END, dot, kept.slot, result=kept.result)
        self.after.setdefault(id(kept.last), []).append(end)
        pairs = _Pairs(self)
        for step in steps:
            if not step.turns:
                self.instead[step.result] = self.keep_and_add(step, pairs)

    def frame_alone(self, step: Step) -> None:
        """Makes the ops of a product that is part of no sum."""
        dot, acc = step.link.dot, step.link.dot.operands[2]
        is_zero = self.sums.is_zero(acc)
        product = dot.result if is_zero else self.build.value(dot.result.ty)
        ops: list[Op] = [self.make(BEGIN, dot, step.slot, hint=product.hint)]
        ops += self.keep_and_add(step, _Pairs(self))
        ops.append(self.make(END, dot, step.slot, result=product))
        if not is_zero:  # lanes have it already: they add it themselves
            ops.append(Compute(OPS["add"], (product, acc), (), dot.result, dot.loc))
        self.instead[dot.result] = ops

    def keep_and_add(self, step: Step, pairs: _Pairs) -> list[Op]:
        """Writes the factors that are not there yet, then adds the product."""
        loc, factor = step.link.dot.loc, step.link.factor
        own = dict(zip(self.factors(step), pairs.next(step), strict=True))
        new = [(v, place) for place, v in enumerate(own) if v not in self.shared]
        ops: list[Op] = [self.keep(value, own[value], place, loc) for value, place in new]
        tiles = [self.shared.get(value, own[value]) for value in self.factors(step)]
        if factor is None:
            return [*ops, self.add(step, tiles)]
        if not factor.shape:
            return [*ops, self.add(step, tiles, operands=(factor,))]
        tiles.append(self.new_tile())
        return [*ops, self.keep(factor, tiles[-1], 2, loc), self.add(step, tiles)]

    def runs(self, steps: Sequence[Step]) -> Iterator[list[Step]]:
        """Products that happen in the same trips, of sums that begin together."""
        outline, runs = self.sums.outline, dict[tuple[int, int], list[Step]]()
        for step in sorted(steps, key=lambda step: outline.position(self.op_of(step))):
            run = runs.setdefault((self.region_of(step), self.home_of(step)), [])
            if run and outline.may_leave_between(self.op_of(run[-1]), self.op_of(step)):
                yield [*run]
                run.clear()
            run.append(step)
        yield from runs.values()

    def home_of(self, step: Step) -> int:
        """The region that the sum of a product begins and ends in."""
        return self.sums.outline.places[id(self.sums.sums[step.slot - 1].first)].region

    def take_turns(self, run: Sequence[Step]) -> None:
        """Makes the ops of products that add what the trip before has kept."""
        self.turns += 1
        turn, loc = self.turns, self.op_of(run[-1]).loc
        uses = [use for step in run for use in self.uses_of(step) if not self.is_shared(use)]
        places = {use.value: use.place for use in reversed(uses)}
        own = {value: self.new_tile() for value in dict.fromkeys(use.value for use in uses)}
        counting: list[tuple[str, Attr]] = [("tiles", tuple(own.values())), ("turn", turn)]
        for step in run:
            self.instead[step.result] = []
        self.instead[run[-1].result] = [
            *(self.plain(HOLD, loc, (value,)) for value in own),
            *(self.add_before(step, own, turn) for step in run),
            *(self.keep(value, tile, places[value], loc, turn) for value, tile in own.items()),
            self.plain(TURN, loc, attrs=counting),
        ]
        loop = self.loop_of(run[0])
        self.before.setdefault(id(loop), []).append(self.plain(START, loc, attrs=counting))
        lasts = [self.add_before(step, own, turn) for step in run]
        self.after[id(loop)] = [*lasts, *self.after.get(id(loop), [])]

    def add_before(self, step: Step, own: Tiles, turn: int) -> Compute:
        """Adds the product of what the trip before has kept."""
        uses = list(self.uses_of(step))
        tiles = [(self.shared if self.is_shared(use) else own)[use.value] for use in uses]
        return self.add(step, tiles, turn, tuple(int(not self.is_shared(use)) for use in uses))

    def is_shared(self, use: Use) -> bool:
        """Whether a product that is added later finds a factor in a tile that is kept once."""
        return use.is_lasting and use.value in self.shared

    def new_tile(self) -> int:
        self.tiles += 1
        return self.tiles

    def keep(self, value: Value, tile: int, place: int, loc: Loc, turn: int = 0) -> Compute:
        attrs: list[tuple[str, Attr]] = [("tiles", (tile,)), ("turn", turn), ("place", place)]
        return self.plain(KEEP, loc, (value,), attrs)

    def add(
        self,
        step: Step,
        tiles: Sequence[int],
        turn: int = 0,
        turning: tuple[int, ...] = (0, 0),
        operands: tuple[Value, ...] = (),
    ) -> Compute:
        dot = step.link.dot
        flips = tuple(map(int, map(self.sums.is_flipped, dot.operands[:2])))
        more: list[tuple[str, Attr]] = [("k", dot.operands[0].shape[-1]), ("flips", flips)]
        more += [("turn", turn), ("turning", turning)]
        made = self.make(STEP, dot, step.slot, tuple(tiles))
        return replace(made, operands=operands, attrs=(*made.attrs, *more))

    def make(
        self,
        record: OpDef,
        dot: Compute,
        slot: int,
        tiles: tuple[int, ...] = (),
        *,
        result: Value | None = None,
        hint: str = "",
    ) -> Compute:
        """An op on the fragments of a sum that a product is part of."""
        *batch, m, n = dot.result.shape
        attrs: list[tuple[str, Attr]] = [("slot", slot), ("batch", count(tuple(batch)))]
        attrs += [("m", m), ("n", n), ("tiles", tiles)]
        made = self.plain(record, dot.loc, attrs=attrs, hint=hint)
        return made if result is None else replace(made, result=result)

    def plain(
        self,
        record: OpDef,
        loc: Loc,
        operands: tuple[Value, ...] = (),
        attrs: Sequence[tuple[str, Attr]] = (),
        hint: str = "",
    ) -> Compute:
        return Compute(record, operands, tuple(attrs), self.build.value(Scalar(F32), hint), loc)


@record
class _Pairs:
    """Tiles of the products of a sum: those in a row take turns, those in loops have their own."""

    tiling: Tiling
    known: dict[object, list[tuple[int, int]]] = field(
        default_factory=dict[object, "list[tuple[int, int]]"]
    )

    def next(self, step: Step) -> tuple[int, int]:
        if step.link.is_looped:
            return self.make()
        a, b, _ = step.link.dot.operands
        pair = self.known.setdefault((a.ty, b.ty), [])
        if len(pair) < 2:
            pair.append(self.make())
            return pair[-1]
        pair.reverse()
        return pair[1]

    def make(self) -> tuple[int, int]:
        return self.tiling.new_tile(), self.tiling.new_tile()

"""Makes the ops of `eas.msl.ops.mma` that take the place of products.

Which tiles a product needs is decided here. A factor of several products, or one that a loop does
not change, is stored once, before the first of them. Factors that change from trip to trip are
double buffered: one parity serves for all products of a loop's body. A factor that is read in place
needs no tile, and its product is not pipelined: the kernel itself decides when the array changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import reduce

from eas.ir.aliasing.in_place import Place, Places
from eas.ir.builder import Builder
from eas.ir.nodes import Alloc, Compute, Op, TargetOp, Value
from eas.ir.ops import OPS
from eas.ir.ops.record import Attr, TargetOpDef
from eas.ir.types import F32, I32, DType, Pointer, Space, count
from eas.msl.analysis.nesting import is_loop
from eas.msl.layout.layout import Budget
from eas.msl.ops.mma import (
    EPILOGUE,
    IN_PLACE,
    LOAD,
    MULTIPLY,
    PARITY_FLIP,
    PARITY_START,
    PIPELINED,
    PREFETCH,
    ROLES,
    SCALED,
    SCALED_IN_PLACE,
    STORE,
    STORE_SLOT,
    ZERO,
    fits_fragments,
)
from eas.msl.rewrites.accumulators import Accumulator, Accumulators, Update
from eas.support.location import Loc
from eas.support.records import field, frozen, record, replace

Tiles = dict[Value, Value]
"""The tile of each matrix."""


@frozen
class Product:
    """A product that is added to the accumulator with a number; `is_pipelined`: a trip later."""

    number: int
    update: Update
    is_pipelined: bool

    @property
    def dot(self) -> Compute:
        return self.update.dot


@frozen
class Use:
    """A product's use of a matrix, in a role.

    `op` is the product or contains it, and is in the region where the matrix is made. The use
    `is_invariant` if the matrix stays the same until the product has been added again.
    """

    value: Value
    role: str
    product: Product
    op: Op
    is_invariant: bool


@record
class Tiling:
    """`instead` has what replaces the op with a result. `before` and `after` have, by number, what
    comes around an op, `allocs` what comes first of all. `shared` are the tiles of factors that are
    stored once."""

    build: Builder
    accumulators: Accumulators
    budget: Budget
    places: Places
    allocs: dict[Value, Alloc] = field(default_factory=dict[Value, Alloc])
    used: set[Value] = field(default_factory=set[Value])
    registers: dict[int, Value] = field(default_factory=dict[int, Value])
    shared: Tiles = field(default_factory=dict[Value, Value])
    instead: dict[Value, list[Op]] = field(default_factory=dict[Value, "list[Op]"])
    before: dict[int, list[Op]] = field(default_factory=dict[int, "list[Op]"])
    after: dict[int, list[Op]] = field(default_factory=dict[int, "list[Op]"])

    def replace_dots(self, dots: Sequence[Compute]) -> None:
        """Decides about all products of a function."""
        found, absorbed = self.accumulators.found, self.accumulators.absorbed
        gone = absorbed | {update.dot.result for each in found for update in each.updates}
        others = [dot for dot in dots if fits_fragments(dot) and dot.result not in gone]
        alone = [
            Product(number, Update(dot, False, None), False)
            for number, dot in enumerate(others, len(found) + 1)
        ]
        waiting = {self.region_of(product) for product in alone}
        accumulated = [p for each in found for p in self.products_of(each, waiting)]
        self.share([*accumulated, *alone])
        for each in found:
            self.frame(each, [p for p in accumulated if p.number == each.number])
        for group in self.groups([p for p in accumulated if p.is_pipelined]):
            self.pipeline(group)
        for product in alone:
            self.frame_alone(product)

    def used_allocs(self) -> list[Op]:
        """The allocations of the memory that the new ops use."""
        return [alloc for pointer, alloc in self.allocs.items() if pointer in self.used]

    def products_of(self, accumulator: Accumulator, waiting: Collection[int]) -> Iterator[Product]:
        """The products of an accumulator.

        In loops their tiles are double buffered, which saves a barrier in each trip. That is of no
        use in regions where threads wait for each other anyway. If the accumulator is multiplied in
        between, no product can be added later.
        """
        may_wait = self.budget.buffers == 2 and all(
            each.factor is None for each in accumulator.updates
        )
        for update in accumulator.updates:
            product = Product(accumulator.number, update, False)
            is_pipelined = may_wait and update.is_looped and self.region_of(product) not in waiting
            is_pipelined = is_pipelined and not self.places_of(product)
            yield replace(product, is_pipelined=is_pipelined)

    def share(self, products: Sequence[Product]) -> None:
        """Stores the factors that several products have, or that a loop does not change."""
        if not self.budget.keeps_factors:
            return
        uses: dict[Value, list[Use]] = {}
        for use in (use for product in products for use in self.uses_of(product)):
            if use.value in self.places_of(use.product):
                continue
            if use.is_invariant or not use.product.is_pipelined:
                uses.setdefault(use.value, []).append(use)
        for value, found in uses.items():
            if len(found) > 1 or found[0].is_invariant:
                first = min(found, key=lambda use: self.accumulators.nesting.position(use.op))
                loc = first.product.dot.loc
                tile = self.shared[value] = self.tile_for(value, loc)
                store = self.store(value, tile, first.role, loc)
                self.before.setdefault(first.op.number, []).append(store)

    def uses_of(self, product: Product) -> Iterator[Use]:
        nesting = self.accumulators.nesting
        for role, value in zip(ROLES, self.factors(product), strict=False):
            chain = nesting.around(self.op_of(product), nesting.regions[value])
            loops = list(filter(is_loop, chain[1:]))
            if product.is_pipelined:  # it may be added as late as behind the outermost loop
                loops = [op for op in chain if op is self.loop_of(product)]
            yield Use(value, role, product, chain[-1], is_invariant=bool(loops))

    def loop_of(self, product: Product) -> Op:
        """The op in the region of the accumulator that a product happens in."""
        return self.accumulators.nesting.around(self.op_of(product), self.start_of(product))[-1]

    def factors(self, product: Product) -> tuple[Value, ...]:
        return tuple(map(self.accumulators.without_transpose, product.dot.operands[:2]))

    def op_of(self, product: Product) -> Op:
        return self.accumulators.nesting.makers[product.dot.result]

    def region_of(self, product: Product) -> int:
        return self.accumulators.nesting.regions[product.dot.result]

    def frame(self, accumulator: Accumulator, products: Sequence[Product]) -> None:
        """Makes the ops around an accumulator, and those of products that are not pipelined."""
        dot, hint = accumulator.updates[0].dot, accumulator.result.hint or accumulator.init.hint
        acc = self.accumulator_for(accumulator.number, dot, hint)
        begin: list[Op] = []
        if self.accumulators.is_zero(accumulator.init):
            begin.append(self.on_accumulator(ZERO, dot, (acc,)))
        else:
            tile = self.tile_for(accumulator.init, dot.loc)
            begin.append(self.store(accumulator.init, tile, "start", dot.loc))
            begin.append(self.on_accumulator(LOAD, dot, (acc, tile)))
        self.before.setdefault(accumulator.first.number, []).extend(begin)
        end = self.on_accumulator(EPILOGUE, dot, (acc,), result=accumulator.result)
        self.after.setdefault(accumulator.last.number, []).append(end)
        pairs = _Pairs(self)
        for product in products:
            if not product.is_pipelined:
                self.instead[product.dot.result] = self.store_and_multiply(product, pairs)

    def frame_alone(self, product: Product) -> None:
        """Makes the ops of a product whose accumulator no other product has."""
        dot, init = product.dot, product.dot.operands[2]
        is_zero = self.accumulators.is_zero(init)
        result = dot.result if is_zero else self.build.value(dot.result.ty)
        acc = self.accumulator_for(product.number, dot, result.hint)
        ops: list[Op] = [self.on_accumulator(ZERO, dot, (acc,))]
        ops += self.store_and_multiply(product, _Pairs(self))
        ops.append(self.on_accumulator(EPILOGUE, dot, (acc,), result=result))
        if not is_zero:  # lanes own the block: they add it themselves
            ops.append(Compute(OPS["add"], (result, init), (), dot.result, dot.loc))
        self.instead[dot.result] = ops

    def store_and_multiply(self, product: Product, pairs: _Pairs) -> list[Op]:
        """Stores the factors that are in no tile yet, then adds the product."""
        loc, factor = product.dot.loc, product.update.factor
        factors, places = self.factors(product), self.places_of(product)
        own = dict(zip(factors, pairs.next(product), strict=True))
        ops: list[Op] = [
            self.store(value, own[value], role, loc)
            for role, value in zip(ROLES, own, strict=False)
            if value not in self.shared and value not in places
        ]
        scale: list[Value] = []
        if factor is not None and factor.shape:
            scale.append(self.tile_for(factor, loc))
            ops.append(self.store(factor, scale[0], "factor", loc))
        elif factor is not None:
            scale.append(factor)
        tiles = [self.shared.get(value, own[value]) for value in factors]
        if places:
            return [*ops, *self.multiply_in_place(product, tiles, scale)]
        return [*ops, self.multiply(SCALED if scale else MULTIPLY, product, [*tiles, *scale])]

    def places_of(self, product: Product) -> dict[Value, Place]:
        """The places of the factors that a product reads in place."""
        found, dot = self.places.found, product.dot.result
        return {v: found[dot, v] for v in self.factors(product) if (dot, v) in found}

    def multiply_in_place(
        self, product: Product, tiles: Sequence[Value], scale: Sequence[Value]
    ) -> list[Op]:
        """Adds a product; its factors are in places, or else in tiles."""
        known, operands, lengths = self.places_of(product), list[Value](), list[int]()
        around, self.build.ops, self.build.loc = self.build.ops, [], product.dot.loc
        for value, tile in zip(self.factors(product), tiles, strict=True):
            place = known.get(value)
            operands += (
                [tile, self.offset(None)] if place is None else [place.pointer, self.offset(place)]
            )
            lengths.append(0 if place is None else place.length)
        ops, self.build.ops = self.build.ops, around
        record = SCALED_IN_PLACE if scale else IN_PLACE
        more = (("lengths", tuple(lengths)),)
        return [*ops, self.multiply(record, product, [*operands, *scale], more)]

    def offset(self, place: Place | None) -> Value:
        """The offset of a matrix in its array; in a tile it is zero."""
        build = self.build
        terms: list[Value] = []
        for value, times in place.first.shared.items() if place is not None else ():
            term = value if value.ty.dtype == I32 else build.compute("cast", value, dtype=I32)
            if times != 1:
                term = build.compute("mul", term, build.constant(times, I32))
            terms.append(term)
        constant = 0 if place is None else place.first.constant
        if constant or not terms:
            terms.append(build.constant(constant, I32))
        return reduce(lambda a, b: build.compute("add", a, b), terms)

    def groups(self, products: Sequence[Product]) -> Iterator[list[Product]]:
        """Products that happen in the same trips, of accumulators that begin together."""
        nesting, groups = self.accumulators.nesting, dict[tuple[int, int], list[Product]]()
        for product in sorted(products, key=lambda each: nesting.position(self.op_of(each))):
            group = groups.setdefault((self.region_of(product), self.start_of(product)), [])
            if group and nesting.may_leave_between(self.op_of(group[-1]), self.op_of(product)):
                yield [*group]
                group.clear()
            group.append(product)
        yield from groups.values()

    def start_of(self, product: Product) -> int:
        """The region that the accumulator of a product begins and ends in."""
        first = self.accumulators.found[product.number - 1].first
        return self.accumulators.nesting.places[first.number].region

    def pipeline(self, group: Sequence[Product]) -> None:
        """Makes the ops of products that are added a trip after their factors are stored."""
        loc = self.op_of(group[-1]).loc
        uses = [use for product in group for use in self.uses_of(product)]
        changing = [use for use in uses if not self.is_shared(use)]
        roles = {use.value: use.role for use in reversed(changing)}
        values = list(dict.fromkeys(use.value for use in changing))
        own = {value: self.tile_for(value, loc, buffers=2) for value in values}
        parity = self.register(1, I32, "parity", loc)
        for product in group:
            self.instead[product.dot.result] = []
        self.instead[group[-1].dot.result] = [
            *(TargetOp(PREFETCH, (value,), (), None, loc) for value in values),
            *(self.multiply_previous(product, own, parity) for product in group),
            *(self.store(v, tile, roles[v], loc, parity) for v, tile in own.items()),
            TargetOp(PARITY_FLIP, (parity,), (), None, loc),
        ]
        loop = self.loop_of(group[0])
        start = TargetOp(PARITY_START, (parity,), (), None, loc)
        self.before.setdefault(loop.number, []).append(start)
        lasts = [self.multiply_previous(product, own, parity) for product in group]
        self.after[loop.number] = [*lasts, *self.after.get(loop.number, [])]

    def multiply_previous(self, product: Product, own: Tiles, parity: Value) -> TargetOp:
        """Adds the product of the factors that the trip before has stored."""
        uses = list(self.uses_of(product))
        tiles = [(self.shared if self.is_shared(use) else own)[use.value] for use in uses]
        buffers = tuple(1 if self.is_shared(use) else 2 for use in uses)
        return self.multiply(PIPELINED, product, [*tiles, parity], (("buffers", buffers),))

    def is_shared(self, use: Use) -> bool:
        """Whether a product that is added later finds a factor in a tile that is stored once."""
        return use.is_invariant and use.value in self.shared

    def tile_for(self, value: Value, loc: Loc, buffers: int = 1) -> Value:
        hint = f"{value.hint}_tile" if value.hint else "tile"
        return self.alloc(buffers * count(value.shape), value.ty.dtype, "tile", hint, loc)

    def accumulator_for(self, number: int, dot: Compute, hint: str) -> Value:
        size = count(dot.result.shape)
        acc = self.registers[number] = self.register(size, F32, hint, dot.loc)
        return acc

    def register(self, size: int, dtype: DType, hint: str, loc: Loc) -> Value:
        pointer = self.alloc(size, dtype, "register", hint, loc)
        self.used.add(pointer)
        return pointer

    def alloc(self, size: int, dtype: DType, space: Space, hint: str, loc: Loc) -> Value:
        pointer = self.build.value(Pointer(dtype, space), hint)
        self.allocs[pointer] = Alloc(size, pointer, loc)
        return pointer

    def store(
        self, value: Value, tile: Value, role: str, loc: Loc, parity: Value | None = None
    ) -> TargetOp:
        self.used.add(tile)
        if parity is None:
            return TargetOp(STORE, (tile, value), (("role", role),), None, loc)
        return TargetOp(STORE_SLOT, (tile, value, parity), (("role", role),), None, loc)

    def multiply(
        self,
        record: TargetOpDef,
        product: Product,
        others: Sequence[Value],
        more: tuple[tuple[str, Attr], ...] = (),
    ) -> TargetOp:
        """Adds a product to its accumulator; the other operands begin with the tiles."""
        dot = product.dot
        transposed = tuple(map(int, map(self.accumulators.is_transposed, dot.operands[:2])))
        made = self.on_accumulator(record, dot, (self.registers[product.number], *others))
        k = dot.operands[0].shape[-1]
        return replace(made, attrs=(*made.attrs, ("k", k), ("transposed", transposed), *more))

    def on_accumulator(
        self,
        record: TargetOpDef,
        dot: Compute,
        operands: tuple[Value, ...],
        *,
        result: Value | None = None,
    ) -> TargetOp:
        """An op on the accumulator of a product."""
        return TargetOp(record, operands, (("shape", dot.result.shape),), result, dot.loc)


@record
class _Pairs:
    """Tiles for the factors of an accumulator's products.

    Products of a loop have tiles of their own. Those that follow each other alternate between two
    pairs: the factors of one are stored while the one before is still being multiplied.
    """

    tiling: Tiling
    known: dict[object, list[tuple[Value, Value]]] = field(
        default_factory=dict[object, "list[tuple[Value, Value]]"]
    )

    def next(self, product: Product) -> tuple[Value, Value]:
        if product.update.is_looped:
            return self.make(product)
        a, b, _ = product.dot.operands
        pairs = self.known.setdefault((a.ty, b.ty), [])
        if len(pairs) < 2:
            pairs.append(self.make(product))
            return pairs[-1]
        pairs.reverse()
        return pairs[1]

    def make(self, product: Product) -> tuple[Value, Value]:
        left, right = self.tiling.factors(product)
        loc = product.dot.loc
        return self.tiling.tile_for(left, loc), self.tiling.tile_for(right, loc)

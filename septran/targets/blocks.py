"""Block programs of the typed IR from flat kernels: what `cpu` and `apple_gpu` run.

A program is a point of the grid. A buffer in scratch memory is threadgroup memory, with its slots
and padding; one in registers is a block value, which loops carry. A tile has its full extent in
every block, and what lies beyond its true extent is masked: on loads and stores, and with the
identity in reductions and products. Barriers are the back end's own, from the order of effects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from eas.ir import nodes as ir
from eas.ir.builder import Builder
from eas.ir.ops.record import RuleError
from eas.ir.types import I32, I64, DType, Pointer, Scalar
from eas.septran.flat.affine import Affine, Atom, Floor, Min, Mod, affine
from eas.septran.flat.element_meanings import accumulator, identity
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Binary,
    BinaryKind,
    Call,
    Cast,
    Column,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Index,
    Iota,
    Kernel,
    Map,
    Mma,
    Module,
    Operand,
    ParallelFor,
    Param,
    Reduce,
    ReduceKind,
    Select,
    Start,
    Stmt,
    Temp,
    Unary,
    View,
    Wait,
    accesses,
    walk,
)
from eas.septran.flat.padding import zero_padded
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.ranges import Ranges
from eas.septran.flat.substitution import substitute_all
from eas.support.diagnostics import Diagnostic
from eas.support.location import NOWHERE, SourceName
from eas.support.records import field, frozen, record, replace

Shape = tuple[int, ...]
Axes = Sequence[int]  # for each axis of a view, the target's axis that it runs along, or -1


class BlockError(Exception):
    """A statement that block programs cannot express (S701)."""

    def __init__(self, message: str, stmt: Stmt) -> None:
        super().__init__(message)
        origin = stmt.origin
        loc = origin.yaml or origin.python or NOWHERE
        self.diagnostic = Diagnostic("S701", message, loc)


@frozen
class Array:
    """A buffer in memory: its pointer, and per axis the distance between elements."""

    pointer: ir.Value
    strides: Shape
    slot: int = 0


def block_functions(module: Module, registers: Sequence[str]) -> list[tuple[Kernel, ir.Function]]:
    """A function for each kernel of a module; buffers in the memories `registers` are values."""
    expanded = expand_pipelines(module)
    return [
        (each, _write(each, module, frozenset(registers), zero_padded(before)))
        for before, each in zip(module.kernels, expanded.kernels, strict=True)
    ]


# Offsets up to this leave room in i32 for the rest of a ragged tile.
_LARGEST_OF_I32 = 2**30


def _index_dtype(buffers: Iterable[Param | Temp]) -> DType:
    """The dtype in which offsets into some arrays are computed."""
    counts = [math.prod(extent.value for extent in each.shape) for each in buffers]
    return I64 if max(counts, default=0) > _LARGEST_OF_I32 else I32


def _write(
    kernel: Kernel,
    module: Module,
    registers: frozenset[str],
    padded: Mapping[str, tuple[Affine, ...]],
) -> ir.Function:
    sizes = {each.name: each for each in (*module.params, *module.temps)}
    writer = _Writer(registers, padded, _index_dtype(sizes[each.name] for each in kernel.params))
    params: list[ir.Param] = []
    for param in kernel.params:
        value = writer.build.value(Pointer(param.dtype, "device"), param.name)
        params.append(ir.Param(value))
        writer.add_array(sizes[param.name], value)
    if len(kernel.grid) > 3:
        raise BlockError("a grid has at most three axes", kernel.body[0])
    for axis, (name, extent) in enumerate(reversed(kernel.grid)):
        writer.ranges = writer.ranges.inside(name, extent)
        number = writer.cast(writer.build.compute("program_id", axis=axis), writer.index)
        writer.variables[name] = writer.named(number, name)
    writer.block(kernel.body)
    writer.build.emit(ir.Yield((), NOWHERE))
    body = ir.Region((), tuple(writer.build.ops))
    return ir.Function(kernel.name, tuple(params), body, SourceName(f"{kernel.name}.flat"))


_UNARY = frozenset(
    ("neg", "not", "abs", "exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf")
) | {"sigmoid", "floor"}
_BINARY: dict[BinaryKind, str] = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "max": "maximum",
    "min": "minimum",
    "pow": "pow",
    "lt": "lt",
    "le": "le",
    "eq": "eq",
    "ne": "ne",
    "gt": "gt",
    "ge": "ge",
    "and": "and",
    "or": "or",
}
_REDUCE: dict[ReduceKind, tuple[str, str]] = {
    "add": ("reduce_sum", "add"),
    "mul": ("reduce_prod", "mul"),
    "max": ("reduce_max", "maximum"),
    "min": ("reduce_min", "minimum"),
}
_COMPARE = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}


@record
class _Writer:
    registers: frozenset[str]
    padded: Mapping[str, tuple[Affine, ...]]
    index: DType  # of offsets
    build: Builder = field(default_factory=Builder)
    variables: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    values: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])
    held: dict[str, int] = field(default_factory=dict[str, int])  # in registers, with their slots
    shapes: dict[str, Shape] = field(default_factory=dict[str, Shape])
    dtypes: dict[str, DType] = field(default_factory=dict[str, DType])
    ranges: Ranges = field(default_factory=Ranges)

    def add_array(self, buffer: Param | Temp, pointer: ir.Value) -> None:
        shape = tuple(extent.value for extent in buffer.shape)
        self.arrays[buffer.name] = Array(pointer, _strides(shape, 0))
        self.dtypes[buffer.name] = buffer.dtype
        self.shapes[buffer.name] = shape

    def named(self, value: ir.Value, hint: str) -> ir.Value:
        """A value that was just computed, under a name for the reader."""
        last = self.build.ops[-1] if self.build.ops else None
        if value.hint or last is None or ir.results_of(last) != (value,):
            return value
        renamed = replace(value, hint=hint)
        changed: Any = last
        self.build.ops[-1] = replace(changed, result=renamed)
        return renamed

    def block(self, body: Sequence[Stmt]) -> None:
        for stmt in body:
            origin = stmt.origin
            is_inserted = isinstance(stmt, Copy | Start | Alloc)
            places = (origin.yaml, origin.python) if is_inserted else (origin.python, origin.yaml)
            self.build.loc = next((each for each in places if each is not None), NOWHERE)
            try:
                self.statement(stmt)
            except RuleError as error:
                raise BlockError(f"this is no block program: {error}", stmt) from error

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Alloc():
                self.allocate(stmt)
            case Copy() | Start():
                self.copy(stmt)
            case Fill():
                self.fill(stmt)
            case Map():
                self.map(stmt)
            case Reduce():
                self.reduce(stmt)
            case Mma():
                self.multiply(stmt)
            case For() | ParallelFor():
                self.loop(stmt)
            case If():
                self.branch(stmt)
            case Wait() | Barrier():
                return
            case Call():
                raise BlockError(f"`{stmt.symbol}` is a call of a library's function", stmt)

    def allocate(self, stmt: Alloc) -> None:
        self.dtypes[stmt.name] = stmt.dtype
        self.shapes[stmt.name] = stmt.shape
        if stmt.memory in self.registers:
            zero = self.splat(self.build.constant(0, stmt.dtype), stmt.shape)
            self.held[stmt.name] = stmt.slots
            self.values.update(dict.fromkeys(self.keys(stmt.name), zero))
            return
        strides = _strides(stmt.shape, stmt.pad)
        size = strides[0] * stmt.shape[0] if stmt.shape else 1
        pointer = self.named(self.build.alloc(size * stmt.slots, stmt.dtype), stmt.name)
        self.arrays[stmt.name] = Array(pointer, strides, size)

    def keys(self, buffer: str) -> list[str]:
        """The names of a buffer's values: one for each slot, counted from that of the trip."""
        slots = self.held[buffer]
        return [buffer] if slots == 1 else [f"{buffer}@{slot}" for slot in range(slots)]

    def key(self, view: View, stmt: Stmt) -> str:
        """The name of a view's value. A loop turns the slots of its buffers in every trip, so
        that slot `(t + 1) % n` of trip `t` is always the second value.
        """
        keys = self.keys(view.buffer)
        if view.slot is None or len(keys) == 1:
            return keys[0]
        if view.slot.is_constant:
            return keys[view.slot.value % len(keys)]
        match view.slot.terms:
            case [(Mod(operand, divisor), 1)] if (
                divisor == len(keys)
                and [factor for _, factor in operand.terms] == [1]
                and view.slot.constant == 0
            ):
                return keys[operand.constant % len(keys)]
            case _:
                message = f"`{view.buffer}` is in registers, and its slot is no trip's: {view.slot}"
                raise BlockError(message, stmt)

    def turned(self, loop: For | ParallelFor) -> set[str]:
        """The buffers in registers whose slots a loop's variable chooses."""
        return {
            view.buffer
            for stmt in walk(loop.body)
            for view, _ in accesses(stmt)
            if self.held.get(view.buffer, 1) > 1
            and view.slot is not None
            and loop.variable in view.slot.names
        }

    def constant(self, value: float | int, dtype: DType) -> ir.Value:
        """A number of a dtype; those of integers are whole."""
        return self.build.constant(value if dtype.is_float else int(value), dtype)

    def splat(self, value: ir.Value, shape: Shape) -> ir.Value:
        return self.build.compute("splat", value, shape=shape) if shape else value

    def tile(self, view: View, stmt: Stmt) -> Shape:
        """The full extents of a view's tile."""
        if view.buffer not in self.held:
            return tuple(self.ranges.upper(extent) for extent in view.shape)
        if any(offset != affine(0) for offset in view.offsets) or None in view.extents:
            raise BlockError(f"`{view.buffer}` is in registers, where tiles have no offset", stmt)
        return self.shapes[view.buffer]

    def common_tile(self, stmt: Stmt, target: View, operands: Sequence[tuple[View, Axes]]) -> Shape:
        """The full tile of a target. Along an axis that a value in registers has too, it is this
        value's: there may be fewer elements than its tile has.
        """
        tile = list(self.tile(target, stmt))
        fixed = {axis: tile[axis] for axis in range(len(tile)) if target.buffer in self.held}
        for view, axes in operands:
            if view.buffer not in self.held:
                continue
            for axis, extent, full in zip(axes, view.shape, self.tile(view, stmt), strict=True):
                if not 0 <= axis < len(tile) or extent != target.shape[axis]:
                    continue
                if fixed.setdefault(axis, full) != full:
                    message = (
                        f"`{view.buffer}` has {full} elements along an axis in registers, and"
                        f" another tile {fixed[axis]}: in registers their tiles must be of one size"
                    )
                    raise BlockError(message, stmt)
                tile[axis] = full
        return tuple(tile)

    def scalar(self, number: Affine) -> ir.Value:
        """An affine number as a value of the dtype of offsets."""
        total: ir.Value | None = None
        for atom, coefficient in number.terms:
            term = self.atom(atom)
            if coefficient != 1:
                term = self.build.compute("mul", term, self.build.constant(coefficient, self.index))
            total = term if total is None else self.build.compute("add", total, term)
        if total is None:
            return self.build.constant(number.constant, self.index)
        if number.constant:
            total = self.build.compute(
                "add", total, self.build.constant(number.constant, self.index)
            )
        return total

    def atom(self, atom: Atom) -> ir.Value:
        if isinstance(atom, str):
            return self.variables[atom]
        if isinstance(atom, Floor | Mod):
            divisor = self.build.constant(atom.divisor, self.index)
            name = "floordiv" if isinstance(atom, Floor) else "mod"
            return self.build.compute(name, self.scalar(atom.operand), divisor)
        first, *others = (self.scalar(each) for each in atom.operands)
        name = "minimum" if isinstance(atom, Min) else "maximum"
        for other in others:
            first = self.build.compute(name, first, other)
        return first

    def along(self, shape: Shape, axis: int) -> ir.Value:
        """The position along an axis, in all dimensions of a shape."""
        row = self.cast(self.build.compute("arange", start=0, size=shape[axis]), self.index)
        return self.with_axes(row, [each for each in range(len(shape)) if each != axis])

    def with_axes(self, value: ir.Value, axes: Iterable[int]) -> ir.Value:
        """A value with more axes of one element, the first ones first."""
        for axis in axes:
            value = self.build.compute("expand_dims", value, axis=axis)
        return value

    def full(self, value: ir.Value, shape: Shape) -> ir.Value:
        """A value in a larger shape, as NumPy broadcasts it."""
        if value.shape == shape:
            return value
        if not value.shape:
            return self.splat(value, shape)
        value = self.with_axes(value, range(len(shape) - len(value.shape)))
        return (
            value if value.shape == shape else self.build.compute("broadcast", value, shape=shape)
        )

    def offsets(self, view: View, tile: Shape) -> ir.Value:
        array = self.arrays[view.buffer]
        base = affine(0) if view.slot is None else view.slot * array.slot
        for offset, stride in zip(view.offsets, array.strides, strict=True):
            base = base + offset * stride
        total = self.full(self.scalar(base), tile)
        kept = [
            s for s, extent in zip(array.strides, view.extents, strict=True) if extent is not None
        ]
        for axis, stride in enumerate(kept):
            if tile[axis] == 1:
                continue
            row = self.along(tile, axis)
            if stride != 1:
                factor = self.splat(self.build.constant(stride, self.index), row.shape)
                row = self.build.compute("mul", row, factor)
            total = self.build.compute("add", total, self.full(row, tile))
        return total

    def mask(self, extents: Sequence[Affine], tile: Shape) -> ir.Value | None:
        """Which elements of a tile lie inside of its true extents; None if all do."""
        mask: ir.Value | None = None
        for axis, (extent, full) in enumerate(zip(extents, tile, strict=True)):
            if extent == affine(full):
                continue
            row = self.along(tile, axis)
            bound = self.splat(self.scalar(extent), row.shape)
            inside = self.full(self.build.compute("lt", row, bound), tile)
            mask = inside if mask is None else self.build.compute("and", mask, inside)
        return mask

    def read(self, view: View, tile: Shape, other: float, stmt: Stmt) -> ir.Value:
        """A view as a block of full tiles; beyond its true extents there is `other`."""
        if view.buffer in self.held:
            self.tile(view, stmt)
            return self.values[self.key(view, stmt)]
        array = self.arrays[view.buffer]
        offsets = self.offsets(view, tile)
        mask = self.mask(view.shape, tile)
        rest = None
        if mask is not None:
            rest = self.splat(self.constant(other, self.dtypes[view.buffer]), tile)
        return self.build.load(array.pointer, offsets, mask, rest)

    def inside(
        self, value: ir.Value, extents: Sequence[Affine], axes: Sequence[int], other: float
    ) -> ir.Value:
        """A block with `other` beyond the true extents of some axes."""
        wanted = [
            extent if axis in axes else affine(full)
            for axis, (extent, full) in enumerate(zip(extents, value.shape, strict=True))
        ]
        mask = self.mask(wanted, value.shape)
        if mask is None:
            return value
        rest = self.splat(self.constant(other, value.ty.dtype), value.shape)
        return self.build.compute("select", mask, value, rest)

    def write(self, view: View, value: ir.Value, stmt: Stmt) -> None:
        value = self.cast(value, self.dtypes[view.buffer])
        if view.buffer in self.held:
            if value.shape != self.shapes[view.buffer]:
                has, wants = (list(each) for each in (value.shape, self.shapes[view.buffer]))
                message = f"`{view.buffer}` is a tile of {wants} in registers, and is given {has}"
                raise BlockError(message, stmt)
            self.values[self.key(view, stmt)] = self.named(value, view.buffer)
            return
        tile = value.shape
        mask = self.mask(view.shape, tile)
        self.build.store(self.arrays[view.buffer].pointer, self.offsets(view, tile), value, mask)

    def cast(self, value: ir.Value, dtype: DType) -> ir.Value:
        if value.ty.dtype is dtype or value.ty.dtype == dtype:
            return value
        return self.build.compute("cast", value, dtype=dtype)

    def copy(self, stmt: Copy | Start) -> None:
        fill = stmt.fill or 0.0
        axes = range(stmt.target.rank)
        tile = self.common_tile(stmt, stmt.target, [(stmt.source, axes)])
        value = self.read(stmt.source, tile, fill, stmt)
        if stmt.source.buffer in self.held and stmt.fill is not None:
            value = self.inside(value, stmt.source.shape, axes, fill)
        self.write(stmt.target, value, stmt)

    def fill(self, stmt: Fill) -> None:
        tile = self.tile(stmt.target, stmt)
        number = self.constant(stmt.value, self.dtypes[stmt.target.buffer])
        self.write(stmt.target, self.splat(number, tile), stmt)

    def map(self, stmt: Map) -> None:
        rank = stmt.target.rank
        uses = [
            (view, [rank - 2] if is_column else range(rank - view.rank, rank))
            for view, is_column in _operands(stmt.value)
        ]
        tile = self.common_tile(stmt, stmt.target, uses)
        value = self.expression(stmt.value, tile, stmt)
        self.write(stmt.target, self.full(value, tile), stmt)

    def expression(self, expr: Expr, tile: Shape, stmt: Map) -> ir.Value:
        match expr:
            case Operand(view):
                axes = range(len(tile) - view.rank, len(tile))
                return self.read(view, self.operand_tile(view, axes, tile, stmt), 0.0, stmt)
            case Column(view):
                axes = [len(tile) - 2]
                row = self.read(view, self.operand_tile(view, axes, tile, stmt), 0.0, stmt)
                return self.with_axes(row, [len(row.shape)])
            case Const(value, dtype):
                return self.build.constant(value, dtype)
            case Index(value):
                return self.cast(self.scalar(value), I32)
            case Iota(axis):
                return self.cast(self.along(tile, axis), I32)
            case Cast(dtype, operand):
                return self.cast(self.expression(operand, tile, stmt), dtype)
            case Unary(kind, operand):
                return self.unary(kind, self.expression(operand, tile, stmt))
            case Binary(kind, left, right):
                a = self.expression(left, tile, stmt)
                b = self.expression(right, tile, stmt)
                return self.build.compute(_BINARY[kind], *self.same_shape(a, b))
            case Select(condition, yes, no):
                parts = [self.expression(each, tile, stmt) for each in (condition, yes, no)]
                return self.build.compute("select", *self.same_shape(*parts))

    def operand_tile(
        self, view: View, axes: Sequence[int], tile: Shape, stmt: Map | Reduce
    ) -> Shape:
        """The tile of an operand: along an axis of the target's extent, the target's."""
        own = self.tile(view, stmt)
        if view.buffer in self.held:
            return own
        target = stmt.target.shape
        return tuple(
            tile[axis] if 0 <= axis < len(target) and extent == target[axis] else full
            for axis, extent, full in zip(axes, view.shape, own, strict=True)
        )

    def same_shape(self, *values: ir.Value) -> list[ir.Value]:
        rank = max(len(value.shape) for value in values)
        shapes = [(1,) * (rank - len(value.shape)) + value.shape for value in values]
        shape = tuple(map(max, *shapes)) if rank else ()
        return [self.full(value, shape) for value in values]

    def unary(self, kind: str, value: ir.Value) -> ir.Value:
        if kind in _UNARY:
            return self.build.compute(kind, value)
        assert kind == "gelu"

        def number(x: float) -> ir.Value:
            return self.splat(self.build.constant(x, value.ty.dtype), value.shape)

        inner = self.build.compute("mul", value, number(math.sqrt(0.5)))
        grown = self.build.compute("add", self.build.compute("erf", inner), number(1.0))
        half = self.build.compute("mul", number(0.5), value)
        return self.build.compute("mul", half, grown)

    def reduce(self, stmt: Reduce) -> None:
        keeps_axis = stmt.target.rank == stmt.source.rank
        after = 0 if keeps_axis else 1
        axes = [n - (after if n > stmt.axis else 0) for n in range(stmt.source.rank)]
        axes[stmt.axis] = -1  # the target has no extent of it
        target_tile = self.common_tile(stmt, stmt.target, [(stmt.source, axes)])
        tile = self.operand_tile(stmt.source, axes, target_tile, stmt)
        begin = identity(stmt.kind, self.dtypes[stmt.source.buffer])
        source = self.read(stmt.source, tile, begin, stmt)
        dtype = accumulator(source.ty.dtype)
        wide = self.cast(source, dtype)
        wide = self.inside(wide, stmt.source.shape, [stmt.axis], begin)
        name, combine = _REDUCE[stmt.kind]
        total = self.cast(self.build.compute(name, wide, axis=stmt.axis), dtype)
        if total.shape != target_tile:
            total = self.build.compute("reshape", total, shape=target_tile)
        held = self.cast(self.read(stmt.target, target_tile, 0.0, stmt), dtype)
        self.write(stmt.target, self.build.compute(combine, held, total), stmt)

    def multiply(self, stmt: Mma) -> None:
        outer = [
            (stmt.left, (-1, 0) if "a" in stmt.transposed else (0, -1)),
            (stmt.right, (1, -1) if "b" in stmt.transposed else (-1, 1)),
        ]
        m, n = target_tile = self.common_tile(stmt, stmt.target, outer)
        sides = ((stmt.left, "a" in stmt.transposed, 1), (stmt.right, "b" in stmt.transposed, 0))
        depths = [
            self.tile(view, stmt)[1 - axis if is_transposed else axis]
            for view, is_transposed, axis in sides
        ]
        fixed = [
            depth for depth, side in zip(depths, sides, strict=True) if side[0].buffer in self.held
        ]
        k = fixed[0] if fixed else max(depths)
        if any(each != k for each in fixed):
            raise BlockError(f"factors in registers have tiles of depth {fixed}", stmt)
        left = self.factor(stmt, stmt.left, sides[0][1], (m, k), 1)
        right = self.factor(stmt, stmt.right, sides[1][1], (k, n), 0)
        wide = accumulator(left.ty.dtype)
        held = self.cast(self.read(stmt.target, target_tile, 0.0, stmt), wide)
        if left.ty.dtype != right.ty.dtype:
            left, right = self.cast(left, wide), self.cast(right, wide)
        self.write(stmt.target, self.build.compute("dot", left, right, held), stmt)

    def factor(
        self, stmt: Mma, view: View, is_transposed: bool, wanted: Shape, depth_axis: int
    ) -> ir.Value:
        """A factor of a product, with zeros beyond the depth that is summed over."""
        axis = 1 - depth_axis if is_transposed else depth_axis
        tile = wanted[::-1] if is_transposed else wanted
        if self.padded.get(view.buffer) == view.shape and tile == self.shapes[view.buffer]:
            view = replace(view, extents=tuple(map(affine, tile)))  # zeros are there already
        value = self.read(view, tile, 0.0, stmt)
        if view.buffer in self.held:
            value = self.inside(value, view.shape, [axis], 0.0)
        return self.build.compute("permute", value, axes=(1, 0)) if is_transposed else value

    def changed(self, body: Sequence[Stmt]) -> list[str]:
        """The buffers in registers that statements write."""
        found: dict[str, None] = {}
        for stmt in walk(tuple(body)):
            target = getattr(stmt, "target", None)
            if isinstance(target, View) and target.buffer in self.held:
                found.update(dict.fromkeys(self.keys(target.buffer)))
        return list(found)

    def nested(self, run: Callable[[], None]) -> list[ir.Op]:
        outer, self.build.ops = self.build.ops, []
        run()
        ops, self.build.ops = self.build.ops, outer
        return ops

    def prologue(self, stmt: For | ParallelFor) -> None:
        """A loop that starts the copies of the first trips, without a loop: its slots are known."""
        for trip in range(self.ranges.upper(stmt.extent)):
            body = substitute_all(stmt.body, {stmt.variable: trip})
            is_sure = stmt.extent.is_constant
            self.block(body if is_sure else [If(affine(trip), "<", stmt.extent, body, stmt.origin)])

    def loop(self, stmt: For | ParallelFor) -> None:
        build, loc = self.build, self.build.loc
        turned = self.turned(stmt)
        if stmt.body and all(isinstance(each, Start) for each in stmt.body):
            self.prologue(stmt)
            return
        start, step = build.constant(0, self.index), build.constant(1, self.index)
        stop = self.scalar(stmt.extent)
        carried = self.changed(stmt.body)
        turns = {key: key for key in carried}
        for buffer in turned:
            keys = self.keys(buffer)
            turns.update(zip(keys, (*keys[1:], keys[0]), strict=True))
        inits = [self.values[name] for name in carried]
        hints = [name.partition("@")[0] for name in carried]
        counter = build.value(Scalar(self.index), stmt.variable)
        args = [build.value(value.ty, name) for name, value in zip(hints, inits, strict=True)]
        outer_ranges, outer_values = self.ranges, dict(self.values)
        self.ranges = outer_ranges.inside(stmt.variable, stmt.extent)
        self.variables[stmt.variable] = counter
        self.values.update(zip(carried, args, strict=True))

        def body() -> None:
            self.block(stmt.body)
            build.emit(ir.Yield(tuple(self.values[turns[name]] for name in carried), loc))

        ops = self.nested(body)
        self.ranges, self.values = outer_ranges, outer_values
        passed = [build.value(value.ty, name) for name, value in zip(hints, inits, strict=True)]
        results = [build.value(value.ty, name) for name, value in zip(hints, inits, strict=True)]
        build.emit(
            ir.For(
                start,
                stop,
                step,
                tuple(inits),
                ir.Region((counter, *args), tuple(ops)),
                ir.Region(tuple(passed), (ir.Yield(tuple(passed), loc),)),
                tuple(results),
                loc,
            )
        )
        self.values.update(zip(carried, results, strict=True))

    def branch(self, stmt: If) -> None:
        build, loc = self.build, self.build.loc
        condition = build.compute(
            _COMPARE[stmt.comparison], self.scalar(stmt.left), self.scalar(stmt.right)
        )
        carried = self.changed(stmt.body)
        before = dict(self.values)

        def body() -> None:
            self.block(stmt.body)
            build.emit(ir.Yield(tuple(self.values[name] for name in carried), loc))

        ops = self.nested(body)
        self.values = before
        others = ir.Region((), (ir.Yield(tuple(before[name] for name in carried), loc),))
        results = [build.value(before[name].ty, name.partition("@")[0]) for name in carried]
        build.emit(ir.If(condition, ir.Region((), tuple(ops)), others, tuple(results), loc))
        self.values.update(zip(carried, results, strict=True))


def _operands(expr: Expr) -> list[tuple[View, bool]]:
    """The views that an expression reads, and whether each is a column."""
    match expr:
        case Operand(view):
            return [(view, False)]
        case Column(view):
            return [(view, True)]
        case Cast(operand=operand) | Unary(operand=operand):
            return _operands(operand)
        case Binary(left=left, right=right):
            return [*_operands(left), *_operands(right)]
        case Select(condition, yes, no):
            return [pair for each in (condition, yes, no) for pair in _operands(each)]
        case Const() | Index() | Iota():
            return []


def _strides(shape: Shape, pad: int) -> Shape:
    """The distances between neighbours, where each row has some padding behind it."""
    strides: list[int] = []
    step = 1
    for axis, extent in reversed(list(enumerate(shape))):
        strides.append(step)
        step *= extent + (pad if axis == len(shape) - 1 else 0)
    return tuple(reversed(strides))

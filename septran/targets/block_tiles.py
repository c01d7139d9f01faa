"""The buffers of a block program: arrays in memory, and values in registers that are whole tiles.

A tile has its full extent in every block; in registers, what arrays have of it at most. What lies
beyond its true extent is masked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eas.ir import nodes as ir
from eas.ir.builder import Builder
from eas.ir.types import DType
from eas.septran.flat.affine import Affine, Atom, Floor, Min, Mod, affine
from eas.septran.flat.nodes import (
    Alloc,
    Param,
    Stmt,
    Temp,
    View,
    walk,
)
from eas.septran.flat.ranges import Ranges
from eas.support.diagnostics import Diagnostic
from eas.support.location import NOWHERE
from eas.support.records import field, frozen, record, replace

Shape = tuple[int, ...]
Axes = Sequence[int]  # for each axis of a view, the target's axis that it runs along, or -1


class BlockError(Exception):
    """A statement that block programs cannot express (S701)."""

    def __init__(self, message: str, stmt: Stmt, help: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        origin = stmt.origin
        loc = origin.yaml or origin.python or NOWHERE
        self.diagnostic = Diagnostic("S701", message, loc, help=help)


@frozen
class Array:
    """A buffer in memory: its pointer, and per axis the distance between elements."""

    pointer: ir.Value
    strides: Shape
    slot: int = 0


@record
class Tiles:
    """Writes ops that read and write views; knows where each buffer lies."""

    registers: frozenset[str]
    padded: Mapping[str, tuple[Affine, ...]]
    index: DType  # of offsets
    used: Mapping[str, Shape]  # the shapes of values in registers
    build: Builder = field(default_factory=Builder)
    variables: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    values: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])
    held: dict[str, int] = field(default_factory=dict[str, int])  # in registers, with their slots
    allocations: dict[str, Alloc] = field(default_factory=dict[str, Alloc])
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

    def allocate(self, stmt: Alloc) -> None:
        self.allocations[stmt.name] = stmt
        self.dtypes[stmt.name] = stmt.dtype
        self.shapes[stmt.name] = stmt.shape
        if stmt.memory in self.registers:
            shape = self.shapes[stmt.name] = self.used[stmt.name]
            zero = self.splat(self.build.constant(0, stmt.dtype), shape)
            self.held[stmt.name] = stmt.slots
            self.values.update(dict.fromkeys(self.keys(stmt.name), zero))
            return
        strides = _strides(stmt.shape, stmt.pad)
        *rows, row = stmt.shape or (1,)
        size = math.prod(rows) * (row + stmt.pad)
        pointer = self.named(self.build.alloc(size * stmt.slots, stmt.dtype), stmt.name)
        self.arrays[stmt.name] = Array(pointer, strides, size)

    def keys(self, buffer: str) -> list[str]:
        """The names of a buffer's values: one for each slot, counted from that of the trip."""
        slots = self.held[buffer]
        return [buffer] if slots == 1 else [f"{buffer}@{slot}" for slot in range(slots)]

    def key(self, view: View, stmt: Stmt) -> str:
        """The name of a view's value. A loop rotates the slots of its buffers in every trip, so
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

    def changed(self, body: Sequence[Stmt]) -> list[str]:
        """The buffers in registers that statements write."""
        found: dict[str, None] = {}
        for stmt in walk(tuple(body)):
            target = getattr(stmt, "target", None)
            if isinstance(target, View) and target.buffer in self.held:
                found.update(dict.fromkeys(self.keys(target.buffer)))
        return list(found)

    def constant(self, value: float | int, dtype: DType) -> ir.Value:
        """A number of a dtype; those of integers are whole."""
        return self.build.constant(value if dtype.is_float else int(value), dtype)

    def splat(self, value: ir.Value, shape: Shape) -> ir.Value:
        return self.build.compute("splat", value, shape=shape) if shape else value

    def tile(self, view: View) -> Shape:
        """The full extents of a view's tile."""
        if view.buffer not in self.held:
            return tuple(self.ranges.upper(extent) for extent in view.shape)
        if any(offset != affine(0) for offset in view.offsets) or None in view.extents:
            message = f"parts of `{view.buffer}` are used, and in {view.memory} it is one value"
            help = ("place it in a memory with addresses",)
            raise BlockError(message, self.allocations[view.buffer], help)
        return self.shapes[view.buffer]

    def common_tile(self, stmt: Stmt, target: View, operands: Sequence[tuple[View, Axes]]) -> Shape:
        """The full tile of a target. Along an axis that a value in registers has too, it is this
        value's: there may be fewer elements than its tile has.
        """
        tile = list(self.tile(target))
        fixed = {axis: tile[axis] for axis in range(len(tile)) if target.buffer in self.held}
        for view, axes in operands:
            if view.buffer not in self.held:
                continue
            for axis, extent, full in zip(axes, view.shape, self.tile(view), strict=True):
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
            self.tile(view)
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


def _strides(shape: Shape, pad: int) -> Shape:
    """The distances between neighbours, where each row has some padding behind it."""
    strides: list[int] = []
    step = 1
    for axis, extent in reversed(list(enumerate(shape))):
        strides.append(step)
        step *= extent + (pad if axis == len(shape) - 1 else 0)
    return tuple(reversed(strides))

"""Checks of memory as ops, for backends that do not check accesses themselves.

Each access of a checked function is preceded by an `Assert` that names the fault. The access is
masked, so that a lane outside of the array accesses no memory: a store does not happen, a load
gives zero. The policy is that of `ReadZeroSkipWrite` in WebGPU's implementations.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Alloc,
    Assert,
    Atomic,
    Compute,
    Fault,
    Function,
    Load,
    Op,
    Store,
    Value,
    walk,
)
from eas.ir.passes.bounds_params import bounds_of
from eas.ir.report_sites import ACCESS_KINDS, array_name
from eas.ir.rewrite import builder_for, rewrite
from eas.ir.types import I64, U8, U16, U32, Shape
from eas.support.records import replace

_NEVER_BELOW = (U8, U16, U32)  # dtypes of which no number is below zero as an i64


def guard_accesses(f: Function) -> Function:
    """The function with its checks as ops, if its accesses are checked."""
    if not f.checked:
        return f
    guards = _Guards(builder_for(f), bounds_of(f))
    for op in walk(f.body):
        if isinstance(op, Alloc):
            guards.sizes[op.result.id] = op.size
    return replace(f, body=rewrite(f.body, guards.change))


def guard_selections(f: Function) -> Function:
    """The function with checks of indices that select one of several values.

    For backends that check an index where it leads to memory: these indices do not.
    """
    if not f.checked:
        return f
    compared = {
        operand.id
        for op in walk(f.body)
        if isinstance(op, Compute) and op.result.ty.dtype.is_bool
        for operand in op.operands
    }
    guards = _Guards(builder_for(f), bounds_of(f))

    def change(op: Op, _: Op) -> Sequence[Op] | None:
        if not isinstance(op, Compute) or op.op.name != "index" or op.result.id not in compared:
            return None
        guards.build.ops, guards.build.loc = [op], op.loc
        guards.index(op)
        return guards.build.ops

    return replace(f, body=rewrite(f.body, change))


class _Guards:
    def __init__(self, build: Builder, bounds: dict[int, tuple[Value | None, Value]]) -> None:
        self.build, self.bounds = build, bounds
        self.sizes: dict[int, int] = {}

    def change(self, op: Op, _: Op) -> Sequence[Op] | None:
        self.build.ops, self.build.loc = [], op.loc
        if isinstance(op, Load | Store | Atomic):
            self.access(op)
        elif isinstance(op, Compute) and op.op.name == "index":
            self.build.emit(op)
            self.index(op)
        return self.build.ops or None

    def access(self, op: Load | Store | Atomic) -> None:
        build, shape = self.build, op.offset.shape
        low, high = self.ends(op.pointer)
        offset = self.wide(op.offset)
        is_inside = build.compute("lt", offset, self.spread(high, shape))
        if low is not None or op.offset.ty.dtype not in _NEVER_BELOW:
            first = build.constant(0, I64) if low is None else low
            reached = build.compute("ge", offset, self.spread(first, shape))
            is_inside = build.compute("and", reached, is_inside)
        name, is_masked = array_name(op.pointer.hint), op.mask is not None
        fault = Fault(ACCESS_KINDS[type(op)], name, offset, is_masked=is_masked)
        self.require(is_inside, op.mask, fault)
        mask = is_inside if op.mask is None else build.compute("and", op.mask, is_inside)
        if isinstance(op, Load):
            build.emit(replace(op, mask=mask, other=op.other or self.zero(op.result)))
        else:
            build.emit(replace(op, mask=mask))

    def index(self, op: Compute) -> None:
        """An index is from minus the extent of its axis to below that."""
        build = self.build
        index, extent = (self.wide(operand) for operand in op.operands)
        least = build.compute("neg", extent)
        is_inside = build.compute(
            "and", build.compute("ge", index, least), build.compute("lt", index, extent)
        )
        array, axis = op.attr("array"), op.attr("axis")
        assert isinstance(array, str)
        assert isinstance(axis, int)
        self.require(is_inside, None, Fault("index", array, index, extent, axis))

    def require(self, is_inside: Value, mask: Value | None, fault: Fault) -> None:
        build = self.build
        if mask is not None:
            is_inside = build.compute("or", is_inside, build.compute("not", mask))
        build.emit(Assert(is_inside, "", build.loc, fault=fault))

    def ends(self, pointer: Value) -> tuple[Value | None, Value]:
        if pointer.id in self.bounds:
            return self.bounds[pointer.id]
        return None, self.build.constant(self.sizes[pointer.id], I64)

    def wide(self, value: Value) -> Value:
        return value if value.ty.dtype == I64 else self.build.compute("cast", value, dtype=I64)

    def spread(self, value: Value, shape: Shape) -> Value:
        return self.build.compute("splat", value, shape=shape) if shape else value

    def zero(self, like: Value) -> Value:
        dtype = like.ty.dtype
        number = self.build.constant(False if dtype.is_bool else 0, dtype)
        return self.spread(number, like.shape)

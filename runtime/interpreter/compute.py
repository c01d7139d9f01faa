"""Ops without effects on memory: constants, the ops of the table, asserts and prints."""

from __future__ import annotations

import numpy as np

from eas.ir.nodes import Assert, Barrier, Compute, Constant, Print, Value
from eas.ir.ops.record import Array, Attrs, Fault
from eas.ir.types import Pointer, Shape
from eas.runtime.errors import KernelError
from eas.runtime.interpreter.active_lanes import Lanes, full
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.races import pass_barrier
from eas.runtime.interpreter.report import check_exact, describe_lane, fail, find, value_at
from eas.runtime.report_codes import (
    ASSERTION,
    BAD_SHIFT,
    DIVISION_BY_ZERO,
    FLOAT_TO_INT_OVERFLOW,
    INDEX_OUT_OF_BOUNDS,
)
from eas.support.faults import bad_index

# The code of an op's fault; `index` has its own message.
FAULT_CODES: dict[str, str] = {
    "floordiv": DIVISION_BY_ZERO,
    "mod": DIVISION_BY_ZERO,
    "truncdiv": DIVISION_BY_ZERO,
    "truncmod": DIVISION_BY_ZERO,
    "shl": BAD_SHIFT,
    "shr": BAD_SHIFT,
    "cast": FLOAT_TO_INT_OVERFLOW,
    "index": INDEX_OUT_OF_BOUNDS,
}

# These only move axes, so an extent of 1 that stands for more may stay 1.
_MOVES_AXES = frozenset({"expand_dims", "permute"})


def run_constant(chunk: Chunk, op: Constant, lanes: Lanes) -> Lanes:
    assert not isinstance(op.result.ty, Pointer)
    chunk[op.result] = np.array([op.value], op.result.ty.dtype.numpy)
    return lanes


def run_compute(chunk: Chunk, op: Compute, lanes: Lanes) -> Lanes:
    record, attrs = op.op, dict(op.attrs)
    arrays = _operands(chunk, op)
    if record.name == "index" and op.operands[0].id in chunk.plan.exact:
        name = f"the index along axis {attrs['axis']} of `{attrs['array']}`"
        where = lanes.over(op.result.shape)
        check_exact(chunk, op.operands[0], where, op.loc, name, "i.to(mk.i64) + n")
    if record.fault is not None:
        _check_fault(chunk, op, record.fault, arrays, attrs, lanes)
    _compute(chunk, op, arrays, attrs)
    return lanes


def run_without_faults(chunk: Chunk, op: Compute, lanes: Lanes) -> Lanes:
    """A pure op at a stage at which none has faults: what it computes of bad operands is unused."""
    _compute(chunk, op, _operands(chunk, op), dict(op.attrs))
    return lanes


def _operands(chunk: Chunk, op: Compute) -> list[Array]:
    arrays = chunk.read(op.operands)
    if not op.op.elementwise and op.op.name not in _MOVES_AXES:
        arrays = [full(a, v.shape) for a, v in zip(arrays, op.operands, strict=True)]
    return arrays


def _compute(chunk: Chunk, op: Compute, arrays: list[Array], attrs: Attrs) -> None:
    if op.op.positional:
        chunk[op.result] = op.op.meaning(chunk.programs, *arrays, **attrs)
    else:
        chunk[op.result] = op.op.meaning(*arrays, **attrs)


def _check_fault(
    chunk: Chunk, op: Compute, fault: Fault, arrays: list[Array], attrs: Attrs, lanes: Lanes
) -> None:
    bad = fault.where(*arrays, **attrs)
    if bad is None or not bad.any():
        return
    spot = find(bad, lanes, op.result.shape)
    if spot is None:
        return
    values, place = [value_at(a, spot) for a in arrays], describe_lane(chunk, spot)
    if op.op.name == "index":
        array, axis = str(attrs["array"]), int(str(attrs["axis"]))
        index, extent = map(int, values)
        raise KernelError((bad_index(array, axis, index, extent, op.loc, place),))
    label = f"computed from {' and '.join(values)}"
    fail(FAULT_CODES[op.op.name], fault.message, op.loc, label, notes=(place,))


def run_assert(chunk: Chunk, op: Assert, lanes: Lanes) -> Lanes:
    condition = chunk[op.condition]
    if condition.all():
        return lanes
    spot = find(~condition, lanes, op.condition.shape)
    if spot is not None:
        message = f"assertion failed: {op.message}" if op.message else "assertion failed"
        fail(ASSERTION, message, op.loc, "false here", notes=(describe_lane(chunk, spot),))
    return lanes


def run_print(chunk: Chunk, op: Print, lanes: Lanes) -> Lanes:
    shape = _print_shape(op)
    every = (chunk.programs.size, *shape)
    parts = [
        part if isinstance(part, str) else np.broadcast_to(_ranked(chunk[part], len(every)), every)
        for part in op.parts
    ]
    where = lanes.over(shape)
    active = np.ones(every, np.bool_) if where is None else np.broadcast_to(where, every)
    for spot in zip(*np.nonzero(active), strict=True):
        line = "".join(part if isinstance(part, str) else str(part[spot]) for part in parts)
        chunk.printed.append((int(spot[0]), line))
    return lanes


def _print_shape(op: Print) -> Shape:
    """The shape of the lanes that print: that of the blocks among the parts."""
    shapes = [part.shape for part in op.parts if isinstance(part, Value)]
    return np.broadcast_shapes(*shapes)


def _ranked(a: Array, rank: int) -> Array:
    return a if a.ndim == rank else a.reshape(-1, *(1 for _ in range(rank - 1)))


def run_barrier(chunk: Chunk, op: Barrier, lanes: Lanes) -> Lanes:
    """The lanes run in lockstep: a barrier only orders their accesses."""
    del op
    pass_barrier(chunk)
    return lanes

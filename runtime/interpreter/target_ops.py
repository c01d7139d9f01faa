"""Ops of a target, which work on the whole memory behind a pointer."""

from __future__ import annotations

import numpy as np

from eas.ir.nodes import TargetOp, Value, written_by
from eas.ir.ops.record import Array
from eas.ir.types import Pointer
from eas.runtime.interpreter.active_lanes import Lanes, broadcast, full
from eas.runtime.interpreter.chunk import Chunk


def run_target_op(chunk: Chunk, op: TargetOp, lanes: Lanes) -> Lanes:
    made = op.op.meaning(*(_contents(chunk, value) for value in op.operands), **dict(op.attrs))
    pointer = written_by(op)
    if pointer is not None:
        _change(_rows(chunk, pointer), made, lanes)
    elif op.result is not None:
        chunk[op.result] = made
    return lanes


def _contents(chunk: Chunk, value: Value) -> Array:
    if isinstance(value.ty, Pointer):
        return _rows(chunk, value)
    return full(chunk[value], value.shape)


def _rows(chunk: Chunk, pointer: Value) -> Array:
    """The memory behind a pointer, a row for each program."""
    memory = chunk.memories[pointer.id]
    return memory.flat.reshape(chunk.programs.size, memory.high)


def _change(rows: Array, made: Array, lanes: Lanes) -> None:
    """Writes the rows of the programs that are active."""
    where = lanes.over(())
    made = broadcast(made, rows.shape)
    if where is None:
        rows[...] = made
    else:
        active = np.broadcast_to(where, rows.shape[:1])
        rows[active] = made[active]

"""Reductions and scans with the user's combining function, on whole blocks of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.ir.nodes import Combine, Compute, Constant, Region, Yield
from eas.ir.ops.record import Array
from eas.runtime.interpreter.active_lanes import Lanes, full
from eas.runtime.interpreter.chunk import Chunk

Arrays = Sequence[Array]


def run_combine(chunk: Chunk, op: Combine, lanes: Lanes) -> Lanes:
    arrays = [full(chunk[value], value.shape) for value in op.operands]
    arrays = np.broadcast_arrays(*arrays)
    combined = _reduce(op.body, arrays) if op.kind == "reduce" else _scan(op.body, arrays)
    chunk.bind(op.results, combined)
    return lanes


def _reduce(body: Region, arrays: Arrays) -> Arrays:
    """Combines neighbours until one element is left; an odd last one is passed on."""
    while (extent := arrays[0].shape[-1]) > 1:
        even = extent // 2 * 2
        pairs = _apply(body, [a[..., 0:even:2] for a in arrays], [a[..., 1::2] for a in arrays])
        rests = [a[..., even:] for a in arrays]
        arrays = [np.concatenate(both, -1) for both in zip(pairs, rests, strict=True)]
    return [a[..., 0] for a in arrays]


def _scan(body: Region, arrays: Arrays) -> Arrays:
    """Combines each element with the one before it at distance 1, 2, 4, ..."""
    arrays = [a.copy() for a in arrays]
    distance, extent = 1, arrays[0].shape[-1]
    while distance < extent:
        earlier = [a[..., :-distance] for a in arrays]
        later = [a[..., distance:] for a in arrays]
        for array, new in zip(arrays, _apply(body, earlier, later), strict=True):
            array[..., distance:] = new
        distance *= 2
    return arrays


def _apply(body: Region, first: Arrays, second: Arrays) -> Arrays:
    """The function's results for each pair of elements."""
    shape = first[0].shape
    known = {value.id: a for value, a in zip(body.args, (*first, *second), strict=True)}
    for op in body.ops[:-1]:
        if isinstance(op, Constant):
            known[op.result.id] = np.full((1,) * len(shape), op.value, op.result.ty.dtype.numpy)
        elif isinstance(op, Compute):
            operands = [known[value.id] for value in op.operands]
            known[op.result.id] = op.op.meaning(*operands, **dict(op.attrs))
    assert isinstance(body.terminator, Yield)
    values = body.terminator.values
    return [np.broadcast_to(known[value.id], shape) for value in values]

"""Counts of what a kernel does while the interpreter runs it: independent of its Metal text."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import Any
from unittest import mock

import numpy as np

from eas.ir import nodes
from eas.ir.types import Pointer
from eas.runtime.interpreter import handlers
from tests.kernels.case import Case

_FLOPS = {"add": 1, "sub": 1, "mul": 1, "div": 1, "fma": 2}


def execute(case: Case) -> Counter[tuple[str, int]]:
    """Loads and stores of device memory by their width, and flops, of all programs of a launch.

    A mask of an access counts as true, as it does in the text; lanes that control flow left out are
    not counted.
    """
    counts: Counter[tuple[str, int]] = Counter()

    def watched(name: type[nodes.Op], table: dict[Any, Any]) -> Any:
        run = table[name]

        def handler(chunk: Any, op: Any, lanes: Any) -> Any:
            _count(counts, op, lanes, chunk.programs.size)
            return run(chunk, op, lanes)

        return mock.patch.dict(table, {name: handler})

    with ExitStack() as stack:
        for table in (handlers.HANDLERS, handlers.WITHOUT_FAULTS):
            for name in (nodes.Load, nodes.Store, nodes.Compute):
                stack.enter_context(watched(name, table))
        launch = case.kernel if case.grid is None else case.kernel[case.grid]
        launch(**case.arguments(), _backend="interpret")
    return counts


def _count(counts: Counter[tuple[str, int]], op: Any, lanes: Any, programs: int) -> None:
    if isinstance(op, nodes.Compute):
        dtype = getattr(op.result.ty, "dtype", None)
        if op.op.name in _FLOPS and dtype is not None and dtype.is_float:
            counts["flop", 0] += _FLOPS[op.op.name] * _active(lanes, op.result.shape, programs)
        return
    assert isinstance(op.pointer.ty, Pointer)
    if op.pointer.ty.space == "device":
        width = max(op.pointer.ty.dtype.bits // 8, 1)
        what = "load" if isinstance(op, nodes.Load) else "store"
        counts[what, width] += _active(lanes, op.offset.shape, programs)


def _active(lanes: Any, shape: tuple[int, ...], programs: int) -> int:
    where = lanes.over(shape)
    every = (programs, *shape)
    return int(np.prod(every) if where is None else np.broadcast_to(where, every).sum())

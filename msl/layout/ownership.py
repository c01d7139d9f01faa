"""Assigns the elements of blocks to threads: once, for the whole function, as data.

A program is a threadgroup of `threads` threads. The elements of a block are distributed cyclically:
thread `e % threads` is the *owner* of element `e`, so neighbouring threads access neighbouring
memory. A lane works on a *domain*, the shape of the loop it is in. It may need an element that its
thread does not own. Then the value is

- rematerialized at that element, if it is index arithmetic or otherwise cheap,
- loaded again, if nothing in the function writes to that array,
- read from threadgroup memory, if it is expensive or must not be computed twice: it is *staged*.

A value that some op needs in the thread that owns it is *materialized*: the owner computes it once,
where it stands in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from eas.ir.nodes import (
    Assert,
    Atomic,
    Combine,
    Compute,
    For,
    If,
    Load,
    Print,
    Store,
    TargetOp,
    Value,
    While,
    is_reduction,
    is_view,
    operands_of,
    regions_of,
)
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import count
from eas.msl.analysis.costs import operands_of_pure
from eas.msl.analysis.facts import Facts, is_pure
from eas.msl.layout.lane_control import choose_domains
from eas.msl.layout.layout import Budget, Layout, Strategy, axis_of, is_64_bit
from eas.msl.layout.materialization import Demands
from eas.msl.ops.all_reduce import is_all_reduce
from eas.msl.ops.mma import EDGE, EPILOGUE, extents_of, strip_rows

MAX_THREADS = 1024
_FRAGMENTS = 8
_USUAL_SIMDGROUPS = 8
_MOST_SIMDGROUPS = 16


def complete_layout(layout: Layout, threads: int | None = None) -> None:
    """Decides the rest of a layout whose control flow is classified."""
    function = layout.facts.function
    layout.threads = threads or function.threads or default_threads(layout)
    Demands(layout).region(function.body, 0)


def classify_control(
    facts: Facts, threads: int | None = None, budget: Budget | None = None
) -> Layout:
    """A layout that only says which control flow is per lane and which is uniform."""
    layout = Layout(facts, budget=budget or Budget())
    choose_strategies(layout, threads)
    choose_domains(layout, facts.function.body)
    return layout


def choose_strategies(layout: Layout, threads: int | None) -> None:
    """Chooses the strategy of each reduction and the cost of each block, in text order."""
    facts = layout.facts
    whole_simdgroups = (threads or facts.function.threads or SIMD) % SIMD == 0
    for value, op in facts.definitions.items():
        if isinstance(op, Compute) and is_reduction(op):
            strategy = _reduction_strategy(op, layout, whole_simdgroups)
            layout.strategies[value] = strategy
            if layout.is_threadgroup_only(value):
                layout.costs.prices[value] = 1
        elif isinstance(op, TargetOp):
            layout.strategies[value] = _epilogue_strategy(op, layout, threads)
        elif isinstance(op, Combine):
            layout.strategies[value] = _combine_strategy(op, whole_simdgroups)
        elif isinstance(op, Compute | Load) and value.shape:
            layout.costs.add(op, facts)


def _epilogue_strategy(op: TargetOp, layout: Layout, threads: int | None) -> Strategy:
    """How lanes get the elements of a matrix product."""
    goes = layout.budget.strips and strip_rows(op, threads or default_threads(layout)) > 0
    return Strategy.STRIPS if goes else Strategy.FRAGMENTS


def _reduction_strategy(op: Compute, layout: Layout, whole_simdgroups: bool) -> Strategy:
    axis = axis_of(op)
    if not op.result.shape:
        return Strategy.ALL_REDUCE
    if is_all_reduce(op):
        return Strategy.ROW_ALL_REDUCE
    if axis.after == 1 and axis.extent % SIMD == 0 and whole_simdgroups and not is_64_bit(op):
        return Strategy.ROW_PARTIALS
    fits = _staged_bytes(op.operands[0], layout) <= layout.budget.staged_bytes
    return Strategy.SERIAL if fits else Strategy.CHUNKED


def _combine_strategy(op: Combine, whole_simdgroups: bool) -> Strategy:
    if op.kind == "scan":
        return Strategy.SIMD_SCAN if whole_simdgroups else Strategy.SERIAL_SCAN
    return Strategy.SERIAL if op.results[0].shape else Strategy.ALL_REDUCE


def _staged_bytes(value: Value, layout: Layout) -> int:
    """How much threadgroup memory a block needs so that any lane can have any element."""
    facts = layout.facts
    value = facts.resolve(value)
    if not value.shape or layout.costs.is_cheap(value):
        return 0
    op = facts.definition(value)
    if isinstance(op, Compute | Load) and _is_computed_inside(op, facts):
        return sum(_staged_bytes(v, layout) for v in operands_of_pure(op))
    return count(value.shape) * max(value.ty.dtype.bits // 8, 1)


def _is_computed_inside(op: Compute | Load, facts: Facts) -> bool:
    """Whether an op needs no memory of its own, because its user rematerializes it."""
    if not is_pure(op, facts) or is_reduction(op):
        return False
    return is_view(op) or len(facts.uses_of(op.result)) == 1


def default_threads(layout: Layout) -> int:
    """One thread per element of the largest block, from 256 on several elements per thread."""
    ops = layout.facts.ops
    products = [op for op in ops if isinstance(op, TargetOp) and op.op is EPILOGUE]
    if products:
        return SIMD * max(map(_simdgroups, products))
    extent = max(_extents(layout), default=1)
    wanted = min(max(min(extent, 256), -(-extent // 4)), MAX_THREADS)
    return -(-wanted // SIMD) * SIMD


def _simdgroups(op: TargetOp) -> int:
    """The number of simdgroups for a matrix product, with some fragments for each."""
    fragments = prod(extents_of(op)) // (EDGE * EDGE)
    most = min(max(fragments // (2 * _FRAGMENTS), _USUAL_SIMDGROUPS), _MOST_SIMDGROUPS)
    return min(max(fragments // _FRAGMENTS, 1), most)


def _extents(layout: Layout) -> Iterator[int]:
    """The sizes of the blocks that are computed by their owners in any layout."""
    for op in layout.facts.ops:
        match op:
            case Store() | Atomic():
                yield count(op.offset.shape)
            case Assert() | Print():
                yield from (count(value.shape) for value in operands_of(op))
            case If() | For() | While():
                yield from (count(v.shape) for r in regions_of(op) for v in r.args)
                yield from (count(v.shape) for v in op.results)
            case Combine():
                serial = layout.is_serial(op)
                yield count((op.results if serial else op.operands)[0].shape)
            case Compute() if is_reduction(op):
                serial = layout.is_serial(op)
                yield count(op.result.shape if serial else op.operands[0].shape)
            case _:
                pass

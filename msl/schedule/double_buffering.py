"""Double buffers the partials of a reduction in a loop, where that saves a barrier.

All threads read the partials of a trip before those of the next trip are written. With two buffers,
the barrier between writing and reading the partials of a trip is enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.nodes import Compute, For, While
from eas.ir.ops.simdgroup import SIMD
from eas.msl.schedule.barriers import count_barriers, insert_barriers
from eas.msl.schedule.steps import Plan, ReducePartials, Step, StorePartials, UniformControl
from eas.msl.schedule.value_sources import Finder
from eas.support.records import replace

Steps = tuple[Step, ...]


def double_buffer_partials(plan: Plan, finder: Finder) -> Plan:
    """The plan with double-buffered reductions, each with a stage counter of its own."""
    if finder.layout.threads % SIMD != 0 or finder.layout.threads == SIMD:
        return plan
    for number, step in enumerate(_partials_in_loops(plan.steps, False), 1):
        other = replace(plan, steps=_with_stage(plan.steps, step.ops, number))
        if _count_barriers(other, finder) < _count_barriers(plan, finder):
            plan = other
    return plan


def stages_of(steps: Steps) -> Iterator[int]:
    """The numbers of the stage counters."""
    for step in steps:
        if isinstance(step, UniformControl):
            for inner in step.plans:
                yield from stages_of(inner)
        elif isinstance(step, StorePartials) and step.stage:
            yield step.stage


def _partials_in_loops(steps: Steps, is_looped: bool) -> Iterator[StorePartials]:
    for step in steps:
        if isinstance(step, UniformControl):
            for inner in step.plans:
                yield from _partials_in_loops(inner, is_looped or isinstance(step.op, For | While))
        elif isinstance(step, StorePartials) and is_looped:
            yield step


def _with_stage(steps: Steps, ops: tuple[Compute, ...], number: int) -> Steps:
    return tuple(_double_buffered(step, ops, number) for step in steps)


def _double_buffered(step: Step, ops: tuple[Compute, ...], number: int) -> Step:
    if isinstance(step, UniformControl):
        return UniformControl(
            step.op, tuple(_with_stage(inner, ops, number) for inner in step.plans)
        )
    if isinstance(step, StorePartials | ReducePartials) and step.ops == ops:
        return replace(step, stage=number)
    return step


def _count_barriers(plan: Plan, finder: Finder) -> int:
    return count_barriers(insert_barriers(plan, finder, {}).steps)

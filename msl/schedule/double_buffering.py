"""Lets the shares of a reduction in a loop take turns with two places, where that saves a barrier.

All threads read the shares of a trip; those of the next trip must not be written before. With two
places for them, the barrier that stands between writing and reading serves for that too.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.nodes import Compute, For, While
from eas.msl.layout.layout import SIMD
from eas.msl.schedule.barriers import insert_barriers
from eas.msl.schedule.steps import Branch, Join, Plan, Step, Sync, Total
from eas.msl.schedule.value_sources import Finder
from eas.support.records import replace

Steps = tuple[Step, ...]


def alternate(plan: Plan, finder: Finder) -> Plan:
    """The plan with such reductions, each with a count of its own."""
    if finder.layout.threads % SIMD != 0 or finder.layout.threads == SIMD:
        return plan
    for number, join in enumerate(_joins_in_loops(plan.steps, False), 1):
        other = replace(plan, steps=_with_turn(plan.steps, join.ops, number))
        if _count_barriers(other, finder) < _count_barriers(plan, finder):
            plan = other
    return plan


def turns_of(steps: Steps) -> Iterator[int]:
    """The counts that reductions need."""
    for step in steps:
        if isinstance(step, Branch):
            for inner in step.plans:
                yield from turns_of(inner)
        elif isinstance(step, Join) and step.turn:
            yield step.turn


def _joins_in_loops(steps: Steps, is_looped: bool) -> Iterator[Join]:
    for step in steps:
        if isinstance(step, Branch):
            for inner in step.plans:
                yield from _joins_in_loops(inner, is_looped or isinstance(step.op, For | While))
        elif isinstance(step, Join) and is_looped:
            yield step


def _with_turn(steps: Steps, ops: tuple[Compute, ...], number: int) -> Steps:
    return tuple(_turning(step, ops, number) for step in steps)


def _turning(step: Step, ops: tuple[Compute, ...], number: int) -> Step:
    if isinstance(step, Branch):
        return Branch(step.op, tuple(_with_turn(inner, ops, number) for inner in step.plans))
    if isinstance(step, Join | Total) and step.ops == ops:
        return replace(step, turn=number)
    return step


def _count_barriers(plan: Plan, finder: Finder) -> int:
    return sum(1 for _ in _barriers_in(insert_barriers(plan, finder, {}).steps))


def _barriers_in(steps: Steps) -> Iterator[Sync]:
    for step in steps:
        if isinstance(step, Branch):
            for inner in step.plans:
                yield from _barriers_in(inner)
        elif isinstance(step, Sync):
            yield step

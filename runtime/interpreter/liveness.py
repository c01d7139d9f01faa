"""A function prepared to run: each op's handler, and the values that are dead after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from eas.ir.nodes import Op, Region, Value, operands_of, regions_of, results_of
from eas.ir.types import Pointer
from eas.support.records import frozen

if TYPE_CHECKING:
    from eas.runtime.interpreter.active_lanes import Lanes
    from eas.runtime.interpreter.chunk import Chunk

# Runs an op for some lanes; gives those that are active after it.
Handler = Callable[["Chunk", Any, "Lanes"], "Lanes | None"]


@frozen
class Steps:
    """A region's ops, each with the ids of the values to drop after it.

    `passed` are the ids of the terminator's operands, `at_end` those to drop once they are read.
    """

    steps: tuple[tuple[Handler, Op, tuple[int, ...]], ...]
    passed: tuple[int, ...]
    at_end: tuple[int, ...]


@frozen
class Plan:
    """The steps of all regions by the region's number, and the ids of unused results.

    `exact` has the ids of exact values by those of values that may have wrapped.
    """

    regions: dict[int, Steps]
    unused: set[int]
    exact: Mapping[int, int]


def make_plan(
    region: Region, handlers: Mapping[type[Op], Handler], exact: Mapping[int, int]
) -> Plan:
    plan = Plan({}, set(), exact)
    _visit(region, handlers, plan)
    return plan


def _visit(region: Region, handlers: Mapping[type[Op], Handler], plan: Plan) -> set[int]:
    """Adds a region to the plan and gives the ids of all values that it uses."""
    ours = _ids(region.args)
    for op in region.ops:
        ours |= _ids(results_of(op))
    used: set[int] = set()
    steps: list[tuple[Handler, Op, tuple[int, ...]]] = []
    at_end: set[int] = set()
    for op in reversed(region.ops):
        results = _ids(results_of(op))
        plan.unused.update(results - used)
        operands = _ids(operands_of(op))
        mentioned = operands | results
        if plan.exact:
            mentioned |= {plan.exact[id] for id in operands if id in plan.exact}
        for inner in regions_of(op):
            mentioned |= _visit(inner, handlers, plan)
        last = (mentioned & ours) - used
        used |= mentioned
        if op is region.terminator:
            at_end, last = last, set[int]()
        steps.append((handlers[type(op)], op, tuple(sorted(last))))
    passed = tuple(value.id for value in operands_of(region.terminator))
    plan.regions[region.number] = Steps(tuple(reversed(steps)), passed, tuple(sorted(at_end)))
    return used


def _ids(values: Iterable[Value]) -> set[int]:
    return {value.id for value in values if not isinstance(value.ty, Pointer)}

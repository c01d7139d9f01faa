"""Finds the divergent control flow that must run in lockstep: see `ir/lowering/lockstep.py`.

`llvm/lockstep_regions.py` does the same for the CPU. Both ask in the same way whether accesses of
lanes conflict (`need_lockstep`). They differ in effects that stand for several lanes. On a GPU each
thread would have such an effect, a store as well, unless a condition holds for one lane only: that
lane is alone, and its accesses conflict with nobody's. The CPU runs its lanes in order, so a store
outside of loops needs no lockstep: the last lane's value stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.aliasing.conflicts import Touch, need_lockstep
from eas.ir.aliasing.disjointness import difference, is_injective
from eas.ir.aliasing.lane_domains import Domain
from eas.ir.nodes import (
    Atomic,
    Compute,
    If,
    Op,
    Print,
    Store,
    Value,
    operands_of,
    regions_of,
    walk,
)
from eas.ir.types import count
from eas.msl.analysis.facts import Control, Facts
from eas.msl.layout.lane_control import accesses_inside
from eas.msl.layout.layout import Layout
from eas.support.records import replace


def find_lockstep_regions(layout: Layout) -> set[int]:
    """The outermost divergent ops whose lanes must run in lockstep, by their numbers."""
    facts = layout.facts
    return {
        op.number
        for op in facts.ops
        if isinstance(op, Control) and facts.is_split(op) and op.number in layout.domains
        if _needs_lockstep(op, layout.domains[op.number], layout)
    }


def _needs_lockstep(op: Control, domain: Domain, layout: Layout) -> bool:
    facts = layout.facts
    alone = dict(_done_alone(op, domain, facts))
    if any(_is_for_several(each, domain) and each.number not in alone for each in facts.inside(op)):
        return True
    touches = [_by_one(touch, alone) for touch in accesses_inside(op, domain, layout)]
    return need_lockstep(touches, facts.function, facts)


def _is_for_several(op: Op, domain: Domain) -> bool:
    """Whether several lanes of a domain share an effect."""
    match op:
        case Store() | Atomic():
            return count(op.offset.shape) != domain.extent
        case Print():
            return max((count(v.shape) for v in operands_of(op)), default=1) != domain.extent
        case _:
            return False


def _done_alone(op: Control, domain: Domain, facts: Facts) -> Iterator[tuple[int, If]]:
    """The ops under a condition that holds for one lane at most, and always for the same one."""
    if not isinstance(op, If):
        return
    for region in regions_of(op):
        if region is op.then and _is_for_one(op.condition, domain, facts):
            yield from ((inner.number, op) for inner in walk(region))
            continue
        for inner in region.ops:
            if isinstance(inner, Control):
                yield from _done_alone(inner, domain, facts)


def _by_one(touch: Touch, alone: dict[int, If]) -> Touch:
    branch = alone.get(touch.op.number)
    if branch is None:
        return touch
    return replace(touch, access=replace(touch.access, thread=("alone", branch.number)))


def _is_for_one(condition: Value, domain: Domain, facts: Facts) -> bool:
    """Whether a condition compares for equality a number that differs between all lanes."""
    op = facts.definition(facts.resolve(condition))
    if not isinstance(op, Compute):
        return False
    if op.op.name == "and":
        return any(_is_for_one(each, domain, facts) for each in op.operands)
    if op.op.name != "eq" or not op.operands[0].ty.dtype.is_int:
        return False
    indices = domain.indices_of(op.result.shape)
    left, right = (facts.forms.of(value, indices) for value in op.operands)
    return is_injective(difference(left, right), domain.extent)

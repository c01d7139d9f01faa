"""Chooses the control flow that becomes part of a loop over elements, and its domain.

Divergent control flow must: each lane branches for itself there, and no barrier stands inside.
Uniform control flow may, if it has no collective ops and only blocks of one size: then each lane
repeats it for itself, and its values need no arrays.

`llvm/lanes/lane_control.py` decides the same for the CPU, by other rules. A thread of the GPU reads
the elements of other threads through threadgroup memory and barriers only, so here each lane must
need only its own elements; domains are compared by their size, because a thread owns elements by
their number. On the CPU one thread has all lanes and reads any element from a tile, but it runs the
domain vector by vector, so there ranks must match. Both share the conflicts of accesses, see
`eas.ir.aliasing.conflicts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.aliasing.conflicts import Touch, access_of, accesses_in, conflicts
from eas.ir.aliasing.lane_domains import Domain
from eas.ir.aliasing.lane_indices import Indices, operand_indices
from eas.ir.nodes import (
    Assert,
    Atomic,
    Compute,
    Condition,
    For,
    If,
    Load,
    Op,
    Print,
    Region,
    Store,
    Value,
    While,
    is_view,
    operands_of,
    regions_of,
    results_of,
)
from eas.ir.types import Shape, count
from eas.msl.analysis.costs import operands_of_pure
from eas.msl.analysis.facts import Control, Facts, is_collective, is_pure, leaves_outer_loop
from eas.msl.layout.layout import Layout, is_owned


def choose_domains(layout: Layout, region: Region) -> None:
    """Finds the outermost control ops that become part of a loop over elements."""
    for op in region.ops:
        if not isinstance(op, Control):
            continue
        domain = _domain_of(op, layout)
        if domain is not None:
            layout.domains[op.number] = domain
        else:
            layout.uniform_control.add(op.number)
            for inner in regions_of(op):
                choose_domains(layout, inner)


def _domain_of(op: Control, layout: Layout) -> Domain | None:
    shapes = list(dict.fromkeys(_native_shapes(op, layout.facts)))
    if layout.facts.is_split(op):
        return Domain(_covering(shapes))
    if not shapes or len({count(shape) for shape in shapes}) > 1:
        return None
    domain = Domain(max(shapes, key=len))
    return domain if _may_go_inside(op, domain, layout) else None


def _covering(shapes: list[Shape]) -> Shape:
    """The shape that covers all of these; divergent control flow has blocks of one rank."""
    return tuple(max(extents) for extents in zip(*shapes, strict=True))


def _native_shapes(op: Control, facts: Facts) -> Iterator[Shape]:
    """The shapes of the blocks inside that cannot be rematerialized."""
    for inner in (op, *facts.inside(op)):
        values: tuple[Value, ...] = ()
        match inner:
            case Store() | Atomic() | Assert() | Print():
                values = operands_of(inner)
            case Load() if not is_pure(inner, facts):
                values = operands_of(inner)
            case If() | Condition():
                values = (inner.condition, *results_of(inner))
            case For() | While():
                bounds = (inner.start,) if isinstance(inner, For) else ()
                args = [v for region in regions_of(inner) for v in region.args]
                values = (*bounds, *args, *inner.results)
            case _:
                pass
        yield from (value.shape for value in values if value.shape)


def _may_go_inside(op: Control, domain: Domain, layout: Layout) -> bool:
    """Whether each lane can repeat uniform control flow for itself."""
    facts = layout.facts
    if any(not v.shape and facts.uses_of(v) for v in op.results) or leaves_outer_loop(op):
        return False
    inside = facts.inside(op)
    if any(is_collective(each) or _is_shared_effect(each) for each in inside):
        return False
    touches = accesses_inside(op, domain, layout)
    return _is_local(op, domain, layout) and not any(conflicts(touches, facts))


def _is_shared_effect(op: Op) -> bool:
    match op:
        case Store() | Atomic():
            return not op.offset.shape
        case Assert() | Print():
            return not any(value.shape for value in operands_of(op))
        case _:
            return False


def _is_local(op: Control, domain: Domain, layout: Layout) -> bool:
    """Whether each lane needs only its own elements of the values inside, or cheap ones."""
    facts, costs = layout.facts, layout.costs
    for value, indices in needs_inside(op, domain, layout):
        if not facts.is_inside(value, op) or is_owned(value, indices, domain.extent):
            continue
        inner = facts.definition(value)
        if not is_pure(inner, facts) or not (costs.is_cheap(value) or is_view(inner)):
            return False
    return True


def accesses_inside(op: Op, domain: Domain, layout: Layout) -> list[Touch]:
    """The accesses by an op, and inside of it, to arrays that the kernel writes."""
    key = (op.number, domain.shape)
    if key not in layout.touches:
        layout.touches[key] = _find_accesses(op, domain, layout.facts)
    return layout.touches[key]


def _find_accesses(op: Op, domain: Domain, facts: Facts) -> list[Touch]:
    touches: list[Touch] = []
    for each, around in accesses_in(op):
        if each.pointer in facts.written:
            indices = domain.indices_of(each.offset.shape)
            access = access_of(each, indices, domain.extent, facts, around.guards)
            touches.append(Touch(each, access, around.loops))
    return touches


def needs_inside(op: Control, domain: Domain, layout: Layout) -> list[tuple[Value, Indices]]:
    """The blocks that control flow of lanes needs, each with the element."""
    key = (op.number, domain.shape)
    if key not in layout.needs:
        layout.needs[key] = _find_needs(op, domain, layout.facts)
    return layout.needs[key]


def _find_needs(op: Control, domain: Domain, facts: Facts) -> list[tuple[Value, Indices]]:
    found: dict[tuple[Value, Indices], None] = {}
    inside = (op, *facts.inside(op))
    pure = {each.result: each for each in inside if isinstance(each, Compute | Load)}
    for inner in inside:
        if is_pure(inner, facts):
            continue
        wanted = [(v, domain.indices_of(v.shape)) for v in reversed(operands_of(inner))]
        while wanted:
            value, indices = wanted.pop()
            value = facts.resolve(value)
            if not value.shape or (value, indices) in found:
                continue
            found[value, indices] = None
            made_by = pure.get(value)
            if made_by is not None and is_pure(made_by, facts):
                below = indices
                if isinstance(made_by, Compute):
                    below = operand_indices(made_by, indices)
                wanted += [(v, below) for v in reversed(operands_of_pure(made_by))]
    return list(found)

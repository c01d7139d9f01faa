"""Which branches and loops can be lowered inside of a loop over lanes, and over which domain.

`msl/layout/lane_control.py` decides the same for Metal, and says why its rules differ. A uniform
loop without carried blocks stays outside here: each of its trips streams through memory anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.nodes import (
    Alloc,
    Assert,
    Atomic,
    Barrier,
    Combine,
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
    results_of,
)
from eas.ir.types import Shape, broadcast_shapes
from eas.llvm.analysis.conflicts import Accesses
from eas.llvm.analysis.facts import Facts, defined_inside, has_exit, with_inner
from eas.llvm.lanes.interior import depends


def domain_of(op: If | For | While, facts: Facts) -> Shape | None:
    """The shape whose lanes can execute the op vector by vector; None if they cannot."""
    inside = with_inner(op)[1:]
    if any(isinstance(each, Barrier | Alloc | Combine) or _is_collective(each) for each in inside):
        return None
    if any(has_exit(region) for region in _passed(op)):
        return None
    shapes = {value.shape for each in (op, *inside) for value in _blocks(each)}
    rank = max(map(len, shapes), default=0)
    domain = _joined([shape for shape in shapes if len(shape) == rank])
    if not domain:
        return None
    if any(len(value.shape) != rank for each in (op, *inside) for value in _fixed(each)):
        return None
    if facts.is_divergent(op):
        return domain
    if isinstance(op, For | While) and not any(value.shape for value in op.inits):
        return None  # each trip streams through memory, no value stays in registers
    return domain if _is_free(op, inside, domain, facts) else None


def _is_free(op: Op, inside: list[Op], domain: Shape, facts: Facts) -> bool:
    """Whether the lanes of a uniform op need no lockstep execution."""
    accesses = Accesses(domain, facts)
    for each in inside:
        if isinstance(each, Print):
            return False
        if isinstance(each, Store | Atomic) and each.offset.shape != domain:
            return False
        if isinstance(each, Assert) and each.condition.shape != domain:
            return False
        if isinstance(each, Load | Store | Atomic):
            if accesses.conflicts(each):
                return False
            accesses.add(each)
    if isinstance(op, If):
        return True
    defined = defined_inside(op)
    return not any(isinstance(each, Store) and _moves(each, defined, facts) for each in inside)


def _moves(op: Store, defined: set[int], facts: Facts) -> bool:
    """Whether a store may write to another lane's element in the next trip, or its mask changes.

    A store whose mask changes with each trip is faster in a loop over lanes of its own.
    """
    is_other = op.mask is not None and depends(op.mask, defined, facts)
    return is_other or depends(op.offset, defined, facts)


def _passed(op: If | For | While) -> tuple[Region, ...]:
    """The regions whose exits leave a loop around the op."""
    return (op.then, op.orelse) if isinstance(op, If) else (op.orelse,)


def _is_collective(op: Op) -> bool:
    return isinstance(op, Compute) and op.op.collective


def _blocks(op: Op) -> Iterator[Value]:
    """All blocks that an op defines, and those that its regions are entered with."""
    yield from (value for value in results_of(op) if value.shape)
    yield from _fixed(op)


def _fixed(op: Op) -> Iterator[Value]:
    """The blocks that an op branches on or has effects for: they have the rank of the domain."""
    found: tuple[Value, ...]
    match op:
        case If():
            found = (op.condition, *op.results)
        case For():
            found = (op.start, op.stop, op.step, *op.body.args, *op.results)
        case While():
            found = (*op.test.args, *op.results)
        case Condition():
            found = (op.condition,)
        case Store() | Atomic():
            found = (op.offset,)
        case Assert():
            found = (op.condition,)
        case Print():
            found = tuple(part for part in op.parts if isinstance(part, Value))
        case _:
            found = ()
    yield from (value for value in found if value.shape)


def _joined(shapes: list[Shape]) -> Shape | None:
    whole: Shape | None = ()
    for shape in shapes:
        whole = broadcast_shapes(whole, shape)
        if whole is None:
            return None
    return whole

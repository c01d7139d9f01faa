"""Accesses of arrays by lanes, and which two of them must not be reordered.

Threads run independently between barriers. Two accesses *conflict* if one thread's must not
overtake another thread's: then the two are never in one loop over elements, and there is a barrier
between them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import combinations_with_replacement
from typing import Literal

from eas.ir.aliasing.disjointness import (
    Form,
    are_disjoint,
    are_disjoint_across_trips,
    are_other_slots,
    is_injective,
)
from eas.ir.aliasing.lane_indices import Indices
from eas.ir.aliasing.masked_rows import are_masked_rows
from eas.ir.aliasing.planes import Guard, Plane, are_other_planes, planes_of
from eas.ir.aliasing.queries import Facts
from eas.ir.nodes import (
    Atomic,
    For,
    Function,
    If,
    Load,
    Op,
    Region,
    Store,
    Value,
    While,
    regions_of,
    walk,
)
from eas.support.records import frozen, replace

Kind = Literal["read", "write", "atomic"]
Loops = tuple[For | While, ...]
Guards = tuple[Guard, ...]
Parity = tuple[Hashable, Literal["current", "previous"]]
ONCE = "once"


@frozen
class Access:
    """One access of an array: the value of a pointer, or what a back end has for one of its own.

    `thread` identifies the thread: equal ones are the same thread (a lane's own offset, or the one
    thread that acts for all); None is any thread. `earlier` is set for an access of an earlier
    trip: the outermost loop that has gone on since. `parity` is set for a tile that is double
    buffered: the tile, and which of its two buffers. `planes` has the parts of the array that it is
    known to be inside of.
    """

    array: Hashable
    kind: Kind
    thread: tuple[object, ...] | None = None
    form: Form | None = None
    earlier: For | While | None = None
    parity: Parity | None = None
    planes: tuple[Plane, ...] = ()


@frozen
class Touch:
    """An access of an array that changes, by an op in `loops`, the innermost one first."""

    op: Load | Store | Atomic
    access: Access
    loops: Loops


def access_of(
    op: Load | Store | Atomic,
    indices: Indices,
    extent: int,
    facts: Facts,
    guards: Guards = (),
) -> Access:
    """The access by the lanes of a domain, each at its own offset; of a scalar, by any thread.

    `guards` are the conditions around it.
    """
    offset = facts.resolve(op.offset)
    kind: Kind = "read" if isinstance(op, Load) else "atomic" if isinstance(op, Atomic) else "write"
    form = facts.forms.of(offset, indices)
    is_own = is_injective(form, extent) or are_masked_rows(offset, op.mask, indices, extent, facts)
    thread = (offset, extent) if offset.shape and is_own else None
    planes = planes_of(offset, form, indices, guards, facts)
    return Access(op.pointer, kind, thread, form, planes=planes)


def conflict(a: Access, b: Access, facts: Facts) -> bool:
    """Whether `b`, later in the text, has to wait for `a`."""
    if a.array != b.array or (a.kind == b.kind and a.kind != "write"):
        return False
    if _are_of_one_lane(a, b) or _are_other_buffers(a, b):
        return False
    if a.form is None or b.form is None:
        return True
    loop = a.earlier or b.earlier

    def varies(value: Value) -> bool:
        return loop is not None and facts.is_inside(value, loop)

    if are_disjoint(a.form, b.form, varies) or are_other_planes(a.planes, b.planes, varies):
        return False
    if loop is None:
        return not are_other_slots(a.form, b.form, facts)
    return not (
        isinstance(a.earlier, For) and are_disjoint_across_trips(a.form, b.form, a.earlier, facts)
    )


def _are_of_one_lane(a: Access, b: Access) -> bool:
    """Whether each element is accessed by the same lane both times."""
    if a.thread is None or b.thread is None:
        return False
    is_same_trip = a.earlier is None and b.earlier is None
    is_same_offset = is_same_trip and a.form is not None and a.form == b.form
    return a.thread == b.thread or (is_same_offset and a.thread[1:] == b.thread[1:])


def after_trip(access: Access, loop: For | While, facts: Facts) -> Access:
    """How an access looks from the next trip of a loop around it."""
    thread = access.thread
    if thread is not None and isinstance(thread[0], Value) and facts.is_inside(thread[0], loop):
        thread = None
    earlier = access.earlier
    if earlier is None or any(op is earlier for each in regions_of(loop) for op in walk(each)):
        earlier = loop
    return replace(access, thread=thread, earlier=earlier)


def _are_other_buffers(a: Access, b: Access) -> bool:
    if a.parity is None or b.parity is None:
        return False
    return a.parity[0] == b.parity[0] and a.parity != b.parity


def after_swap(access: Access) -> Access:
    """How an access looks after the two buffers of its tile were swapped."""
    assert access.parity is not None
    name, phase = access.parity
    return replace(access, parity=(name, "previous" if phase == "current" else "current"))


@frozen
class Surroundings:
    """The loops whose trips repeat an access, the innermost one first, and what holds there.

    `guards` are the conditions of the branches around it, and its mask.
    """

    loops: Loops = ()
    guards: Guards = ()


_NOTHING = Surroundings()


def accesses_in(
    op: Op, around: Surroundings = _NOTHING
) -> Iterator[tuple[Load | Store | Atomic, Surroundings]]:
    """The accesses in an op, each with what is around it."""
    if isinstance(op, Load | Store | Atomic):
        masks = () if op.mask is None else ((op.mask, True),)
        yield op, replace(around, guards=(*around.guards, *masks))
    for region in regions_of(op):
        for inner in region.ops:
            yield from accesses_in(inner, _inside(region, op, around))


def _inside(region: Region, op: Op, around: Surroundings) -> Surroundings:
    """What is around the ops of a region of an op."""
    if isinstance(op, If):
        return replace(around, guards=(*around.guards, (op.condition, region is op.then)))
    if isinstance(op, For | While) and region is not op.orelse:
        return replace(around, loops=(op, *around.loops))
    return around


def need_lockstep(touches: list[Touch], function: Function, facts: Facts) -> bool:
    """Whether divergent lanes may access what other lanes write, so that their order matters.

    Threads of a thread program are ordered by the user's barriers only.
    """
    if function.threads is not None:
        return False
    return any(True for _ in conflicts(touches, facts))


def conflicts(touches: list[Touch], facts: Facts) -> Iterator[tuple[Access, Access]]:
    """The pairs of accesses that need the lanes in lockstep."""
    for a, b in _pairs(touches):
        for first, second in _meetings(a, b, facts):
            if conflict(first, second, facts):
                yield first, second


def _meetings(a: Touch, b: Touch, facts: Facts) -> Iterator[tuple[Access, Access]]:
    """Two accesses in one trip, and in different trips of each loop around one of them."""
    if a is not b:
        yield a.access, b.access
    for loop in a.loops + b.loops[: len(b.loops) - _shared_loops(a, b)]:
        yield after_trip(a.access, loop, facts), after_trip(b.access, loop, facts)


def _shared_loops(a: Touch, b: Touch) -> int:
    """How many loops are around both accesses: the outermost ones of each."""
    return sum(x is y for x, y in zip(reversed(a.loops), reversed(b.loops), strict=False))


def _pairs(touches: list[Touch]) -> Iterator[tuple[Touch, Touch]]:
    """Every two accesses of one array, and each access with itself."""
    by_array: dict[int, list[Touch]] = {}
    for touch in touches:
        by_array.setdefault(touch.op.pointer.id, []).append(touch)
    for group in by_array.values():
        yield from combinations_with_replacement(group, 2)

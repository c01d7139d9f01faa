"""The steps of a plan: what the threads of a program do, in order, as data.

Each step declares its effects on memory.
"""

from __future__ import annotations

from eas.ir.aliasing.conflicts import ONCE, Access, Kind, Parity
from eas.ir.aliasing.lane_domains import Domain
from eas.ir.nodes import (
    Alloc,
    Assert,
    Atomic,
    Combine,
    Compute,
    Load,
    Op,
    Print,
    Store,
    Terminator,
    Value,
)
from eas.ir.ops.simdgroup import SIMD
from eas.msl.analysis.facts import Control
from eas.msl.layout.layout import Layout
from eas.msl.schedule.effects import NO_EFFECTS, Effects, reads, writes
from eas.msl.schedule.items import Item, accesses_of, kernel_accesses, operand_needs, staged_reads
from eas.msl.schedule.threadgroup_arrays import (
    Role,
    ThreadgroupArray,
    partials,
    partials_of,
    staged,
)
from eas.msl.schedule.value_sources import Finder
from eas.support.location import Loc
from eas.support.records import field, frozen, record


class Step:
    """Something that the threads of a program do."""

    __slots__ = ()

    def effects(self, finder: Finder) -> Effects:
        """What it does to memory."""
        del finder
        return NO_EFFECTS


@record(eq=False, slots=True)
class Elements(Step):
    """A loop over the elements of a domain. `touched` are its accesses to arrays of the kernel."""

    extent: int
    items: list[Item] = field(default_factory=list[Item])
    touched: list[Access] = field(default_factory=list[Access])

    def effects(self, finder: Finder) -> Effects:
        own = [access for item in self.items for access in accesses_of(item, finder)]
        return Effects((*self.touched, *own))


@frozen(eq=False)
class Uniform(Step):
    """Every thread computes the same value."""

    op: Op

    def effects(self, finder: Finder) -> Effects:
        if not isinstance(self.op, Load):
            return NO_EFFECTS
        return Effects(tuple(kernel_accesses(self.op, Domain(()), finder.layout)))


@frozen(eq=False)
class SingleThread(Step):
    """One thread has an effect for all; all threads may need the result of an atomic."""

    op: Store | Atomic | Assert | Print

    def effects(self, finder: Finder) -> Effects:
        if not isinstance(self.op, Store | Atomic):
            return NO_EFFECTS
        accesses: list[Access] = []
        if not finder.layout.has_user_barriers:
            kind: Kind = "write" if isinstance(self.op, Store) else "atomic"
            accesses.append(Access(self.op.pointer, kind, (ONCE,)))
        if isinstance(self.op, Atomic) and finder.layout.facts.uses_of(self.op.result):
            accesses.append(Access(broadcast_of(self.op), "write", (ONCE,)))
        return Effects(tuple(accesses))


@frozen(eq=False)
class BroadcastResult(Step):
    """Every thread reads the result of an atomic that one thread did for all."""

    op: Atomic

    def effects(self, finder: Finder) -> Effects:
        del finder
        return Effects(reads([broadcast_of(self.op)]))


def broadcast_of(op: Atomic) -> ThreadgroupArray:
    return ThreadgroupArray(Role.BROADCAST, op.result)


@frozen(eq=False)
class StorePartials(Step):
    """The simdgroups store their partials of some reductions to threadgroup memory.

    If the partials are double buffered, `stage` is the number of the stage counter, else 0.
    """

    ops: tuple[Compute, ...]
    stage: int = 0

    def effects(self, finder: Finder) -> Effects:
        arrays = _all_partials(self.ops, finder.layout)
        return Effects(_in_current_stage("write", arrays, self.stage))


@frozen(eq=False)
class ReducePartials(Step):
    """Every thread reduces the partials of all simdgroups; then double buffers are swapped."""

    ops: tuple[Compute, ...]
    stage: int = 0

    def effects(self, finder: Finder) -> Effects:
        arrays = _all_partials(self.ops, finder.layout)
        swaps = frozenset(arrays if self.stage else ())
        return Effects(_in_current_stage("read", arrays, self.stage), swaps=swaps)


def _all_partials(ops: tuple[Compute, ...], layout: Layout) -> list[ThreadgroupArray]:
    return [array for op in ops if layout.has_partials(op) for array in partials_of(op)]


def _in_current_stage(kind: Kind, arrays: list[ThreadgroupArray], stage: int) -> tuple[Access, ...]:
    def parity(array: ThreadgroupArray) -> Parity | None:
        return (array, "current") if stage else None

    return tuple(Access(array, kind, parity=parity(array)) for array in arrays)


@frozen(eq=False)
class ReduceChunks(Step):
    """A reduction along an axis, a chunk at a time through threadgroup memory.

    A barrier ends each chunk; after the last one the owners of the results read their partials and
    stage the results.
    """

    op: Compute

    def effects(self, finder: Finder) -> Effects:
        op, result = self.op, staged(self.op.result)
        written = writes([chunk_of(op), *partials_of(op), result])
        after = (*reads(partials_of(op)), *writes([result]))
        return Effects((*staged_reads(operand_needs(op, finder)), *written), after)


def chunk_of(op: Compute) -> ThreadgroupArray:
    return ThreadgroupArray(Role.CHUNK, op.result)


@frozen(eq=False)
class CombineLanes(Step):
    """The lanes of each simdgroup reduce their values by a function of the user's."""

    op: Combine

    def effects(self, finder: Finder) -> Effects:
        is_stored = crosses_simdgroups(finder.layout.threads)
        return Effects(writes(map(partials, self.op.results))) if is_stored else NO_EFFECTS


@frozen(eq=False)
class CombinePartials(Step):
    """Every thread reduces the partials of such a reduction."""

    op: Combine

    def effects(self, finder: Finder) -> Effects:
        is_stored = crosses_simdgroups(finder.layout.threads)
        return Effects(reads(map(partials, self.op.results))) if is_stored else NO_EFFECTS


def crosses_simdgroups(threads: int) -> bool:
    """Whether there are several simdgroups, which exchange values through threadgroup memory."""
    return threads > SIMD


@frozen(eq=False)
class ScanPartials(Step):
    """One simdgroup scans the partials of all of them."""

    op: Combine

    def effects(self, finder: Finder) -> Effects:
        del finder
        return Effects(writes(map(partials, self.op.results)))


@frozen(eq=False)
class ScanRows(Step):
    """The owner of each row scans it in threadgroup memory."""

    op: Combine

    def effects(self, finder: Finder) -> Effects:
        del finder
        return Effects(writes(map(staged, self.op.results)))


@frozen(eq=False)
class UniformControl(Step):
    """Control flow of all threads together, with the steps of each region."""

    op: Control
    plans: tuple[tuple[Step, ...], ...]


@frozen(eq=False)
class RegionEnd(Step):
    """The end of a region; blocks are assigned before it."""

    op: Terminator


@frozen(eq=False)
class Sync(Step):
    """A barrier, with the memory that it orders; `loc` is set for a barrier of the user's."""

    device: bool
    threadgroup: bool
    loc: Loc | None = None


@frozen
class Plan:
    """The steps of a function. `live_out` values are used after the loop that computes them."""

    steps: tuple[Step, ...]
    live_out: frozenset[Value]
    allocations: tuple[Alloc, ...]

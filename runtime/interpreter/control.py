"""Branches, loops and their exits.

The results of a lane are stored when it leaves a loop. So carried values need no join with those of
earlier trips: the elements of lanes that have left are not used.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.ir.nodes import Break, Continue, For, If, Leave, Op, Scope, While
from eas.ir.ops.record import Array
from eas.runtime.interpreter.active_lanes import Join, Lanes, split, union, without
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.report import describe_lane, fail, find, first_active
from eas.runtime.report_codes import LOOP_BUDGET, ZERO_STEP
from eas.support.records import field, record


def run_if(chunk: Chunk, op: If, lanes: Lanes) -> Lanes | None:
    yes, no = split(lanes, chunk[op.condition])
    join = Join(op.results, chunk.plan.unused)
    after: list[Lanes | None] = []
    for region, entering in ((op.then, yes), (op.orelse, no)):
        leaving = None if entering is None else chunk.enter(region, (), entering)
        if leaving is not None:
            join.add(leaving, chunk.leave(region))
        after.append(leaving)
    if join.values is not None:
        chunk.bind(op.results, join.values)
    return lanes if after[0] is yes and after[1] is no else union(*after)


@record(slots=True)
class Loop:
    """A running loop: the results of lanes that have left it, the values of those that continue."""

    chunk: Chunk
    op: For | While
    results: Join = field(init=False)
    again: Join = field(init=False)
    early: Lanes | None = None
    has_broken: bool = False
    lost: Lanes | None = None
    trips: int = 0
    most: int = field(init=False)
    end: int | None = None

    def __post_init__(self) -> None:
        limits = self.chunk.limits
        self.most = limits.trips if isinstance(self.op, While) else limits.for_trips
        if isinstance(self.op, While):
            self.end = self.chunk.trips + limits.inner_trips
        self.results = Join(self.op.results, self.chunk.plan.unused)

    def trip(self, lanes: Lanes, arguments: Sequence[Array]) -> tuple[Lanes | None, list[Array]]:
        """Runs the body once; gives the lanes that make another trip, and their carried values."""
        self._count(lanes)
        body = self.op.body
        self.again = Join(self.op.orelse.args, self.chunk.plan.unused)
        self.early, self.has_broken = None, False
        self.chunk.loops.append(self)
        after = self.chunk.enter(body, arguments, lanes)
        self.chunk.loops.pop()
        if after is not None:
            self.again.add(after, self.chunk.leave(body))
        going = union(after, self.early) if self.has_broken else lanes
        return going, self.again.values or []

    def exhaust(self, lanes: Lanes | None, values: Sequence[Array]) -> None:
        """Runs the `orelse` for lanes whose loop is exhausted.

        It runs in the trip in which they end: later, carried scalars are those of other lanes.
        """
        if lanes is None:
            return
        after = self.chunk.enter(self.op.orelse, values, lanes)
        if after is not None:
            self.results.add(after, self.chunk.leave(self.op.orelse))
        if after is not lanes:
            self.lost = union(self.lost, without(lanes, after))

    def finish(self, lanes: Lanes) -> Lanes | None:
        """Binds the results; gives the lanes that are active after the loop."""
        after = lanes if self.lost is None else without(lanes, self.lost)
        if after is not None and self.results.values is not None:
            self.chunk.bind(self.op.results, self.results.values)
        return after

    def _count(self, lanes: Lanes) -> None:
        is_late = self.end is not None and self.chunk.trips > self.end
        if self.trips == self.most or is_late:
            inner = ", in which the loops inside kept running" if is_late else ""
            fail(
                LOOP_BUDGET,
                f"a loop has not ended after {self.trips} trips{inner}",
                self.op.loc,
                "still running",
                notes=(describe_lane(self.chunk, first_active(lanes)),),
                help=("if it is meant to run that long, set EAS_MAX_TRIPS to more",),
            )
        self.trips += 1
        self.chunk.trips += 1


def run_break(chunk: Chunk, op: Break, lanes: Lanes) -> None:
    loop = chunk.loops[-1]
    loop.has_broken = True
    loop.results.add(lanes, chunk.read(op.values))


def run_continue(chunk: Chunk, op: Continue, lanes: Lanes) -> None:
    loop = chunk.loops[-1]
    loop.early = union(loop.early, lanes)
    loop.again.add(lanes, chunk.read(op.values))


def run_while(chunk: Chunk, op: While, lanes: Lanes) -> Lanes | None:
    loop = Loop(chunk, op)
    going: Lanes | None = lanes
    carried = chunk.read(op.inits)
    while going is not None:
        chunk.enter(op.test, carried, going)
        condition, *carried = chunk.leave(op.test)
        going, ended = split(going, condition)
        loop.exhaust(ended, carried)
        if going is not None:
            going, carried = loop.trip(going, carried)
    return loop.finish(lanes)


def run_for(chunk: Chunk, op: For, lanes: Lanes) -> Lanes | None:
    loop = Loop(chunk, op)
    going: Lanes | None = lanes
    carried = chunk.read(op.inits)
    counter, step, trips = _bounds(chunk, op, lanes)
    fewest, trip = int(trips.min()), 0
    while going is not None:
        ended = None
        if trip >= fewest:
            going, ended = split(going, trips > trip)
        loop.exhaust(ended, carried)
        if going is not None:
            going, carried = loop.trip(going, [counter, *carried])
            counter, trip = counter + step, trip + 1
    return loop.finish(lanes)


def _bounds(chunk: Chunk, op: For, lanes: Lanes) -> tuple[Array, Array, Array]:
    """The first counter, the step, and how many trips each lane makes, as `range` would."""
    start, stop, step = chunk.read((op.start, op.stop, op.step))
    _check_step(chunk, op, lanes)
    # Two's complement makes the distance exact in u64 for all pairs of 64-bit bounds.
    begin, end, stride = (a.astype(np.uint64) for a in (start, stop, step))
    up = step > 0
    distance = np.where(up, end - begin, begin - end)
    stride = np.where(up, stride, np.uint64(0) - stride)
    is_entered = np.where(up, start < stop, start > stop)
    one = np.uint64(1)
    trips = np.where(is_entered, (distance - one) // stride + one, np.uint64(0))
    return start, step, trips


def _check_step(chunk: Chunk, op: For, lanes: Lanes) -> None:
    spot = find(chunk[op.step] == 0, lanes, op.step.shape)
    if spot is not None:
        place = describe_lane(chunk, spot)
        fail(ZERO_STEP, "the step of a `range` is zero", op.loc, "step 0", notes=(place,))


@record(slots=True)
class ScopeRun:
    """A scope that is run: its results, the lanes that left it early, and the loops around it."""

    label: int
    results: Join
    loops: int
    left: Lanes | None = None


def run_scope(chunk: Chunk, op: Scope, lanes: Lanes) -> Lanes | None:
    scope = ScopeRun(op.label, Join(op.results, chunk.plan.unused), len(chunk.loops))
    chunk.scopes.append(scope)
    after = chunk.enter(op.body, (), lanes)
    chunk.scopes.pop()
    if after is not None:
        scope.results.add(after, chunk.leave(op.body))
    if scope.results.values is not None:
        chunk.bind(op.results, scope.results.values)
    return union(after, scope.left)


def run_leave(chunk: Chunk, op: Leave, lanes: Lanes) -> None:
    """Takes lanes out of a scope, and out of the loops inside of it that they are in."""
    scope = next(each for each in reversed(chunk.scopes) if each.label == op.label)
    scope.left = union(scope.left, lanes)
    scope.results.add(lanes, chunk.read(op.values))
    for loop in chunk.loops[scope.loops :]:
        loop.has_broken = True
        loop.lost = union(loop.lost, lanes)


def run_terminator(chunk: Chunk, op: Op, lanes: Lanes) -> Lanes:
    """Does nothing: the op around the region reads the values."""
    del chunk, op
    return lanes

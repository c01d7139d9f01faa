"""The counters of `for` loops. Trip counts are exact, whatever the width of the counter."""

from __future__ import annotations

from eas.ir.nodes import For, Value
from eas.ir.types import DTYPES, DType
from eas.llvm.emit.division import divide
from eas.llvm.emit.dtypes import register
from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.lanes.coordinates import Coords
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector, first, number
from eas.llvm.lanes.vector_body import Body


class Counter:
    """The counter of a `for` whose bounds are the same for all lanes."""

    def __init__(self, body: Body, op: For) -> None:
        self.body, e = body, body.e
        dtype = op.start.ty.dtype
        self.start, self.step = body.scalar(op.start), body.scalar(op.step)
        self.stop = body.scalar(op.stop)
        self.counter = e.variable(self.start.ty)
        e.set(self.counter, self.start)
        self.is_simple = self.step.known == 1
        self.how = "slt" if dtype.is_signed else "ult"
        if not self.is_simple:
            self.left = e.variable(self.start.ty)
            e.set(self.left, trip_count(e, [self.start, self.stop, self.step], dtype))

    def next(self, value: Value) -> V:
        """Whether there is another trip; binds its counter."""
        e = self.body.e
        now = e.get(self.counter)
        self.body.bind(value, (), Uniform(now))
        if self.is_simple:
            return e.icmp(self.how, now, self.stop)
        return e.icmp("ne", e.get(self.left), const(self.start.ty, 0))

    def advance(self) -> None:
        e = self.body.e
        e.set(self.counter, e.add(e.get(self.counter), self.step))
        if not self.is_simple:
            e.set(self.left, e.binary("sub", e.get(self.left), const(self.start.ty, 1)))


class LaneCounter:
    """The counter of a `for` that lanes leave in different trips; its bounds may be blocks."""

    def __init__(self, body: Body, op: For) -> None:
        self.body, self.op = body, op
        e, dtype = body.e, op.start.ty.dtype
        self.trip = e.variable(register(dtype))
        e.set(self.trip, const(register(dtype), 0))
        self.counters: dict[Coords, _Moving] = {}
        self.trips: dict[Coords, LaneValue] = {}
        for coords, _ in body.distinct_coords(op.start.shape):
            bounds = [body.at(v, coords) for v in (op.start, op.stop, op.step)]
            self.counters[coords] = _Moving(body, bounds[0], bounds[2])
            if all(isinstance(each, Uniform) for each in bounds):
                numbers = [number(each) for each in bounds]
                self.trips[coords] = Uniform(trip_count(e, numbers, dtype))
            else:
                vectors = [body.to_vector(each) for each in bounds]
                self.trips[coords] = Vector(trip_count(e, vectors, dtype))

    def take(self, value: Value) -> None:
        for coords, counter in self.counters.items():
            self.body.bind(value, coords, counter.take())

    def goes_on(self) -> list[LaneValue]:
        """Whether there is another trip, at each point."""
        body, now = self.body, self.body.e.get(self.trip)
        found = {coords: self._is_before(now, trips) for coords, trips in self.trips.items()}
        return [found[body.coords_in(self.op.start.shape, point)] for point in body.points]

    def _is_before(self, now: V, trips: LaneValue) -> LaneValue:
        e, body = self.body.e, self.body
        if isinstance(trips, Uniform):
            return Uniform(e.icmp("ult", now, trips.v))
        return Vector(e.icmp("ult", e.splat(now, body.width), body.to_vector(trips)))

    def advance(self) -> None:
        e = self.body.e
        e.set(self.trip, e.add(e.get(self.trip), const(self.trip.ty, 1)))
        for counter in self.counters.values():
            counter.advance()


class _Moving:
    """Integers that advance by their steps. Of strided ones, only the first is a variable."""

    def __init__(self, body: Body, start: LaneValue, step: LaneValue) -> None:
        self.body, self.start = body, start
        self.is_vector = isinstance(start, Vector) or not isinstance(step, Uniform)
        before = body.to_vector(start) if self.is_vector else _first(body.e, start)
        self.step = body.to_vector(step) if self.is_vector else number(step)
        self.variable = body.e.variable(before.ty)
        body.e.set(self.variable, before)

    def take(self) -> LaneValue:
        v = self.body.e.get(self.variable)
        if self.is_vector:
            return Vector(v)
        if isinstance(self.start, Strided):
            return Strided(v, self.start.step, is_exact=False)
        return Uniform(v)

    def advance(self) -> None:
        e = self.body.e
        e.set(self.variable, e.add(e.get(self.variable), self.step))


def _first(e: Emitter, lanes: LaneValue) -> V:
    return first(e, lanes) if isinstance(lanes, Strided) else number(lanes)


def trip_count(e: Emitter, bounds: list[V], dtype: DType) -> V:
    """The number of trips from start to stop by step, unsigned; a step of zero makes none."""
    start, stop, step = bounds
    zero, one = const(start.ty, 0), const(start.ty, 1)
    less = "slt" if dtype.is_signed else "ult"
    rises = e.icmp("sgt" if dtype.is_signed else "ugt", step, zero)
    falls = e.icmp("slt", step, zero) if dtype.is_signed else const(rises.ty, False)
    distance = e.select(rises, e.binary("sub", stop, start), e.binary("sub", start, stop))
    size = e.select(rises, step, e.binary("sub", zero, step))
    runs = e.or_(e.and_(rises, e.icmp(less, start, stop)), e.and_(falls, e.icmp(less, stop, start)))
    unsigned = DTYPES[f"u{dtype.bits}"]
    if step.known in (1, -1):
        trips = distance
    else:
        trips = e.add(divide(e, e.binary("sub", distance, one), size, unsigned), one)
    return e.select(runs, trips, zero)

"""Branches and loops of the lanes of a few vectors.

Where all lanes go the same way these are plain jumps. Where they part, both ways are taken with
masks: a loop runs until no lane is left in it, and a lane that leaves takes its results along.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import (
    Break,
    Condition,
    Continue,
    For,
    If,
    Region,
    Value,
    While,
    Yield,
)
from eas.ir.records import record
from eas.ir.types import Shape, broadcast_shapes
from eas.runtime.cpu.body import Body, Coords, Mask
from eas.runtime.cpu.dtypes import register
from eas.runtime.cpu.emit import V, Variable, const, vector
from eas.runtime.cpu.facts import is_pure, leaves
from eas.runtime.cpu.lanes import Lanes, Steps, Uniform, Vector, number
from eas.runtime.cpu.masks import is_any, narrow, shared, union, written
from eas.runtime.cpu.trips import trip_count

Masks = Sequence[Mask]


class Slots:
    """Variables for values that several ways lead to, at each place of theirs."""

    def __init__(self, body: Body, values: Sequence[Value]) -> None:
        self.body = body
        self.values = values
        self.variables: list[dict[Coords, Variable]] = []
        for value in values:
            element = register(value.ty.dtype)
            made: dict[Coords, Variable] = {}
            for coords, _ in body.places(value.shape):
                is_vector = not all(isinstance(at, Uniform) for at in coords)
                ty = vector(element, body.width) if is_vector else element
                made[coords] = body.e.variable(ty)
            self.variables.append(made)

    def put(self, values: Sequence[Value], masks: Masks | None = None, split: Shape = ()) -> None:
        """Sets them all; with masks, only in their lanes, where the lanes can differ."""
        body = self.body
        found = [
            {coords: body.at(value, coords) for coords in variables}
            for value, variables in zip(values, self.variables, strict=True)
        ]
        for slot, new, variables in zip(self.values, found, self.variables, strict=True):
            for coords, variable in variables.items():
                mask = None
                if masks is not None and slot.shape and _covers(slot.shape, split):
                    mask = _mask_at(body, slot.shape, coords, masks)
                self._set(variable, new[coords], mask)

    def _set(self, variable: Variable, value: Lanes, mask: Mask) -> None:
        e = self.body.e
        if variable.ty[0] != "<":
            assert isinstance(value, Uniform)
            new = value.v
            if isinstance(mask, Uniform):
                new = e.select(mask.v, new, e.get(variable))
        else:
            new = self.body.to_vector(value)
            if mask is not None:
                new = e.select(written(self.body, mask), new, e.get(variable))
        e.set(variable, new)

    def take(self, values: Sequence[Value]) -> None:
        """Binds values to what is in the variables now."""
        for value, variables in zip(values, self.variables, strict=True):
            for coords, variable in variables.items():
                v = self.body.e.get(variable)
                self.body.bind(value, coords, Vector(v) if v.lanes else Uniform(v))


def _covers(shape: Shape, split: Shape) -> bool:
    return broadcast_shapes(shape, split) == shape


def _mask_at(body: Body, shape: Shape, coords: Coords, masks: Masks) -> Mask:
    points = dict(body.places(shape))[coords]
    return shared(body, masks, points, any(not isinstance(at, Uniform) for at in coords))


class MaskSlots:
    """One variable per point that holds a mask."""

    def __init__(self, body: Body, masks: Masks | None) -> None:
        self.body = body
        ty = vector("i1", body.width)
        self.variables = [body.e.variable(ty) for _ in body.points]
        self.put(masks)

    def put(self, masks: Masks | None) -> None:
        """Sets the masks; None stands for no lane at all."""
        for n, variable in enumerate(self.variables):
            none = const(variable.ty, False)
            v = none if masks is None else written(self.body, masks[n])
            self.body.e.set(variable, v)

    def add(self, masks: Masks | None) -> None:
        if masks is not None:
            now = self.take()
            self.put([union(self.body, a, b) for a, b in zip(now, masks, strict=True)])

    def take(self) -> list[Mask]:
        return [Vector(self.body.e.get(variable)) for variable in self.variables]


@record
class Frame:
    """A loop under way. `labels` are where a jump goes on and where it leaves; None if masked."""

    results: Slots
    carried: Slots
    split: Shape
    labels: tuple[str, str] | None = None
    early: MaskSlots | None = None
    done: MaskSlots | None = None


# --- branches ---------------------------------------------------------------------------------


def run_if(body: Body, op: If, masks: Masks) -> Masks | None:
    is_masked = bool(body.loops) and body.loops[-1].labels is None
    exits = is_masked and (leaves(op.then) or leaves(op.orelse))
    after = MaskSlots(body, None) if exits else None
    slots = Slots(body, op.results)
    if op.condition.shape:
        _run_parted(body, op, masks, slots, after)
    else:
        _run_jumps(body, op, masks, slots, after)
    slots.take(op.results)
    return masks if after is None else after.take()


def _run_jumps(body: Body, op: If, masks: Masks, slots: Slots, after: MaskSlots | None) -> None:
    e = body.e
    then, orelse, end = e.label("then"), e.label("else"), e.label("endif")
    e.branch(body.scalar(op.condition), then, orelse)
    for label, region in ((then, op.then), (orelse, op.orelse)):
        e.begin(label)
        _branch(body, region, masks, slots, after, None)
        e.jump(end)
    e.begin(end)


def _run_parted(body: Body, op: If, masks: Masks, slots: Slots, after: MaskSlots | None) -> None:
    e = body.e
    conditions = [body.at(op.condition, body.natural(op.condition.shape, p)) for p in body.points]
    for region, expected in ((op.then, True), (op.orelse, False)):
        here = [
            narrow(body, mask, condition, expected)
            for mask, condition in zip(masks, conditions, strict=True)
        ]
        split = op.condition.shape

        def run(region: Region = region, here: Masks = here, split: Shape = split) -> None:
            _branch(body, region, here, slots, after, split)

        if is_pure(region) and isinstance(region.terminator, Yield):
            run()
        else:
            e.when(is_any(body, here), run)


def _branch(
    body: Body,
    region: Region,
    masks: Masks,
    slots: Slots,
    after: MaskSlots | None,
    split: Shape | None,
) -> None:
    """One way of a branch; what it yields goes to the slots, in its lanes only where they part."""
    body.scopes.append({})
    reached = body.run(region, masks)
    last = region.terminator
    if reached is not None:
        if isinstance(last, Yield):
            slots.put(last.values, None if split is None else reached, split or ())
            if after is not None:
                after.add(reached)
        else:
            assert isinstance(last, Break | Continue)
            leave(body, last, reached)
    body.scopes.pop()


def leave(body: Body, op: Break | Continue, masks: Masks) -> None:
    """Lanes leave the innermost loop, or go on to its next trip."""
    frame: Frame = body.loops[-1]
    slots = frame.results if isinstance(op, Break) else frame.carried
    if frame.labels is not None:
        slots.put(op.values)
        if isinstance(op, Break) and frame.done is not None:
            frame.done.add(masks)
        body.e.jump(frame.labels[isinstance(op, Break)])
        return
    slots.put(op.values, masks, frame.split)
    if isinstance(op, Continue):
        assert frame.early is not None
        frame.early.add(masks)
    elif frame.done is not None:
        frame.done.add(masks)


# --- loops ------------------------------------------------------------------------------------


def run_loop(body: Body, op: For | While, masks: Masks) -> Masks | None:
    if body.facts.is_split(op):
        return _Masked(body, op, masks).run()
    return _run_plain(body, op, masks)


def _run_plain(body: Body, op: For | While, masks: Masks) -> Masks | None:
    """All lanes that are here make the same trips."""
    e = body.e
    head, inside, again, end, after = (
        e.label(hint) for hint in ("head", "body", "next", "exhausted", "after")
    )
    frame = Frame(Slots(body, op.results), Slots(body, op.orelse.args), (), (again, after))
    if leaves(op.orelse):
        frame.done = MaskSlots(body, None)
    frame.carried.put(op.inits)
    counter = None if isinstance(op, While) else Counter(body, op)
    e.begin(head)
    body.scopes.append({})
    if isinstance(op, While):
        frame.carried.take(op.test.args)
        body.run(op.test, masks)
        test = op.test.terminator
        assert isinstance(test, Condition)
        frame.carried.put(test.values)
        e.branch(body.scalar(test.condition), inside, end)
        e.begin(inside)
        frame.carried.take(op.body.args)
    else:
        assert counter is not None
        counter.take(op.body.args[0])
        e.branch(counter.goes_on(), inside, end)
        e.begin(inside)
        frame.carried.take(op.body.args[1:])
    body.loops.append(frame)
    reached = body.run(op.body, masks)
    _finish(body, op.body, reached, frame)
    body.loops.pop()
    e.begin(again)
    if counter is not None:
        counter.advance()
    e.jump(head)
    body.scopes.pop()
    e.begin(end)
    body.scopes.append({})
    frame.carried.take(op.orelse.args)
    _orelse(body, op.orelse, body.run(op.orelse, masks), frame)
    body.scopes.pop()
    e.begin(after)
    frame.results.take(op.results)
    return masks if frame.done is None else frame.done.take()


def _finish(body: Body, region: Region, reached: Masks | None, frame: Frame) -> None:
    last = region.terminator
    if reached is None:
        return
    if isinstance(last, Yield):
        frame.carried.put(last.values)
    else:
        assert isinstance(last, Break | Continue)
        leave(body, last, reached)


def _orelse(body: Body, region: Region, reached: Masks | None, frame: Frame) -> None:
    last = region.terminator
    if reached is None:
        return
    if isinstance(last, Yield):
        frame.results.put(last.values)
        if frame.done is not None:
            frame.done.add(reached)
    else:
        assert isinstance(last, Break | Continue)
        leave(body, last, reached)


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

    def take(self, value: Value) -> None:
        self.now = self.body.e.get(self.counter)
        self.body.bind(value, (), Uniform(self.now))

    def goes_on(self) -> V:
        e = self.body.e
        if self.is_simple:
            return e.icmp(self.how, self.now, self.stop)
        return e.icmp("ne", e.get(self.left), const(self.start.ty, 0))

    def advance(self) -> None:
        e = self.body.e
        e.set(self.counter, e.add(e.get(self.counter), self.step))
        if not self.is_simple:
            e.set(self.left, e.binary("sub", e.get(self.left), const(self.start.ty, 1)))


class _Masked:
    """A loop that lanes leave in different trips."""

    def __init__(self, body: Body, op: For | While, masks: Masks) -> None:
        self.body, self.op, self.masks = body, op, masks
        self.split = _split_of(body, op)
        loses = leaves(op.orelse)
        early = leaves(op.body, (Continue,))
        self.frame = Frame(
            Slots(body, op.results),
            Slots(body, op.orelse.args),
            self.split,
            None,
            MaskSlots(body, None) if early else None,
            MaskSlots(body, None) if loses else None,
        )
        self.loses = loses

    def run(self) -> Masks | None:
        body, op, e, frame = self.body, self.op, self.body.e, self.frame
        going = MaskSlots(body, self.masks)
        frame.carried.put(op.inits)
        counter = LaneCounter(body, op) if isinstance(op, For) else None
        head, inside, after = e.label("head"), e.label("body"), e.label("after")
        e.begin(head)
        body.scopes.append({})
        here: Masks = going.take()
        condition, arguments = self._test(counter, here)
        goes = [self._narrow(n, here[n], condition, True) for n in range(len(here))]
        ended = [self._narrow(n, here[n], condition, False) for n in range(len(here))]
        self._exhaust(arguments, ended)
        going.put(goes)
        e.branch(is_any(body, goes), inside, after)
        e.begin(inside)
        self._body(arguments, counter, going, goes)
        if counter is not None:
            counter.advance()
        e.jump(head)
        body.scopes.pop()
        e.begin(after)
        frame.results.take(op.results)
        return self.masks if frame.done is None else frame.done.take()

    def _test(
        self, counter: LaneCounter | None, here: Masks
    ) -> tuple[Value | None, Sequence[Value]]:
        """The condition of the next trip, and the values that are then carried."""
        body, op = self.body, self.op
        if isinstance(op, For):
            assert counter is not None
            self.frame.carried.take(op.orelse.args)
            counter.take(op.body.args[0])
            self.counter = counter
            return None, op.orelse.args
        self.frame.carried.take(op.test.args)
        body.run(op.test, here)
        test = op.test.terminator
        assert isinstance(test, Condition)
        return test.condition, test.values

    def _narrow(self, n: int, mask: Mask, condition: Value | None, expected: bool) -> Mask:
        body = self.body
        if condition is None:
            return narrow(body, mask, self.counter.goes_on(n), expected)
        coords = body.natural(condition.shape, body.points[n])
        return narrow(body, mask, body.at(condition, coords), expected)

    def _exhaust(self, values: Sequence[Value], ended: Masks) -> None:
        """Takes the lanes for which the loop is over through its `orelse`, in this very trip."""
        body, region = self.body, self.op.orelse

        def run() -> None:
            body.scopes.append({})
            _rename(body, region.args, values)
            reached = body.run(region, ended)
            last = region.terminator
            if reached is not None and isinstance(last, Yield):
                self.frame.results.put(last.values, reached, self.split)
                if self.frame.done is not None:
                    self.frame.done.add(reached)
            elif reached is not None:
                assert isinstance(last, Break | Continue)
                leave(body, last, reached)
            body.scopes.pop()

        if is_pure(region) and isinstance(region.terminator, Yield):
            run()
        else:
            body.e.when(is_any(body, ended), run)

    def _body(
        self,
        values: Sequence[Value],
        counter: LaneCounter | None,
        going: MaskSlots,
        goes: Masks,
    ) -> None:
        body, op, frame = self.body, self.op, self.frame
        _rename(body, op.body.args if counter is None else op.body.args[1:], values)
        if frame.early is not None:
            frame.early.put(None)
        body.loops.append(frame)
        reached = body.run(op.body, goes)
        last = op.body.terminator
        if reached is not None and isinstance(last, Yield):
            if frame.early is None:
                frame.carried.put(last.values)
            else:
                frame.carried.put(last.values, reached, self.split)
        elif reached is not None:
            assert isinstance(last, Break | Continue)
            leave(body, last, reached)
            reached = None
        body.loops.pop()
        if reached is not goes:
            going.put(reached)
            if frame.early is not None:
                going.add(frame.early.take())


def _rename(body: Body, names: Sequence[Value], values: Sequence[Value]) -> None:
    """Binds values to those of others, at all of their places."""
    for name, value in zip(names, values, strict=True):
        for coords, _ in body.places(name.shape):
            body.bind(name, coords, body.at(value, coords))


class LaneCounter:
    """The counter of a `for` that lanes leave in different trips; its bounds may be blocks."""

    def __init__(self, body: Body, op: For) -> None:
        self.body, self.op = body, op
        e, dtype = body.e, op.start.ty.dtype
        self.trip = e.variable(register(dtype))
        e.set(self.trip, const(register(dtype), 0))
        self.counters: dict[Coords, _Moving] = {}
        self.trips: dict[Coords, Lanes] = {}
        for coords, _ in body.places(op.start.shape):
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
        self.now = self.body.e.get(self.trip)

    def goes_on(self, n: int) -> Lanes:
        e, body = self.body.e, self.body
        trips = self.trips[body.natural(self.op.start.shape, body.points[n])]
        if isinstance(trips, Uniform):
            return Uniform(e.icmp("ult", self.now, trips.v))
        return Vector(e.icmp("ult", e.splat(self.now, body.width), body.to_vector(trips)))

    def advance(self) -> None:
        e = self.body.e
        e.set(self.trip, e.add(e.get(self.trip), const(self.now.ty, 1)))
        for counter in self.counters.values():
            counter.advance()


class _Moving:
    """Integers that all move by their steps; where they stand in steps, only the first is kept."""

    def __init__(self, body: Body, start: Lanes, step: Lanes) -> None:
        self.body, self.start = body, start
        self.is_vector = isinstance(start, Vector) or not isinstance(step, Uniform)
        first = body.to_vector(start) if self.is_vector else _first(start)
        self.step = body.to_vector(step) if self.is_vector else number(step)
        self.variable = body.e.variable(first.ty)
        body.e.set(self.variable, first)

    def take(self) -> Lanes:
        v = self.body.e.get(self.variable)
        if self.is_vector:
            return Vector(v)
        if isinstance(self.start, Steps):
            return Steps(v, self.start.step, is_exact=False)
        return Uniform(v)

    def advance(self) -> None:
        e = self.body.e
        e.set(self.variable, e.add(e.get(self.variable), self.step))


def _first(lanes: Lanes) -> V:
    return lanes.base if isinstance(lanes, Steps) else number(lanes)


def _split_of(body: Body, op: For | While) -> Shape:
    found = body.facts.split_shape(op)
    assert found
    return found

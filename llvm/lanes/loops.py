"""Loops: uniform ones with plain jumps, and divergent ones with masks.

A masked loop runs until all lanes have left it. A lane's results are set when it leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eas.ir.nodes import Compute, Condition, Continue, For, Region, Value, While, Yield
from eas.llvm.analysis.facts import Facts, has_exit, is_pure
from eas.llvm.emit.emit import V, const
from eas.llvm.lanes.branches import run_divergent, run_region
from eas.llvm.lanes.counters import Counter, LaneCounter
from eas.llvm.lanes.lane_values import LaneValue, Uniform
from eas.llvm.lanes.loop_versioning import run_versioned
from eas.llvm.lanes.masks import is_any, narrow
from eas.llvm.lanes.safepoints import poll
from eas.llvm.lanes.slots import JoinSlots, LaneSlots, LoopFrame, Masks, MaskSlots
from eas.llvm.lanes.vector_body import Body
from eas.support.records import frozen


def run_loop(body: Body, op: For | While, masks: Masks) -> Masks | None:
    if body.facts.is_divergent(op):
        return _Masked(body, op, masks).run()
    return _run_plain(body, op, masks)


def _run_plain(body: Body, op: For | While, masks: Masks) -> Masks | None:
    done = MaskSlots(body, None) if has_exit(op.orelse) else None

    def run(region: Region, slots: JoinSlots) -> None:
        if region is op.body:
            run_versioned(body, region, lambda: run_region(body, region, masks, slots))
        else:
            run_region(body, region, masks, slots, done)

    def test(region: Region) -> None:
        body.run(region, masks)

    slots = (LaneSlots(body, op.results), LaneSlots(body, op.orelse.args))
    write_plain(body, op, slots, done, body.loops, test, run)
    return masks if done is None else done.take()


def write_plain(
    body: Body,
    op: For | While,
    slots: tuple[JoinSlots, JoinSlots],
    done: MaskSlots | None,
    frames: list[Any],
    test: Callable[[Region], None],
    run: Callable[[Region, JoinSlots], None],
) -> None:
    """The jumps of a uniform loop whose scalars are in `body`.

    `slots` hold its results and its carried values. `test` writes a region; `run` writes one and
    stores what it yields to slots. While `run` writes the body, the loop is the last of `frames`.
    """
    e, (results, carried) = body.e, slots
    head, inside, again, end, after = (
        e.label(hint) for hint in ("head", "body", "next", "exhausted", "after")
    )
    carried.put(op.inits)
    counter = Counter(body, op) if isinstance(op, For) else None
    e.begin(head)
    body.scopes.append({})
    e.branch(_goes_on(body, op, counter, carried, test), inside, end)
    e.begin(inside)
    carried.take(op.body.args if counter is None else op.body.args[1:])
    frames.append(LoopFrame(results, carried, (again, after), done=done))
    run(op.body, carried)
    frames.pop()
    e.begin(again)
    if counter is not None:
        counter.advance()
    poll(body)
    e.jump(head)
    body.scopes.pop()
    e.begin(end)
    body.scopes.append({})
    carried.take(op.orelse.args)
    run(op.orelse, results)
    body.scopes.pop()
    e.begin(after)
    results.take(op.results)


def _goes_on(
    body: Body,
    op: For | While,
    counter: Counter | None,
    carried: JoinSlots,
    test: Callable[[Region], None],
) -> V:
    """Whether there is another trip. What the test of a `while` passes on is stored as carried."""
    if isinstance(op, For):
        assert counter is not None
        return counter.next(op.body.args[0])
    carried.take(op.test.args)
    test(op.test)
    last = op.test.terminator
    assert isinstance(last, Condition)
    holds = body.scalar(last.condition)
    carried.put(last.values)
    return holds


@frozen
class _Test:
    """The lanes that make another trip: those in `lanes`, at each point; none unless `all`."""

    all: V
    lanes: Masks


def _conjuncts(condition: Value, facts: Facts) -> list[Value]:
    """The operands of a conjunction."""
    op = facts.definitions.get(condition.id)
    if isinstance(op, Compute) and op.op.name == "and":
        return [part for operand in op.operands for part in _conjuncts(operand, facts)]
    return [condition]


def _joined(body: Body, parts: Sequence[Sequence[LaneValue]]) -> _Test:
    """The conjunction of conditions at each point. Uniform ones are joined into `all`."""
    whole = const("i1", True)
    lanes: Masks = [None] * len(body.points)
    for part in parts:
        if isinstance(part[0], Uniform) and all(each == part[0] for each in part):
            whole = body.e.and_(whole, part[0].v)
        else:
            lanes = [narrow(body, *pair) for pair in zip(lanes, part, strict=True)]
    return _Test(whole, lanes)


class _Masked:
    """A divergent loop: lanes leave it in different trips."""

    def __init__(self, body: Body, op: For | While, masks: Masks) -> None:
        self.body, self.op, self.masks = body, op, masks
        self.frame = LoopFrame(
            LaneSlots(body, op.results),
            LaneSlots(body, op.orelse.args, has_vector_copies=True),
            early=MaskSlots(body, None) if has_exit(op.body, (Continue,)) else None,
            done=MaskSlots(body, None) if has_exit(op.orelse) else None,
        )

    def run(self) -> Masks | None:
        body, op, e, frame = self.body, self.op, self.body.e, self.frame
        going = MaskSlots(body, self.masks)
        frame.carried.put(op.inits)
        counter = LaneCounter(body, op) if isinstance(op, For) else None
        head, inside, after = e.label("head"), e.label("body"), e.label("after")
        e.begin(head)
        body.scopes.append({})
        here: Masks = going.take()
        test, passed = self._test(counter, here)
        goes = [narrow(body, mask, each) for mask, each in zip(here, test.lanes, strict=True)]
        _rename(body, op.orelse.args, passed)
        self._end(here, test)
        going.put(goes)
        e.branch(e.and_(is_any(body, goes), test.all), inside, after)
        e.begin(inside)
        _rename(body, op.body.args if counter is None else op.body.args[1:], passed)
        self._body(going, goes)
        if counter is not None:
            counter.advance()
        poll(body)
        e.jump(head)
        body.scopes.pop()
        e.begin(after)
        frame.results.take(op.results)
        return self.masks if frame.done is None else frame.done.take()

    def _test(self, counter: LaneCounter | None, here: Masks) -> tuple[_Test, Sequence[Value]]:
        """The test of the next trip, and the values that it passes on."""
        body, op = self.body, self.op
        if isinstance(op, For):
            assert counter is not None
            self.frame.carried.take(op.orelse.args)
            counter.take(op.body.args[0])
            return _joined(body, [counter.goes_on()]), op.orelse.args
        self.frame.carried.take(op.test.args)
        body.run(op.test, here)
        last = op.test.terminator
        assert isinstance(last, Condition)
        parts = _conjuncts(last.condition, body.facts)
        found = [[body.at(v, body.coords_in(v.shape, p)) for p in body.points] for v in parts]
        return _joined(body, found), last.values

    def _end(self, here: Masks, test: _Test) -> None:
        """Sets the results of the lanes that leave.

        If these are only computed, they are set in the lanes that stay as well: those overwrite
        them when they leave.
        """
        body, frame, region = self.body, self.frame, self.op.orelse
        if is_pure(region) and isinstance(region.terminator, Yield):
            run_region(body, region, here, frame.results, is_divergent=True)
            return
        stays = [narrow(body, Uniform(test.all), each) for each in test.lanes]
        pairs = zip(here, stays, strict=True)
        ended = [narrow(body, mask, each, False) for mask, each in pairs]
        run_divergent(body, region, ended, frame.results, frame.done)

    def _body(self, going: MaskSlots, goes: Masks) -> None:
        body, frame = self.body, self.frame
        if frame.early is not None:
            frame.early.put(None)
        body.loops.append(frame)
        is_divergent = frame.early is not None
        reached = run_region(body, self.op.body, goes, frame.carried, is_divergent=is_divergent)
        body.loops.pop()
        if reached is not goes:
            going.put(reached)
            if frame.early is not None:
                going.add(frame.early.take())


def _rename(body: Body, names: Sequence[Value], values: Sequence[Value]) -> None:
    """Binds names to other values, at all of their coordinates."""
    for name, value in zip(names, values, strict=True):
        for coords, _ in body.distinct_coords(name.shape):
            body.bind(name, coords, body.at(value, coords))

"""Loops: plain ones, which all lanes that are there take together, and masked ones.

A masked loop runs until no lane is left in it; a lane that leaves takes its results along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eas.ir.nodes import Condition, Continue, For, Region, Value, While
from eas.runtime.cpu.body import Body, Mask
from eas.runtime.cpu.branches import run_parted, run_region
from eas.runtime.cpu.breaths import breathe
from eas.runtime.cpu.counters import Counter, LaneCounter
from eas.runtime.cpu.emit import V
from eas.runtime.cpu.facts import leaves
from eas.runtime.cpu.lanes import Lanes
from eas.runtime.cpu.masks import is_any, narrow
from eas.runtime.cpu.slots import Frame, Masks, MaskSlots, Places, Slots


def run_loop(body: Body, op: For | While, masks: Masks) -> Masks | None:
    if body.facts.is_split(op):
        return _Masked(body, op, masks).run()
    return _run_plain(body, op, masks)


# --- plain loops ------------------------------------------------------------------------------


def _run_plain(body: Body, op: For | While, masks: Masks) -> Masks | None:
    done = MaskSlots(body, None) if leaves(op.orelse) else None

    def run(region: Region, slots: Places) -> None:
        run_region(body, region, masks, slots, done if region is op.orelse else None)

    def test(region: Region) -> None:
        body.run(region, masks)

    slots = (Slots(body, op.results), Slots(body, op.orelse.args))
    write_plain(body, op, slots, done, body.loops, test, run)
    return masks if done is None else done.take()


def write_plain(
    body: Body,
    op: For | While,
    slots: tuple[Places, Places],
    done: MaskSlots | None,
    frames: list[Any],
    test: Callable[[Region], None],
    run: Callable[[Region, Places], None],
) -> None:
    """The jumps of a loop whose scalars are in `body`.

    `slots` are for its results and for what it carries. `test` runs a region, `run` does and puts
    what it yields into slots; while it runs the loop's body, the loop is the last of `frames`.
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
    frames.append(Frame(results, carried, (again, after), done=done))
    run(op.body, carried)
    frames.pop()
    e.begin(again)
    if counter is not None:
        counter.advance()
    breathe(body)
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
    carried: Places,
    test: Callable[[Region], None],
) -> V:
    """Whether there is another trip; what the test of a `while` passes on is carried then."""
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


# --- masked loops -----------------------------------------------------------------------------


class _Masked:
    """A loop that lanes leave in different trips."""

    def __init__(self, body: Body, op: For | While, masks: Masks) -> None:
        self.body, self.op, self.masks = body, op, masks
        self.frame = Frame(
            Slots(body, op.results),
            Slots(body, op.orelse.args),
            early=MaskSlots(body, None) if leaves(op.body, (Continue,)) else None,
            done=MaskSlots(body, None) if leaves(op.orelse) else None,
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
        conditions, passed = self._test(counter, here)
        goes = self._narrowed(here, conditions, True)
        _rename(body, op.orelse.args, passed)
        ended = self._narrowed(here, conditions, False)
        run_parted(body, op.orelse, ended, frame.results, frame.done)
        going.put(goes)
        e.branch(is_any(body, goes), inside, after)
        e.begin(inside)
        _rename(body, op.body.args if counter is None else op.body.args[1:], passed)
        self._body(going, goes)
        if counter is not None:
            counter.advance()
        breathe(body)
        e.jump(head)
        body.scopes.pop()
        e.begin(after)
        frame.results.take(op.results)
        return self.masks if frame.done is None else frame.done.take()

    def _test(
        self, counter: LaneCounter | None, here: Masks
    ) -> tuple[list[Lanes], Sequence[Value]]:
        """The condition of the next trip at each point, and the values that are then carried."""
        body, op = self.body, self.op
        if isinstance(op, For):
            assert counter is not None
            self.frame.carried.take(op.orelse.args)
            counter.take(op.body.args[0])
            return [counter.goes_on(n) for n in range(len(here))], op.orelse.args
        self.frame.carried.take(op.test.args)
        body.run(op.test, here)
        test = op.test.terminator
        assert isinstance(test, Condition)
        holds = test.condition
        return [body.at(holds, body.natural(holds.shape, p)) for p in body.points], test.values

    def _narrowed(self, masks: Masks, conditions: list[Lanes], expected: bool) -> list[Mask]:
        pairs = zip(masks, conditions, strict=True)
        return [narrow(self.body, mask, condition, expected) for mask, condition in pairs]

    def _body(self, going: MaskSlots, goes: Masks) -> None:
        body, frame = self.body, self.frame
        if frame.early is not None:
            frame.early.put(None)
        body.loops.append(frame)
        is_parted = frame.early is not None
        reached = run_region(body, self.op.body, goes, frame.carried, is_parted=is_parted)
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

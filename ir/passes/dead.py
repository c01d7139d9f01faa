"""Dead code: removes what nothing uses, carried values that only feed themselves included.

First every value that an effect needs is marked, back through joins and loops; then the rest goes.
A `While` stays, since it may be endless.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import (
    Alloc,
    Break,
    Combine,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    Function,
    If,
    Load,
    Loop,
    Op,
    Region,
    Terminator,
    Value,
    While,
    Yield,
    operands_of,
    regions_of,
)
from eas.ir.passes.purity import Literal, can_fault, note_literal
from eas.ir.rewrite import with_values
from eas.support.records import field, frozen, record, replace

Places = tuple[int, ...]


def remove_dead(f: Function, keeps_faults: bool) -> Function:
    """The function without unused ops; loads and ops that can fault count as used, if asked."""
    marking = _Marking(keeps_faults)
    marking.scan(f.body, None)
    marking.follow()
    return replace(f, body=_Sweep(marking).region(f.body, (), None))


@record(eq=False)
class _Loop:
    """A loop that is being marked: its exits, and the ops with regions that they are in."""

    op: Loop
    breaks: list[Sequence[Value]] = field(default_factory=list[Sequence[Value]])
    again: list[Sequence[Value]] = field(default_factory=list[Sequence[Value]])
    holders: list[Op] = field(default_factory=list[Op])


@record
class _Marking:
    """`sources` has the values that each value needs, `makers` the control flow that defines it.

    `live` are the needed values, `kept` the ops that stay.
    """

    keeps_faults: bool
    sources: dict[int, Sequence[Value]] = field(default_factory=dict[int, Sequence[Value]])
    makers: dict[int, If | Loop] = field(default_factory=dict[int, "If | Loop"])
    loops: dict[int, _Loop] = field(default_factory=dict[int, _Loop])
    known: dict[int, Literal] = field(default_factory=dict[int, Literal])
    live: set[int] = field(default_factory=set[int])
    kept: set[int] = field(default_factory=set[int])
    work: list[Value] = field(default_factory=list[Value])

    def scan(self, region: Region, loop: _Loop | None) -> tuple[bool, bool]:
        """Whether a region has an effect of its own, and whether it has an exit of the loop."""
        has_effect = has_exit = False
        for op in region.ops:
            match op:
                case Constant() | Compute() | Load() | Alloc():
                    has_effect |= self.scan_value(op)
                case Combine():
                    for result in op.results:
                        self.sources[result.id] = op.operands
                case If() | For() | While():
                    effect, leaves = self.scan_control(op, loop)
                    has_effect |= effect
                    has_exit |= leaves
                case Break() | Continue():
                    assert loop is not None
                    (loop.breaks if isinstance(op, Break) else loop.again).append(op.values)
                    has_exit = True
                case Yield() | Condition():
                    pass
                case _:
                    self.work += operands_of(op)
                    has_effect = True
        return has_effect, has_exit

    def scan_value(self, op: Constant | Compute | Load | Alloc) -> bool:
        self.sources[op.result.id] = operands_of(op)
        note_literal(op, self.known)
        is_root = self.keeps_faults and (
            isinstance(op, Load) or (isinstance(op, Compute) and can_fault(op, self.known))
        )
        if is_root:
            self.work.append(op.result)
        return is_root

    def scan_control(self, op: If | Loop, loop: _Loop | None) -> tuple[bool, bool]:
        if isinstance(op, If):
            found = [self.scan(region, loop) for region in regions_of(op)]
            self.define(op, op.results, [op.then.terminator, op.orelse.terminator])
        else:
            found = self.scan_loop(op, loop)
        has_effect, has_exit = (any(flags) for flags in zip(*found, strict=True))
        if has_effect:
            self.keep(op)
        if has_exit and loop is not None:
            loop.holders.append(op)
        return has_effect, has_exit

    def scan_loop(self, op: Loop, loop: _Loop | None) -> list[tuple[bool, bool]]:
        inner = self.loops[op.number] = _Loop(op)
        has_effect, _ = self.scan(op.body, inner)
        if isinstance(op, While):
            self.scan(op.test, None)
            has_effect = True
        elif self.keeps_faults:  # a step of zero is a fault
            has_effect |= self.known.get(op.step.id, 0) == 0
        found = [(has_effect, False), self.scan(op.orelse, loop)]
        self.define(op, op.results, [op.orelse.terminator], inner.breaks)
        ends = (
            [op.body.terminator] if isinstance(op, For) else [op.body.terminator, op.test.ops[-1]]
        )
        for arguments in _carried(op):
            self.define(op, arguments, ends, [op.inits, *inner.again])
        if isinstance(op, For):
            self.define(op, op.body.args[:1], [])
        return found

    def define(
        self,
        op: If | Loop,
        values: Sequence[Value],
        ends: Sequence[Op],
        more: Sequence[Sequence[Value]] = (),
    ) -> None:
        """Notes the sources of values: those at the same index of terminators and other lists."""
        given = [end.values for end in ends if isinstance(end, Yield | Condition)]
        paths = [*given, *more]
        for place, value in enumerate(values):
            self.sources[value.id] = [values[place] for values in paths]
            self.makers[value.id] = op

    def follow(self) -> None:
        """Marks everything that a marked value needs."""
        while self.work:
            value = self.work.pop()
            source = self.sources.get(value.id)
            if value.id in self.live or source is None:
                continue
            self.live.add(value.id)
            self.work += source
            if value.id in self.makers:
                self.keep(self.makers[value.id])

    def keep(self, op: Op) -> None:
        """Marks an op with regions, and what decides which path is taken in it."""
        if op.number in self.kept:
            return
        self.kept.add(op.number)
        match op:
            case If():
                self.work.append(op.condition)
            case For():
                self.work += (op.start, op.stop, op.step)
            case While():
                test = op.test.terminator
                assert isinstance(test, Condition)
                self.work.append(test.condition)
            case _:
                pass
        if isinstance(op, Loop):
            for holder in self.loops[op.number].holders:
                self.keep(holder)

    def places(self, *columns: Sequence[Value]) -> Places:
        """The indices at which any of these values is needed."""
        needed = [any(value.id in self.live for value in row) for row in zip(*columns, strict=True)]
        return tuple(place for place, is_needed in enumerate(needed) if is_needed)


@frozen
class _Trips:
    """The indices that stay of a loop's results and of its carried values."""

    results: Places
    carried: Places


@frozen
class _Sweep:
    """Rebuilds regions of what is marked."""

    marking: _Marking

    def region(
        self, region: Region, yielded: Places, trips: _Trips | None, args: Sequence[Value] = ()
    ) -> Region:
        """A region that yields the values at these indices, in a loop with these trips."""
        ops: list[Op] = []
        for op in region.ops:
            match op:
                case Constant() | Compute() | Load() | Alloc():
                    if op.result.id in self.marking.live:
                        ops.append(op)
                case Combine():
                    if self.marking.places(op.results):
                        ops.append(op)
                case If() | For() | While():
                    if op.number in self.marking.kept:
                        ops.append(self.control(op, trips))
                case Yield() | Condition():
                    ops.append(_picked(op, yielded))
                case Break() | Continue():
                    assert trips is not None
                    is_break = isinstance(op, Break)
                    ops.append(_picked(op, trips.results if is_break else trips.carried))
                case _:
                    ops.append(op)
        return Region(tuple(args), tuple(ops))

    def control(self, op: If | Loop, trips: _Trips | None) -> Op:
        places = self.marking.places(op.results)
        results = _at(op.results, places)
        if isinstance(op, If):
            then, orelse = (self.region(region, places, trips) for region in regions_of(op))
            return If(op.condition, then, orelse, results, op.loc, op.number)
        carried = self.marking.places(*_carried(op))
        inner = _Trips(places, carried)
        inits = _at(op.inits, carried)
        orelse = self.region(op.orelse, places, trips, _at(op.orelse.args, carried))
        if isinstance(op, For):
            args = (op.body.args[0], *_at(op.body.args[1:], carried))
            body = self.region(op.body, carried, inner, args)
            return For(op.start, op.stop, op.step, inits, body, orelse, results, op.loc, op.number)
        test = self.region(op.test, carried, None, _at(op.test.args, carried))
        body = self.region(op.body, carried, inner, _at(op.body.args, carried))
        return While(inits, test, body, orelse, results, op.loc, op.number)


def _carried(op: Loop) -> list[Sequence[Value]]:
    """The arguments that are carried values, for each region of the loop."""
    if isinstance(op, For):
        return [op.body.args[1:], op.orelse.args]
    return [op.test.args, op.body.args, op.orelse.args]


def _at(values: Sequence[Value], places: Places) -> tuple[Value, ...]:
    return tuple([values[place] for place in places])


def _picked(op: Terminator, places: Places) -> Op:
    return op if len(places) == len(op.values) else with_values(op, _at(op.values, places))

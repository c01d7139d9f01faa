"""Inserts barriers between the steps of a plan: as few as possible.

Walks through the steps with the accesses since the last barrier: they are pending. If an access of
a step conflicts with one of them, a barrier comes before the step. What is pending at the end of a
loop's body is pending at its start too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from eas.ir.aliasing.conflicts import Access, after_swap, after_trip, conflict
from eas.ir.nodes import Break, Continue, For, If, Value, While
from eas.ir.types import Pointer
from eas.msl.schedule.effects import Effects
from eas.msl.schedule.steps import Plan, RegionEnd, Step, Sync, UniformControl
from eas.msl.schedule.threadgroup_arrays import ThreadgroupArray
from eas.msl.schedule.value_sources import Finder
from eas.support.records import field, record, replace

Pending = tuple[Access, ...]
Backings = Mapping[ThreadgroupArray, ThreadgroupArray]


def insert_barriers(plan: Plan, finder: Finder, backings: Backings) -> Plan:
    """The plan with barriers; `backings` maps overlaid arrays to those in whose memory they lie."""
    if finder.layout.threads == 1:
        return replace(plan, steps=tuple(_without_barriers(plan.steps)))
    walk = _Walk(finder, backings)
    steps = walk.steps(plan.steps, (), _Exits())[0]
    for branch in _branches_with_barriers(steps):
        # A barrier before a branch can take the place of one in it and of one after it.
        walk.hoisted.append(branch)
        others = walk.steps(plan.steps, (), _Exits())[0]
        if count_barriers(others) < count_barriers(steps):
            steps = others
        else:
            walk.hoisted.pop()
    return replace(plan, steps=tuple(steps))


def count_barriers(steps: Iterable[Step]) -> int:
    """How many barriers stand in steps and in those that they contain."""
    return sum(
        sum(map(count_barriers, step.plans))
        if isinstance(step, UniformControl)
        else isinstance(step, Sync)
        for step in steps
    )


def _branches_with_barriers(steps: Iterable[Step], is_looped: bool = False) -> list[If]:
    """The branches in loops that have a barrier inside, the outer ones first."""
    found: list[If] = []
    for step in steps:
        if isinstance(step, UniformControl):
            is_branch = isinstance(step.op, If)
            if isinstance(step.op, If) and is_looped and any(map(count_barriers, step.plans)):
                found.append(step.op)
            for inner in step.plans:
                found += _branches_with_barriers(inner, is_looped or not is_branch)
    return found


def _without_barriers(steps: Iterable[Step]) -> Iterable[Step]:
    """The steps of a single thread, which needs no barriers."""
    for step in steps:
        if isinstance(step, UniformControl):
            yield UniformControl(step.op, tuple(tuple(_without_barriers(p)) for p in step.plans))
        elif not isinstance(step, Sync):
            yield step


@record
class _Exits:
    """What is pending at the breaks and at the continues of a loop."""

    left: list[Access] = field(default_factory=list[Access])
    again: list[Access] = field(default_factory=list[Access])


@record
class _Walk:
    """A walk through steps; `backings` maps overlaid arrays to those in whose memory they lie."""

    finder: Finder
    backings: Backings
    known: dict[Step, Effects] = field(default_factory=dict[Step, Effects])
    hoisted: list[If] = field(default_factory=list[If])  # branches with a barrier before them

    def steps(
        self, steps: Sequence[Step], state: Pending, exits: _Exits
    ) -> tuple[list[Step], Pending]:
        result: list[Step] = []
        for step in steps:
            if isinstance(step, UniformControl):
                if any(step.op is each for each in self.hoisted):
                    sync = Sync(device=False, threadgroup=True)
                    result.append(sync)
                    state = _after_barrier(sync, state)
                branch, state = self.branch(step, state, exits)
                result.append(branch)
                continue
            state = () if isinstance(step, Sync) else self.step(step, state, result)
            if isinstance(step, RegionEnd) and isinstance(step.op, Break | Continue):
                (exits.left if isinstance(step.op, Break) else exits.again).extend(state)
                state = ()
            result.append(step)
        return result, state

    def step(self, step: Step, state: Pending, result: list[Step]) -> Pending:
        """What is pending after a step; adds a barrier before it if it needs one."""
        effects = self.effects(step)
        facts = self.finder.layout.facts
        waits = [b for a in state for b in effects.accesses if conflict(a, b, facts)]
        if waits:
            sync = Sync(any(map(_is_device, waits)), not all(map(_is_device, waits)))
            result.append(sync)
            state = _after_barrier(sync, state)
        state = _union(state, effects.accesses)
        if effects.after_barrier is not None:
            own = Sync(device=False, threadgroup=True)
            state = _union(_after_barrier(own, state), effects.after_barrier)
        if effects.swaps or effects.restarts:
            state = _union(_swapped(state, effects), ())
        return state

    def branch(
        self, step: UniformControl, state: Pending, exits: _Exits
    ) -> tuple[UniformControl, Pending]:
        op = step.op
        if isinstance(op, If):
            then, after_then = self.steps(step.plans[0], state, exits)
            orelse, after_else = self.steps(step.plans[1], state, exits)
            return UniformControl(op, (tuple(then), tuple(orelse))), _union(after_then, after_else)
        plans, after, own = self.loop(step, op, state)
        orelse, after = self.steps(step.plans[-1], after, exits)
        return UniformControl(op, (*plans, tuple(orelse))), _union(after, own.left)

    def loop(
        self, step: UniformControl, op: For | While, state: Pending
    ) -> tuple[list[tuple[Step, ...]], Pending, _Exits]:
        """The plans of a loop, with all that can be pending when a trip starts: a fixed point."""
        while True:
            own = _Exits()
            plans: list[tuple[Step, ...]] = []
            after_test = state
            if isinstance(op, While):
                test, after_test = self.steps(step.plans[0], state, own)
                plans.append(tuple(test))
            body, after_body = self.steps(step.plans[-2], after_test, own)
            plans.append(tuple(body))
            facts = self.finder.layout.facts
            again = [after_trip(a, op, facts) for a in (*after_body, *own.again)]
            merged = _union(state, again)
            if len(merged) == len(state):
                return plans, after_test, own
            state = merged

    def effects(self, step: Step) -> Effects:
        """The effects of a step, with overlaid arrays replaced by their backing array."""
        if step not in self.known:
            effects = step.effects(self.finder)
            self.known[step] = self.on_backings(effects) if self.backings else effects
        return self.known[step]

    def on_backings(self, effects: Effects) -> Effects:
        after = effects.after_barrier
        return replace(
            effects,
            accesses=tuple(map(self.in_backing, effects.accesses)),
            after_barrier=None if after is None else tuple(map(self.in_backing, after)),
        )

    def in_backing(self, access: Access) -> Access:
        array = access.array
        if not isinstance(array, ThreadgroupArray) or array not in self.backings:
            return access
        return replace(access, array=self.backings[array])


def _after_barrier(sync: Sync, state: Pending) -> Pending:
    """What is still pending after a barrier."""
    return tuple(a for a in state if not (sync.device if _is_device(a) else sync.threadgroup))


def _swapped(state: Pending, effects: Effects) -> Iterable[Access]:
    """What is pending after double buffers are swapped, or their stage counters restarted."""
    for access in state:
        array = None if access.parity is None else access.parity[0]
        if array in effects.restarts:
            yield replace(access, parity=None)
        else:
            yield after_swap(access) if array in effects.swaps else access


def _union(state: Iterable[Access], more: Iterable[Access]) -> Pending:
    return tuple({_key(access): access for access in (*state, *more)}.values())


def _key(access: Access) -> tuple[object, ...]:
    form, earlier = id(access.form), id(access.earlier)
    return access.array, access.kind, access.thread, form, earlier, access.parity


def _is_device(access: Access) -> bool:
    array = access.array
    ty = array.ty if isinstance(array, Value) else None
    return isinstance(ty, Pointer) and ty.space == "device"

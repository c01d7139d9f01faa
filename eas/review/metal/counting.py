"""Counts what a kernel does by going through its Metal text once, for all threads of a program.

Integers that follow from the number of a thread and from constants are computed, for all threads
at once; everything else is unknown. So the trips of a loop over the elements of a block are known,
and how many threads pass `if (lane == 0)`. A condition that is unknown, such as `i < N`, counts as
true, and of two branches the more expensive one counts: the numbers are those of a full program.
A loop whose length is unknown is gone through once, and its counts are per trip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from eas.review.metal import arithmetic
from eas.review.metal.arithmetic import Known
from eas.review.metal.dependence import assigned_names, depends_on, step_of
from eas.review.metal.expressions import Condition, Expressions
from eas.review.metal.kernel_costs import Costs, Region
from eas.review.metal.parser import MetalSyntaxError, parse
from eas.review.metal.prices import price_of
from eas.review.metal.state import SIMDGROUP
from eas.review.metal.syntax import (
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Function,
    If,
    Leave,
    Loop,
    MetalText,
    Name,
    Number,
    Parameter,
    Statement,
    Type,
)
from eas.review.metal.thread_values import Mask, Value, lanes_of, size_of

_MOST_STEPS = 20_000  # statements that are gone through one by one
_MOST_TRIPS = 1_024
_HEAD = re.compile(r"(\d+) threads? per program")


def count(text: str) -> Costs:
    """The costs of the kernel of a text. A `MetalSyntaxError` says what is not read.

    >>> costs = count(relu.to_msl("*f32", "*f32", "i32", BLOCK=256))
    >>> costs.threads, costs.elements
    (256, 256)
    """
    tree = parse(text)
    kernels = [each for each in tree.functions if each.is_kernel]
    if not kernels:
        raise MetalSyntaxError("the text has no kernel")
    head = _HEAD.search(text.partition("#include")[0])
    threads = min(max(int(head[1]), 1), 1024) if head else SIMDGROUP
    root = Region(times=1.0)
    try:
        for kernel in kernels:
            _Counter(tree, threads, root).kernel(kernel)
    except RecursionError:
        raise MetalSyntaxError("the text is nested too deeply") from None
    size = sum(_threadgroup_bytes(kernel.body) for kernel in kernels)
    fragments = sum(_fragments(kernel.body) for kernel in kernels)
    fragments += max((_fragments(f.body) for f in tree.functions if not f.is_kernel), default=0)
    return Costs(kernels[0].name, threads, head is not None, size, fragments, root)


class _Counter(Expressions):
    """Goes through a kernel, statement by statement."""

    def __init__(self, tree: MetalText, threads: int, root: Region) -> None:
        super().__init__(tree, threads, root)
        nobody = np.zeros(threads, bool)
        self.left: Mask = nobody  # threads that left the trip, the loop or the function
        self.broken: Mask = nobody
        self.returned: Mask = nobody
        self.maybe = self.maybe_of_loop = self.maybe_of_function = 0
        self.steps = 0
        self.result = Value(Type("void"))
        self.entered: list[Function] = []

    def kernel(self, function: Function) -> None:
        self.scopes.append({each.name: self.argument(each) for each in function.parameters})
        self.block(function.body)
        self.scopes.pop()

    def argument(self, parameter: Parameter) -> Value:
        thread, threads = self.thread, self.threads
        known: dict[str, Known] = {
            "thread_index_in_threadgroup": thread,
            "thread_index_in_simdgroup": thread % SIMDGROUP,
            "simdgroup_index_in_threadgroup": thread // SIMDGROUP,
            "simdgroups_per_threadgroup": -(-threads // SIMDGROUP),
            "threads_per_simdgroup": SIMDGROUP,
        }
        vectors: dict[str, tuple[Known, ...]] = {
            "thread_position_in_threadgroup": (thread, 0, 0),
            "threads_per_threadgroup": (threads, 1, 1),
        }
        parts = vectors.get(parameter.attribute, ())
        if parts and not lanes_of(parameter.type) > 1:
            return Value(parameter.type, parts[0])
        return Value(parameter.type, known.get(parameter.attribute), parts)

    def block(self, block: Block) -> None:
        self.scopes.append({})
        self.statements(block.statements)
        self.scopes.pop()

    def statements(self, statements: tuple[Statement, ...]) -> None:
        around = self.mask
        for number, statement in enumerate(statements):
            self.mask = around & ~(self.left | self.broken | self.returned)
            if not self.mask.any():
                break
            if isinstance(statement, If) and _ends_by_leaving(statement):
                condition = self.condition(statement.condition)
                if not condition.is_known:  # what follows is the other branch
                    rest = Block(statement.line, statements[number + 1 :])
                    self.either(condition, statement.then, rest)
                    break
                self.known_branches(condition, statement)
            else:
                self.statement(statement)
        self.mask = around

    def statement(self, statement: Statement) -> None:
        self.steps += 1
        match statement:
            case Block():
                self.block(statement)
            case Declare():
                value = None if statement.value is None else self.evaluate(statement.value)
                number = None if value is None or statement.type.dims else value.number
                parts = () if value is None else value.parts
                if number is not None and not statement.type.is_pointer:
                    number = arithmetic.convert(number, statement.type.name)
                self.scopes[-1][statement.name] = Value(
                    self.own_type(statement, value), number, parts
                )
            case Evaluate():
                self.evaluate(statement.value)
            case If():
                condition = self.condition(statement.condition)
                if not condition.is_known:
                    self.either(condition, statement.then, statement.orelse)
                else:
                    self.known_branches(condition, statement)
            case Loop():
                self.loop(statement)
            case Leave():
                self.leave(statement)
            case _:
                raise TypeError(statement)

    def own_type(self, statement: Declare, value: Value | None) -> Type:
        """A pointer without a space, and `auto`, are what they are set to."""
        if value is not None and statement.type.name == "auto":
            return value.type
        return statement.type

    def known_branches(self, condition: Condition, statement: If) -> None:
        around, holds = self.mask, condition.holds
        for mask, block in ((holds, statement.then), (~holds, statement.orelse)):
            self.mask = around & mask
            if self.mask.any():
                self.block(block)
        self.mask = around

    def either(self, condition: Condition, then: Block, orelse: Block) -> None:
        """One of two branches runs, which is unknown: the more expensive one counts."""
        regions: list[Region] = []
        self.maybe += 1
        before, around, with_region = [dict(scope) for scope in self.scopes], self.mask, self.region
        for block, mask in ((then, around & condition.holds), (orelse, around)):
            self.scopes = [dict(scope) for scope in before]
            self.mask, self.region = mask, Region()
            self.block(block)
            regions.append(self.region)
        self.scopes, self.mask, self.region = before, around, with_region
        self.forget(assigned_names(then) | assigned_names(orelse))
        self.maybe -= 1
        self.region.add(max(regions, key=price_of))

    def leave(self, statement: Leave) -> None:
        if statement.value is not None:
            self.result = self.evaluate(statement.value)
        if statement.kind == "return" and self.maybe == self.maybe_of_function:
            self.returned = self.returned | self.mask
        elif statement.kind == "break" and self.maybe == self.maybe_of_loop:
            self.broken = self.broken | self.mask
        elif statement.kind == "continue" and self.maybe == self.maybe_of_loop:
            self.left = self.left | self.mask

    def loop(self, loop: Loop) -> None:
        around = (self.left, self.broken, self.maybe_of_loop)
        self.left, self.broken = np.zeros(self.threads, bool), np.zeros(self.threads, bool)
        self.maybe_of_loop = self.maybe
        self.scopes.append({})
        for statement in loop.start:
            self.statement(statement)
        self.repeat(loop)
        self.scopes.pop()
        self.left, self.broken, self.maybe_of_loop = around

    def repeat(self, loop: Loop) -> None:
        trips = self.trips(loop)
        is_long = trips is not None and int(np.max(trips)) > _MOST_TRIPS
        is_same = trips is not None and not depends_on(loop)
        if trips is not None and (is_same or is_long or self.steps > _MOST_STEPS):
            self.repeat_once(loop, trips)
        elif not self.repeat_each(loop):
            if trips is not None:
                self.repeat_once(loop, trips)
            else:
                self.repeat_unknown(loop)

    def trips(self, loop: Loop) -> Known | None:
        """How many trips each thread makes of a loop that counts to a known number."""
        step = step_of(loop)
        if step is None or not isinstance(loop.condition, Binary):
            return None
        with_region, self.region = self.region, Region()
        start, stop = self.evaluate(loop.condition.left), self.evaluate(loop.condition.right)
        self.region = with_region
        if start.number is None or stop.number is None:
            return None
        return arithmetic.trips(loop.condition.operator, start.number, stop.number, step)

    def repeat_once(self, loop: Loop, trips: Known) -> None:
        """All trips are alike: one counts for all of them."""
        mask, weights = self.mask, self.weights
        every = np.broadcast_to(np.asarray(trips), (self.threads,))
        self.mask, self.weights = mask & (every > 0), weights * every
        if self.mask.any():
            with_region = self.region
            self.region = self.region.loop(loop.head, loop.line, is_known=True)
            self.region.times += float(self.weights[self.mask].sum()) / max(int(mask.sum()), 1)
            self.forget(assigned_names(loop))
            self.block(loop.body)
            self.region = with_region
        self.mask, self.weights = mask, weights
        self.forget(assigned_names(loop))

    def repeat_each(self, loop: Loop) -> bool:
        """Makes the trips one by one; False if their number is unknown, and nothing has changed."""
        if loop.condition is None or isinstance(loop.condition, Name | Number):
            return False
        if loop.is_tested_behind:
            return False
        before = [dict(scope) for scope in self.scopes]
        returned, mask, with_region = self.returned, self.mask, self.region
        scratch = Region(loop.head, loop.line)
        self.region = scratch
        is_known = self.make_trips(loop, scratch, int(mask.sum()))
        self.region, self.mask = with_region, mask
        if not is_known:
            self.scopes, self.returned = before, returned
            self.left = self.broken = np.zeros(self.threads, bool)
            return False
        if scratch.times:
            own = self.region.loop(loop.head, loop.line, is_known=True)
            own.times += scratch.times
            own.add(scratch)
        return True

    def make_trips(self, loop: Loop, scratch: Region, threads: int) -> bool:
        assert loop.condition is not None
        around = self.mask
        trips = 0
        while True:
            self.mask = around & ~(self.broken | self.returned)
            condition = self.condition(loop.condition)
            is_long = trips > _MOST_TRIPS or self.steps > 10 * _MOST_STEPS
            if not condition.is_known or is_long:
                return False
            around = self.mask & condition.holds
            if not around.any():
                return True
            self.mask = around
            trips += 1
            scratch.times += float(self.weights[around].sum()) / max(threads, 1)
            self.left = np.zeros(self.threads, bool)
            self.block(loop.body)
            self.left = np.zeros(self.threads, bool)
            self.mask = around & ~(self.broken | self.returned)
            if not self.mask.any():
                return True
            for step in loop.step:
                self.evaluate(step)

    def repeat_unknown(self, loop: Loop) -> None:
        """One trip of a loop of unknown length."""
        with_region, mask, returned = self.region, self.mask, self.returned
        self.region = with_region.loop(loop.head, loop.line, is_known=False, step=step_of(loop))
        self.region.times += float(self.weights[mask].sum()) / max(int(mask.sum()), 1)
        self.forget(assigned_names(loop))
        self.maybe += 1
        self.maybe_of_loop = self.maybe
        if loop.condition is not None:
            self.evaluate(loop.condition)
        self.block(loop.body)
        self.left = self.broken = np.zeros(self.threads, bool)
        for step in loop.step:
            self.evaluate(step)
        self.maybe -= 1
        self.region, self.mask, self.returned = with_region, mask, returned
        self.forget(assigned_names(loop))

    def function_call(self, call: Call) -> Value | None:
        """Goes through a function of the text; None if it has none of that name."""
        function = self.find(call)
        if function is None or function in self.entered:  # another one of the same name
            return None
        values = [self.evaluate(argument) for argument in call.arguments]
        own: dict[str, Value] = {}
        for parameter, value in zip(function.parameters, values, strict=False):
            number = value.number
            if number is not None and not parameter.type.is_pointer:
                number = arithmetic.convert(number, parameter.type.name)
            own[parameter.name] = Value(parameter.type, number, value.parts)
        return self.enter(function, own)

    def enter(self, function: Function, own: dict[str, Value]) -> Value:
        saved = (self.scopes, self.left, self.broken, self.returned, self.result)
        levels = (self.maybe_of_loop, self.maybe_of_function)
        none = np.zeros(self.threads, bool)
        self.scopes, self.left, self.broken, self.returned = [own], none, none.copy(), none.copy()
        self.maybe_of_loop = self.maybe_of_function = self.maybe
        self.result = Value(function.result)
        self.entered.append(function)
        is_plain = len(function.body.statements) == 1
        self.block(function.body)
        self.entered.pop()
        number = self.result.number if is_plain else None
        self.scopes, self.left, self.broken, self.returned, self.result = saved
        self.maybe_of_loop, self.maybe_of_function = levels
        return Value(function.result, number)

    def find(self, call: Call) -> Function | None:
        fitting = [
            each
            for each in self.tree.functions
            if each.name == call.function and len(each.parameters) == len(call.arguments)
        ]
        return fitting[0] if fitting else None


def _ends_by_leaving(statement: If) -> bool:
    """Whether a branch without an `else` leaves, so that what follows is its other branch."""
    if statement.orelse.statements or not statement.then.statements:
        return False
    return isinstance(statement.then.statements[-1], Leave)


def _threadgroup_bytes(block: Block) -> int:
    return sum(
        size_of(each.type.name) * int(np.prod(each.type.dims, dtype=np.int64))
        for each in _declarations(block)
        if each.type.space == "threadgroup" and not each.type.is_pointer
    )


def _fragments(block: Block) -> int:
    return sum(
        int(np.prod(each.type.dims, dtype=np.int64))
        for each in _declarations(block)
        if each.type.name.startswith("simdgroup_") and not each.type.is_pointer
    )


def _declarations(statement: Statement) -> Iterable[Declare]:
    match statement:
        case Declare():
            yield statement
        case Block():
            for each in statement.statements:
                yield from _declarations(each)
        case If():
            yield from _declarations(statement.then)
            yield from _declarations(statement.orelse)
        case Loop():
            yield from _declarations(statement.body)
        case _:
            return

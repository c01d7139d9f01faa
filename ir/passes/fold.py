"""Constant folding: computes what is known, and inlines the branch of a known condition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Assert,
    Break,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    Function,
    If,
    Leave,
    Load,
    Loop,
    Op,
    Region,
    Store,
    Terminator,
    Value,
    While,
    Yield,
)
from eas.ir.ops import OPS
from eas.ir.passes.identities import Instead, Simpler, simplify
from eas.ir.passes.purity import Literal
from eas.ir.rewrite import (
    builder_for,
    end_dead,
    falls_through,
    is_dead_end,
    loop_exits,
    with_operands,
    with_values,
)
from eas.ir.types import DType
from eas.support.records import field, record, replace

_SPLAT = OPS["splat"]


def fold(f: Function) -> Function:
    """The function with constants computed and identities applied; no fault is lost."""
    body = _Folder(builder_for(f)).region(f.body)
    return f if body is f.body else replace(f, body=body)


@record
class _Folder:
    """One walk in the order of the text. `build.ops` are the new ops of the current region.

    `env` replaces values, by id; `known` are those that are literals, or a block of equal ones;
    `assumed` are the conditions among them that only hold in the current region.
    """

    build: Builder
    env: dict[int, Value] = field(default_factory=dict[int, Value])
    known: dict[int, Literal] = field(default_factory=dict[int, Literal])
    assumed: dict[int, bool] = field(default_factory=dict[int, bool])
    makers: dict[int, Compute] = field(default_factory=dict[int, Compute])
    end: Op | None = None

    def region(self, region: Region, condition: Value | None = None, holds: bool = True) -> Region:
        """A region, entered where a condition holds or fails."""
        ops, end, assumed = self.build.ops, self.end, dict(self.assumed)
        self.build.ops, self.end = [], region.terminator
        if condition is not None:
            self.assume(condition, holds)
        self.run(region.ops)
        made, self.build.ops, self.end = self.build.ops, ops, end
        for name in self.assumed.keys() - assumed.keys():
            del self.known[name]
        self.assumed = assumed
        if len(made) == len(region.ops) and all(map(_is, made, region.ops)):
            return region
        return Region(region.args, tuple(made))

    def run(self, ops: Iterable[Op]) -> bool:
        """Folds ops into the current region; whether the code after them is reached."""
        return all(map(self.fold, ops))

    def fold(self, op: Op) -> bool:
        return self.op(with_operands(op, self.env))

    def assume(self, condition: Value, holds: bool) -> None:
        """Notes a condition, and those that follow from it, until the end of the region."""
        if condition.id in self.known:
            return
        self.known[condition.id] = self.assumed[condition.id] = holds
        maker = self.makers.get(condition.id)
        if maker is not None and maker.op.name == "not":
            self.assume(maker.operands[0], not holds)
        elif maker is not None and maker.op.name == ("and" if holds else "or"):
            for operand in maker.operands:
                self.assume(operand, holds)

    def op(self, op: Op) -> bool:
        """Folds an op into the current region; whether the code after it is reached."""
        match op:
            case Compute():
                self.compute(op)
            case If():
                return self.branch(op)
            case For():
                return self.loop_for(op)
            case While():
                return self.loop_while(op)
            case Load() | Store() | Assert():
                self.effect(op)
            case Yield() | Condition() | Break() | Continue() | Leave():
                self.build.emit(self.terminator(op))
            case _:
                if isinstance(op, Constant):
                    self.known[op.result.id] = op.value
                self.build.emit(op)
        return True

    def compute(self, op: Compute) -> None:
        literals = [self.known.get(value.id) for value in op.operands]
        if literals and None not in literals:
            value = self.evaluate(op, [x for x in literals if x is not None])
            if value is not None:
                self.emit_literal(op, value)
                return
        simpler = simplify(op, literals, self.makers)
        if simpler is None:
            self.makers[op.result.id] = op
            self.build.emit(op)
        else:
            self.replace(op, simpler)

    def replace(self, op: Compute, simpler: Simpler) -> None:
        match simpler:
            case Value():
                self.env[op.result.id] = simpler
            case Instead():
                self.build.loc = op.loc
                self.compute(self.made(simpler, op.result))
            case None:
                pass
            case _:
                self.emit_literal(op, simpler)

    def made(self, instead: Instead, result: Value) -> Compute:
        """An op for this result, its operands made before it."""
        operands = tuple([self.operand(each, result) for each in instead.operands])
        return Compute(OPS[instead.name], operands, instead.attrs, result, self.build.loc)

    def operand(self, operand: Value | Instead, like: Value) -> Value:
        if isinstance(operand, Value):
            return operand
        inner = self.made(operand, self.build.value(like.ty))
        self.compute(inner)
        return self.env.get(inner.result.id, inner.result)

    def evaluate(self, op: Compute, literals: Sequence[Literal]) -> Literal | None:
        """The op's value for these operands, None if it faults or is none for all lanes."""
        if op.op.view:
            return literals[0]
        if not op.op.elementwise:
            return None
        attrs = dict(op.attrs)
        typed = zip(op.operands, literals, strict=True)
        arrays = [np.array([x], value.ty.dtype.numpy) for value, x in typed]
        with np.errstate(all="ignore"):
            faults = None if op.op.fault is None else op.op.fault.where(*arrays, **attrs)
            if faults is not None and faults.any():
                return None
            return _literal(op.op.meaning(*arrays, **attrs)[0], op.result.ty.dtype)

    def emit_literal(self, op: Compute, value: Literal) -> None:
        """Defines the op's result as a literal."""
        self.known[op.result.id] = value
        if not op.result.shape:
            self.build.emit(Constant(value, op.result, op.loc))
            return
        if op.op is not _SPLAT:
            self.build.loc = op.loc
            scalar = self.build.constant(value, op.result.ty.dtype)
            op = Compute(_SPLAT, (scalar,), (("shape", op.result.shape),), op.result, op.loc)
        self.makers[op.result.id] = op
        self.build.emit(op)

    def literal(self, like: Value, value: Literal) -> Value:
        """A value of the same type as another that is a literal."""
        result = self.build.constant(value, like.ty.dtype)
        self.known[result.id] = value
        if like.shape:
            result = self.build.compute("splat", result, shape=like.shape)
            self.known[result.id] = value
        return result

    def effect(self, op: Load | Store | Assert) -> None:
        """An op under a mask: one that always or never holds is not needed."""
        guard = op.condition if isinstance(op, Assert) else op.mask
        holds = None if guard is None else self.known.get(guard.id)
        match op, holds:
            case Load(), True:
                op = Load(op.pointer, op.offset, None, None, op.result, op.loc, op.number)
            case Load(), False if op.other is not None:
                self.env[op.result.id] = op.other
                return
            case Store(), True:
                op = Store(op.pointer, op.offset, op.value, None, op.loc, op.number)
            case (Store(), False) | (Assert(), True):
                return
            case _:
                pass
        self.build.emit(op)

    def terminator(self, op: Terminator) -> Terminator:
        if not any(value.id in self.assumed for value in op.values):
            return op
        self.build.loc = op.loc
        values = [
            self.literal(value, self.assumed[value.id]) if value.id in self.assumed else value
            for value in op.values
        ]
        return with_values(op, values)

    def branch(self, op: If) -> bool:
        holds = self.known.get(op.condition.id)
        if holds is not None:
            return self.inline(op.then if holds else op.orelse, op.results)
        then = self.region(op.then, op.condition, True)
        orelse = self.region(op.orelse, op.condition, False)
        if then is not op.then or orelse is not op.orelse:
            op = If(op.condition, then, orelse, op.results, op.loc, op.number)
        if is_dead_end(op):
            assert self.end is not None
            self.build.ops = end_dead(self.build, self.build.ops, op, self.end)
            return False
        ends = [r.terminator for r in (then, orelse) if isinstance(r.terminator, Yield)]
        if len(ends) == 2:
            self.build.loc = op.loc
            self.share(op.results, [end.values for end in ends])
        self.build.emit(op)
        for region, truth in ((then, False), (orelse, True)):
            if not falls_through(region):
                self.assume(op.condition, truth)
        return True

    def inline(self, region: Region, results: Sequence[Value]) -> bool:
        """Folds a region into the current one, in place of the op with these results."""
        if not self.run(region.ops[:-1]):
            return False
        end = with_operands(region.terminator, self.env)
        assert isinstance(end, Terminator)
        if not isinstance(end, Yield):
            self.op(end)
            return False
        self.bind(results, end.values)
        return True

    def bind(self, results: Sequence[Value], values: Sequence[Value]) -> None:
        self.env.update((r.id, v) for r, v in zip(results, values, strict=True))

    def share(
        self, results: Sequence[Value], paths: Sequence[Sequence[Value]], outside: bool = True
    ) -> None:
        """Binds the results that are equal on all paths; without `outside`, to literals only."""
        for result, *values in zip(results, *paths, strict=True):
            first = values[0]
            if outside and all(value == first for value in values[1:]):
                self.env[result.id] = first
            elif (literal := self.same_literal(values)) is not None:
                self.env[result.id] = self.literal(result, literal)

    def same_literal(self, values: Sequence[Value]) -> Literal | None:
        """The literal that all these values are, bit by bit."""
        literals = [self.known.get(value.id) for value in values]
        return literals[0] if len({repr(literal) for literal in literals}) == 1 else None

    def loop_for(self, op: For) -> bool:
        bounds = [self.known.get(value.id) for value in (op.start, op.stop, op.step)]
        start, stop, step = (None if bound is None else int(bound) for bound in bounds)
        if start is not None and stop is not None and step and not range(start, stop, step):
            self.bind(op.orelse.args, op.inits)
            return self.inline(op.orelse, op.results)
        passed = _passed(op)
        self.unchanged(op.inits, [op.body.args[1:], op.orelse.args], passed)
        body, orelse = self.region(op.body), self.region(op.orelse)
        if body is not op.body or orelse is not op.orelse:
            op = replace(op, body=body, orelse=orelse)
        self.results(op)
        self.build.emit(op)
        return True

    def loop_while(self, op: While) -> bool:
        passed = [*_passed(op), op.test.terminator]
        self.unchanged(op.inits, [op.test.args, op.body.args, op.orelse.args], passed)
        test = self.region(op.test)
        end = test.terminator
        assert isinstance(end, Condition)
        if self.known.get(end.condition.id) is False:
            self.bind(test.args, op.inits)
            self.run(test.ops[:-1])
            self.bind(op.orelse.args, [self.env.get(v.id, v) for v in end.values])
            return self.inline(op.orelse, op.results)
        body, orelse = self.region(op.body), self.region(op.orelse)
        if test is not op.test or body is not op.body or orelse is not op.orelse:
            op = replace(op, test=test, body=body, orelse=orelse)
        self.results(op)
        self.build.emit(op)
        return True

    def unchanged(
        self, inits: Sequence[Value], arguments: Sequence[Sequence[Value]], passed: Sequence[Op]
    ) -> None:
        """Replaces the carried values that every trip passes on as they are."""
        paths = [op.values for op in passed if isinstance(op, Terminator)]
        for place, init in enumerate(inits):
            same = {init.id, *(args[place].id for args in arguments)}
            given = [self.env.get(values[place].id, values[place]) for values in paths]
            if all(v.id in same or self.same_literal([v, init]) is not None for v in given):
                for args in arguments:
                    self.env[args[place].id] = init

    def results(self, op: Loop) -> None:
        """Replaces the results that are the same on every path out."""
        end = op.orelse.terminator
        if not isinstance(end, Yield):
            return
        breaks = [jump.values for jump in loop_exits(op.body) if isinstance(jump, Break)]
        inits = {value.id for value in op.inits}
        self.build.loc = op.loc
        for place, result in enumerate(op.results):
            paths = [values[place] for values in (end.values, *breaks)]
            self.share([result], [[value] for value in paths], outside=paths[0].id in inits)


def _is(a: object, b: object) -> bool:
    return a is b


def _literal(value: Any, dtype: DType) -> Literal:
    """A NumPy number as Python's; a NaN is always the same object, so that it equals itself."""
    if dtype.is_bool:
        return bool(value)
    if dtype.is_int:
        return int(value)
    number = float(value)
    return math.nan if math.isnan(number) else number


def _passed(op: Loop) -> list[Op]:
    """The terminators that lead to the next trip."""
    again = [jump for jump in loop_exits(op.body) if isinstance(jump, Continue)]
    return [op.body.terminator, *again] if falls_through(op.body) else [*again]

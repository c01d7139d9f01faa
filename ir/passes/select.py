"""Turns an `If` that only chooses between cheap values into `select`s."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.builder import Builder
from eas.ir.nodes import Compute, Constant, Function, If, Op, Value, Yield
from eas.ir.ops import OPS
from eas.ir.ops.arithmetic import ARITHMETIC
from eas.ir.rewrite import builder_for, rewrite
from eas.support.records import frozen, replace

_MOST_OPS = 8
_DEAR = {"floordiv", "mod", "truncdiv", "truncmod", "div"}
_MOVES = {"cast", "bitcast", "splat", "broadcast", "arange", "program_id"}
_CHEAP = {op.name for op in ARITHMETIC} - _DEAR | _MOVES


def use_selects(f: Function) -> Function:
    """The function with both sides of small branches computed."""
    return _with_selects(f, _is_choice)


def without_branches(f: Function) -> Function:
    """The function with both sides computed of all branches that only compute."""
    return _with_selects(f, _only_computes)


def _with_selects(f: Function, may_choose: Callable[[If], bool]) -> Function:
    selects = _Selects(builder_for(f), may_choose, {})
    return replace(f, body=rewrite(f.body, selects.change, selects.env))


@frozen
class _Selects:
    """`env` replaces the results of branches that yield one value on both sides."""

    build: Builder
    may_choose: Callable[[If], bool]
    env: dict[int, Value]

    def change(self, op: Op, _: Op) -> Sequence[Op] | None:
        return self.choose(op) if isinstance(op, If) and self.may_choose(op) else None

    def choose(self, op: If) -> list[Op]:
        """The ops of both branches, then one value for each result."""
        then, orelse = op.then.terminator, op.orelse.terminator
        assert isinstance(then, Yield) and isinstance(orelse, Yield)
        self.build.ops = [*op.then.ops[:-1], *op.orelse.ops[:-1]]
        self.build.loc = op.loc
        constants = _bools(self.build.ops)
        for result, a, b in zip(op.results, then.values, orelse.values, strict=True):
            if a is b:
                self.env[result.id] = a
            else:
                self.pick(op.condition, a, b, constants, result)
        return self.build.ops

    def pick(
        self, condition: Value, a: Value, b: Value, constants: dict[int, bool], result: Value
    ) -> None:
        """Defines the result as one of two values; with constant bools it is `and` or `or`."""
        if a.shape != condition.shape:
            name = "broadcast" if condition.shape else "splat"
            condition = self.build.compute(name, condition, shape=a.shape)
        if constants.get(b.id) is False:
            self.define(result, "and", condition, a)
        elif constants.get(a.id) is True:
            self.define(result, "or", condition, b)
        elif a.id in constants:
            self.define(result, "and", self.build.compute("not", condition), b)
        elif b.id in constants:
            self.define(result, "or", self.build.compute("not", condition), a)
        else:
            self.define(result, "select", condition, a, b)

    def define(self, result: Value, name: str, *operands: Value) -> None:
        self.build.emit(Compute(OPS[name], operands, (), result, self.build.loc))


def _is_choice(op: If) -> bool:
    regions = (op.then, op.orelse)
    ops = [inner for region in regions for inner in region.ops[:-1]]
    return (
        bool(op.results)
        and len(ops) <= _MOST_OPS
        and all(isinstance(region.terminator, Yield) for region in regions)
        and all(_is_cheap(inner) for inner in ops)
    )


def _only_computes(op: If) -> bool:
    ops = [inner for region in (op.then, op.orelse) for inner in region.ops[:-1]]
    ends = [region.terminator for region in (op.then, op.orelse)]
    return all(isinstance(inner, Constant | Compute) for inner in ops) and all(
        isinstance(end, Yield) for end in ends
    )


def _is_cheap(op: Op) -> bool:
    if isinstance(op, Constant):
        return True
    if not isinstance(op, Compute) or op.op.name not in _CHEAP or op.op.collective:
        return False
    return not op.op.can_fault([v.ty for v in op.operands], dict(op.attrs))


def _bools(ops: list[Op]) -> dict[int, bool]:
    """The constant bools among the ops, and those repeated over a block."""
    found: dict[int, bool] = {}
    for op in ops:
        if isinstance(op, Constant) and isinstance(op.value, bool):
            found[op.result.id] = op.value
        elif isinstance(op, Compute) and op.op.repeats:
            value = found.get(op.operands[0].id)
            if value is not None:
                found[op.result.id] = value
    return found

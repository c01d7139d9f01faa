"""Simplifications for backends that check less than the interpreter.

They may drop what only a fault could need. Of a checked function, accesses and indices stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Assert,
    Atomic,
    Compute,
    Constant,
    Function,
    Load,
    Op,
    Store,
    Value,
)
from eas.ir.ops import OPS
from eas.ir.passes.ranges import MOST_PROGRAMS, Interval, Ranges, analyze
from eas.ir.rewrite import builder_for, rewrite
from eas.support.records import replace

_TRUNCATED = {"floordiv": "truncdiv", "mod": "truncmod"}


def use_ranges(f: Function) -> Function:
    """Drops sign fix-ups, index wraps and masks that the ranges show to be needless."""
    known = analyze(f)
    simplifier = _Simplifier(builder_for(f), known, f.checked)
    body = rewrite(f.body, simplifier.change, simplifier.env)
    limit = known.programs if known.programs < MOST_PROGRAMS else None
    return replace(f, body=body, programs=limit)


class _Simplifier:
    def __init__(self, build: Builder, known: Ranges, keeps_indices: bool) -> None:
        self.build = build
        self.known = known
        self.keeps_indices = keeps_indices
        self.true: set[int] = set()
        self.env: dict[int, Value] = {}

    def change(self, op: Op, old: Op) -> Sequence[Op] | None:
        match op:
            case Compute():
                return self.compute(op, self.known.uses.get(op.number, ()))
            case Assert(is_assumed=True):
                return []
            case Load(mask=Value() as mask) if mask.id in self.true:
                return [replace(op, mask=None, other=None)]
            case Store(mask=Value() as mask) | Atomic(mask=Value() as mask) if mask.id in self.true:
                return [replace(op, mask=None)]
            case _:
                return None

    def compute(self, op: Compute, operands: Sequence[Interval | None]) -> Sequence[Op] | None:
        name = op.op.name
        lows = [operand.low for operand in operands if operand is not None]
        if name in _TRUNCATED and len(lows) == 2 and min(lows) >= 0:
            return [replace(op, op=OPS[_TRUNCATED[name]])]
        if name == "index" and lows and lows[0] >= 0 and not self.keeps_indices:
            self.env[op.result.id] = op.operands[0]
            return []
        decided = self.known.values.get(op.result.id)
        if op.result.ty.dtype.is_bool and decided is not None and decided.low == decided.high:
            return self.constant(op, bool(decided.low))
        return None

    def constant(self, op: Compute, value: bool) -> Sequence[Op]:
        if value:
            self.true.add(op.result.id)
        if not op.result.shape:
            return [Constant(value, op.result, op.loc)]
        self.build.ops, self.build.loc = [], op.loc
        scalar = self.build.constant(value, op.result.ty.dtype)
        attrs = (("shape", op.result.shape),)
        return [*self.build.ops, Compute(OPS["splat"], (scalar,), attrs, op.result, op.loc)]

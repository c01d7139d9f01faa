"""Rewrites broadcast reductions, whose rows need the result back, as all-reduces.

`x - mk.max(x, axis=1)[:, None]` needs the maximum of a row in each lane of that row. Those lanes
have reduced it together, so it need not go to the owner thread of the row first. A reduction along
the last axis whose result is broadcast to the shape of its operand becomes an all-reduce of
`eas.msl.ops.all_reduce`. Every lane computes for itself what is computed on the way from the
reduction to the broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.builder import Builder
from eas.ir.nodes import (
    Compute,
    Function,
    Load,
    Op,
    Region,
    Value,
    is_reduction,
    walk,
)
from eas.ir.ops import OPS
from eas.ir.ops.simdgroup import SIMD
from eas.ir.passes.dead import remove_dead
from eas.ir.rewrite import builder_for, rewrite, substitute
from eas.ir.types import Shape, make_type
from eas.msl.analysis.nesting import Nesting, nesting_of
from eas.msl.layout.layout import is_64_bit
from eas.msl.ops.all_reduce import ALL_REDUCE, is_all_reduce
from eas.support.records import field, record, replace

_BY_PAIRS = ("sum", "prod", "max", "min")


def all_reduce_rows(function: Function) -> Function:
    """The function with all-reduces, for simdgroups of 32 threads."""
    if not any(map(is_reduction, walk(function.body))):
        return function
    found = _AllReduces(builder_for(function), nesting_of(function))
    body = rewrite(function.body, found.before_broadcasts)
    if not found.all_reduces:
        return function
    body = rewrite(body, found.after_reductions)
    ops = substitute(body.ops, found.env)
    return remove_dead(replace(function, body=Region(body.args, ops)), keeps_faults=False)


@record
class _AllReduces:
    """`all_reduces` has the new ops, by the results of the reductions that they come from.

    `env` has what replaces the results of broadcasts.
    """

    build: Builder
    nesting: Nesting
    all_reduces: dict[Value, Compute] = field(default_factory=dict[Value, Compute])
    env: dict[int, Value] = field(default_factory=dict[int, Value])

    def before_broadcasts(self, op: Op, _: Op) -> list[Op] | None:
        if not isinstance(op, Compute) or op.op.name != "broadcast":
            return None
        return [*self.broadcast(op), op]

    def after_reductions(self, op: Op, _: Op) -> list[Op] | None:
        if not isinstance(op, Compute) or op.result not in self.all_reduces:
            return None
        return [op, self.all_reduces[op.result]]

    def broadcast(self, op: Compute) -> list[Op]:
        """Ops that compute in each lane what is broadcast to it, if that comes of its own row."""
        column, shape = self.nesting.makers.get(op.operands[0]), op.result.shape
        if not isinstance(column, Compute) or column.op.name != "expand_dims":
            return []
        value = column.operands[0]
        if (*value.shape, 1) != column.result.shape or value.shape != shape[:-1]:
            return []
        leaves = list(self.leaves(value, shape))
        if None in leaves or not any(map(is_reduction, leaves)):
            return []
        self.build.ops, self.build.loc = [], op.loc
        self.env[op.result.id] = self.in_each_lane(value, shape, {})
        return self.build.ops

    def leaves(self, value: Value, shape: Shape) -> Iterator[Op | None]:
        """What a value of rows is computed from; None for what lanes cannot rematerialize."""
        op = self.nesting.makers.get(value)
        if isinstance(op, Load) or (isinstance(op, Compute) and op.op.name in ("splat", "arange")):
            yield op
        elif isinstance(op, Compute) and is_reduction(op):
            yield op if _is_suitable(op, shape) else None
        elif isinstance(op, Compute) and op.op.elementwise and not op.op.collective:
            for operand in op.operands:
                yield from self.leaves(operand, shape)
        else:
            yield None

    def in_each_lane(self, value: Value, shape: Shape, known: dict[Value, Value]) -> Value:
        """A value of rows as each lane of a row has it."""
        if value not in known:
            op = self.nesting.makers[value]
            assert isinstance(op, Compute | Load)
            known[value] = self.rematerialize(op, shape, known)
        return known[value]

    def rematerialize(self, op: Compute | Load, shape: Shape, known: dict[Value, Value]) -> Value:
        value = op.result
        if isinstance(op, Load) or op.op.name == "arange":
            column = self.build.compute("expand_dims", value, axis=len(value.shape))
            return self.build.compute("broadcast", column, shape=shape)
        result = self.build.value(make_type(value.ty.dtype, shape), value.hint)
        if is_reduction(op):
            record = ALL_REDUCE[op.op.reduction]
            made = Compute(record, op.operands, op.attrs, result, op.loc)  # `op` may stay
            return self.all_reduces.setdefault(value, made).result
        if op.op.name == "splat":
            return self.build.compute("splat", op.operands[0], shape=shape)
        operands = tuple(self.in_each_lane(operand, shape, known) for operand in op.operands)
        self.build.emit(Compute(OPS[op.op.name], operands, op.attrs, result, op.loc))
        return result


def _is_suitable(op: Compute, shape: Shape) -> bool:
    """Whether an all-reduce pays off: the lanes of a row are in one simdgroup, or in few."""
    operand, extent = op.operands[0], shape[-1]
    if operand.shape != shape or op.attr("axis") != len(shape) - 1 or is_64_bit(op):
        return False
    if is_all_reduce(op):
        return False
    if extent % SIMD == 0:
        return extent // SIMD <= SIMD
    is_number = not operand.ty.dtype.is_bool
    return extent > 1 and SIMD % extent == 0 and is_number and op.op.reduction in _BY_PAIRS

"""A function for arrays whose neighbours along the last axis lie side by side, as most do."""

from __future__ import annotations

from eas.ir.nodes import Compute, Constant, Function, Op, Param, Region, walk
from eas.ir.records import replace


def last_strides(f: Function) -> tuple[Param, ...]:
    """The parameters that are the stride along the last axis of an array that is indexed."""
    last: dict[str, int] = {}
    for op in walk(f.body):
        if isinstance(op, Compute) and op.op.name == "index":
            array, axis = op.attr("array"), op.attr("axis")
            assert isinstance(array, str)
            assert isinstance(axis, int)
            last[array] = max(axis, last.get(array, 0))
    return tuple(p for p in f.params if p.role == "stride" and last.get(p.array) == p.axis)


def with_unit_strides(f: Function) -> Function:
    """The function without those parameters: they are 1."""
    known = last_strides(f)
    loc = f.body.ops[0].loc
    ones: list[Op] = [Constant(1, param.value, loc) for param in known]
    params = tuple(param for param in f.params if param not in known)
    return replace(f, params=params, body=Region(f.body.args, (*ones, *f.body.ops)))

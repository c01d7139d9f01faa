"""A function specialized for arrays whose last axis has unit stride, as most have."""

from __future__ import annotations

from collections.abc import Mapping

from eas.ir.nodes import Compute, Constant, Function, Op, Param, Region, Value, operands_of, walk
from eas.support.records import replace


def last_strides(f: Function) -> tuple[Param, ...]:
    """The parameters that are the stride along the last axis of an array that is indexed.

    Strides that the kernel uses for anything else are left out.
    """
    makers = {op.result.id: op for op in walk(f.body) if isinstance(op, Compute)}
    last: dict[str, int] = {}
    for op in makers.values():
        if op.op.name == "index":
            array, axis = op.attr("array"), op.attr("axis")
            assert isinstance(array, str)
            assert isinstance(axis, int)
            last[array] = max(axis, last.get(array, 0))
    found = [p for p in f.params if p.role == "stride" and last.get(p.array) == p.axis]
    others = _used_otherwise(f, makers) if found else set[int]()
    return tuple(p for p in found if p.value.id not in others)


def _used_otherwise(f: Function, makers: Mapping[int, Compute]) -> set[int]:
    """The values with any use but as the factor of an index, as a scalar or as a splat."""

    def is_made_by(name: str, value: Value) -> bool:
        return value.id in makers and makers[value.id].op.name == name

    found: set[int] = set()
    for op in walk(f.body):
        operands, name = operands_of(op), op.op.name if isinstance(op, Compute) else ""
        if name == "splat" or (name == "mul" and any(is_made_by("index", v) for v in operands)):
            continue
        found |= {v.id for v in operands}
        found |= {makers[v.id].operands[0].id for v in operands if is_made_by("splat", v)}
    return found


def with_unit_strides(f: Function) -> Function:
    """The function with 1 in place of those parameters."""
    known = last_strides(f)
    loc = f.body.ops[0].loc
    ones: list[Op] = [Constant(1, param.value, loc) for param in known]
    params = tuple(param for param in f.params if param not in known)
    return replace(f, params=params, body=Region(f.body.args, (*ones, *f.body.ops)))

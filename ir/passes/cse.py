"""Common subexpressions: an op equal to one before it, in this region or around it, is removed.

A merged op keeps the first's place, so an op that can fault never moves; and the user's name for
the value, if only the second has one.
"""

from __future__ import annotations

from eas.ir.nodes import Combine, Constant, Function, Op, Pure, Region, Value, regions_of
from eas.ir.rewrite import Renaming, rebuild, with_operands
from eas.support.records import field, record, replace

Key = tuple[object, ...]


def merge_common(f: Function) -> Function:
    """The function with equal pure ops merged."""
    merger = _Merger()
    body = merger.region(f.body)
    if merger.hints:
        body = Renaming(merger.named).region(body)
    return replace(f, body=body)


@record
class _Merger:
    """`seen` holds the values that are visible, by what they are; `env` those to use instead."""

    seen: dict[Key, Value] = field(default_factory=dict[Key, Value])
    env: dict[int, Value] = field(default_factory=dict[int, Value])
    hints: dict[int, str] = field(default_factory=dict[int, str])

    def region(self, region: Region) -> Region:
        ops: list[Op] = []
        added: list[Key] = []
        for op in region.ops:
            now = with_operands(op, self.env)
            if isinstance(now, Pure):
                key = _key(now)
                if key in self.seen:
                    self.merge(now.result, self.seen[key])
                    continue
                self.seen[key] = now.result
                added.append(key)
            elif regions_of(now):
                # The function of a combination takes nothing from outside.
                inside = _Merger(hints=self.hints) if isinstance(now, Combine) else self
                now = rebuild(now, inner=inside.region)
            ops.append(now)
        for key in added:
            del self.seen[key]
        return Region(region.args, tuple(ops))

    def merge(self, value: Value, first: Value) -> None:
        self.env[value.id] = first
        if value.hint and not first.hint:
            self.hints.setdefault(first.id, value.hint)

    def named(self, value: Value) -> Value:
        hint = self.hints.get(value.id)
        return value if hint is None else Value(value.id, value.ty, hint)


def _key(op: Pure) -> Key:
    if isinstance(op, Constant):  # 0.0 equals -0.0 and no NaN equals itself, but their texts do
        return (op.result.ty.dtype.name, repr(op.value))
    operands = [value.id for value in op.operands]
    if op.op.commutative:
        operands.sort()
    return (op.op.name, op.attrs, *operands)

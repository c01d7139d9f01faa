"""The last step of building: regions become immutable, values get their names and numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eas.ir.nodes import Op, Param, Region, Value


@dataclass
class Freezer:
    """Copies ops; values are numbered in the order of the text."""

    hints: Mapping[int, str]
    values: dict[int, Value] = field(default_factory=dict[int, Value])

    def param(self, param: Param) -> Param:
        return dataclasses.replace(param, value=self.value(param.value))

    def region(self, region: Region) -> Region:
        args = tuple(self.value(arg) for arg in region.args)
        return Region(args, tuple(self.op(op) for op in region.ops))

    def op(self, op: Op) -> Op:
        fields: list[Any] = [self._field(getattr(op, name)) for name in op.__slots__]
        return type(op)(*fields)

    def value(self, value: Value) -> Value:
        found = self.values.get(value.id)
        if found is None:
            hint = value.hint or self.hints.get(value.id, "")
            found = self.values[value.id] = Value(len(self.values), value.ty, hint)
        return found

    def _field(self, content: Any) -> Any:
        if isinstance(content, Value):
            return self.value(content)
        if isinstance(content, Region):
            return self.region(content)
        if isinstance(content, tuple):
            return tuple(self._field(item) for item in content)  # pyright: ignore[reportUnknownVariableType]
        return content

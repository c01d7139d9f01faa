"""The last step of building: regions become immutable, values get their names and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from eas.ir.nodes import Param, Region, Value
from eas.ir.rewrite import Renaming
from eas.support.records import replace


def freeze(
    params: Iterable[Param], body: Region, hints: Mapping[int, str]
) -> tuple[tuple[Param, ...], Region]:
    """Parameters and body with values numbered in the order of the text, lists made tuples."""
    numbers = count()

    def fresh(value: Value) -> Value:
        return Value(next(numbers), value.ty, value.hint or hints.get(value.id, ""))

    names = Renaming(fresh)
    frozen = tuple(replace(param, value=names.define(param.value)) for param in params)
    return frozen, names.region(body)

"""What a proof asks about the values of a function."""

from __future__ import annotations

from typing import Protocol

from eas.ir.aliasing.affine_forms import AffineForms
from eas.ir.nodes import Op, Value


class Facts(Protocol):
    """`forms` are those of offsets, `owners` the ops that the arguments of regions belong to."""

    forms: AffineForms
    owners: dict[Value, Op]

    def resolve(self, value: Value) -> Value:
        """The value that another one is only a name for."""
        ...

    def definition(self, value: Value) -> Op | None: ...

    def is_inside(self, value: Value, op: Op) -> bool:
        """Whether a value is defined in the regions of an op."""
        ...

"""What an op of the table is: one record that types it, computes it and documents it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from eas.ir.types import DType, Type
from eas.support.records import frozen

Array = np.ndarray[Any, Any]
Attr = bool | int | str | DType | tuple[int, ...] | None
Attrs = dict[str, Any]

TypeRule = Callable[[Sequence[Type], Attrs], Type]
EffectRule = Callable[[Sequence[Type], Attrs], Type | None]
Meaning = Callable[..., Any]


class RuleError(Exception):
    """An op's rule does not hold for these operands. The front end adds the place."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


class Position(Protocol):
    """Which programs an array's leading axis stands for."""

    def index(self, axis: int) -> Array:
        """The programs' index along an axis of the grid, one per program, i32."""
        ...

    def count(self, axis: int) -> int:
        """How many programs the grid has along an axis."""
        ...


@frozen
class Fault:
    """Operands for which an op's result is unspecified; the interpreter reports them.

    `where` takes what the op's meaning takes and gives a bool array, or None if it cannot happen
    for these dtypes. If it is `of_second`, the second operand alone decides, with the dtype
    of the first.
    """

    message: str
    where: Callable[..., Array | None]
    applies: Callable[[Sequence[Type], Attrs], bool]
    of_second: bool = False

    def happens_for(self, second: bool | int | float, first: DType) -> bool:
        """Whether it happens for this second operand, which alone decides."""
        assert self.of_second
        where = self.where(np.zeros(1, first.numpy), np.asarray([second]))
        return where is not None and bool(where.any())


@frozen(eq=False)
class OpDef:
    """A pure op. The one place that says what it means.

    `meaning` is the constant folder, the interpreter and the tests' oracle. It takes one array per
    operand, each with a leading axis for the programs (of length 1 where all agree), then the
    attributes as keywords, and gives an array of the result's dtype. Where `elementwise` is set the
    arrays broadcast against each other; otherwise they have the full shape of their blocks. Where
    `positional` is set the first argument is a `Position`. `ulps` is how far a target may be from
    the true value, in units of the last place of the result's dtype.

    The traits say what passes and backends ask about an op. A `view` only moves elements: each
    element of its result is one of its operand, which stands first. A `position` is the index of a
    program, a lane or a thread, or their number. `reduction` is the kind of a reduction of a block,
    such as "sum", empty for every other op. A `simdgroup` op exchanges values in a simdgroup; if it
    reduces them, `simd_reduction` is the kind of the reduction.
    """

    name: str
    operands: tuple[str, ...]
    typing: TypeRule
    meaning: Meaning
    doc: str
    attrs: tuple[str, ...] = ()
    elementwise: bool = True
    commutative: bool = False
    collective: bool = False
    positional: bool = False
    fault: Fault | None = None
    ulps: int = 0
    view: bool = False
    position: bool = False
    reduction: str = ""
    simdgroup: bool = False
    simd_reduction: str = ""

    @property
    def repeats(self) -> bool:
        """Whether each lane of the result has the operand's only value, or one of its lanes'."""
        return self.view and self.elementwise

    def __repr__(self) -> str:
        return f"OpDef({self.name})"

    def can_fault(self, operands: Sequence[Type], attrs: Attrs) -> bool:
        return self.fault is not None and self.fault.applies(operands, attrs)


@frozen(eq=False)
class TargetOpDef:
    """An op that only one target has, and that may read and write memory. It is collective.

    The target declares it, and names it among the ops that are legal in some of its stages.
    `typing` gives the type of the result; None if there is none. `meaning` takes what that of an
    `OpDef` takes; for a pointer it takes the memory behind it, a row of elements for each program.
    If the op `writes` to an operand, `meaning` gives what that memory holds afterwards, else the
    result.
    """

    name: str
    operands: tuple[str, ...]
    typing: EffectRule
    meaning: Meaning
    doc: str
    attrs: tuple[str, ...] = ()
    writes: str = ""

    def __repr__(self) -> str:
        return f"TargetOpDef({self.name})"

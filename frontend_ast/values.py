"""What an expression of a kernel can be while it is compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eas.ir.frozen import frozen
from eas.ir.nodes import Value
from eas.ir.types import DType, Pointer, Shape

if TYPE_CHECKING:
    from eas.frontend_ast.scopes import Frame


@frozen
class Const:
    """A Python value that is known now: a literal, a constexpr, a global, a function, a dtype."""

    value: object


@frozen
class Num:
    """A number that is known at run time: a scalar or a block.

    `weak` says that nothing but literals went into it; it takes the other side's dtype where that
    can hold it.
    """

    value: Value
    weak: bool = False

    @property
    def dtype(self) -> DType:
        return self.value.ty.dtype

    @property
    def shape(self) -> Shape:
        return self.value.ty.shape


@frozen
class Array:
    """An array argument or threadgroup memory. `extents` is set where the shape is static."""

    name: str
    pointer: Value
    ndim: int | None
    extents: Shape | None = None

    @property
    def dtype(self) -> DType:
        return self.pointer.ty.dtype

    @property
    def is_threadgroup(self) -> bool:
        return isinstance(self.pointer.ty, Pointer) and self.pointer.ty.space == "threadgroup"


@frozen
class Place:
    """An array and an offset into it: `a + offs`."""

    array: Array
    offset: Const | Num


@frozen
class Tuple:
    """A tuple, list, named tuple or frozen dataclass whose parts may be known at run time only.

    `make` is the class of the last two, `fields` their names.
    """

    items: tuple[Operand, ...]
    make: type | None = None
    fields: tuple[str, ...] = ()


@frozen
class Generated:
    """The items of a generator expression. Python would work them out where they are used, so they
    must be used up at once: by unpacking, or by a function such as `sum`.
    """

    items: tuple[Operand, ...]


@frozen
class Range:
    """`range(start, stop, step)` with numbers that may be known at run time only."""

    start: Const | Num
    stop: Const | Num
    step: Const | Num


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function or lambda defined inside the kernel, with the frame it sees.

    When that frame has returned, its variables no longer change: `kept` are those that the function
    uses.
    """

    node: ast.FunctionDef | ast.Lambda
    frame: Frame
    defaults: dict[str, Operand]
    kept: dict[str, Operand] | None = None

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "<lambda>"


@frozen
class Method:
    """`x.to`, not called yet."""

    receiver: Operand
    name: str
    call: Callable[..., Operand]


@frozen
class Text:
    """An f-string with parts that are known at run time only."""

    parts: tuple[str | Value, ...]


@frozen
class Poison:
    """What a statement with an error leaves behind: its uses are not errors of their own."""


Operand = Const | Num | Array | Place | Tuple | Generated | Range | Closure | Method | Text | Poison

# Threadgroup memory, until it is assigned to a name.
UNNAMED = "threadgroup memory"

NONE = Const(None)
ZERO = Const(0)
FALSE = Const(False)
EMPTY = Tuple(())

"""What an expression of a kernel can be while it is compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from eas.ir.nodes import Value
from eas.ir.types import I32, I64, DType, Pointer, Shape
from eas.support.records import frozen

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
    """An array argument or threadgroup memory. `extents` is set where the shape is static.

    `is_wide` says that offsets into it need 64 bits.
    """

    name: str
    pointer: Value
    ndim: int | None
    extents: Shape | None = None
    is_wide: bool = False

    @property
    def dtype(self) -> DType:
        return self.pointer.ty.dtype

    @property
    def index_dtype(self) -> DType:
        """What its extents and strides are, and at least what its offsets are computed in."""
        return I64 if self.is_wide else I32

    @property
    def is_threadgroup(self) -> bool:
        return isinstance(self.pointer.ty, Pointer) and self.pointer.ty.space == "threadgroup"


@frozen
class LocalArray:
    """A small array of each lane, or of the program; its elements are values of one dtype.

    `key` is that of the call that made it.
    """

    name: str
    dtype: DType
    items: tuple[Num, ...]
    key: int


@frozen
class ArrayPointer:
    """An array and an offset into it: `a + offs`."""

    array: Array
    offset: Const | Num


@frozen
class Tuple:
    """A tuple, list, named tuple or frozen dataclass whose parts may be known at run time only.

    `make` is its class, `fields` are the names of its parts. A list is one that cannot be changed.
    """

    items: tuple[Operand, ...]
    make: type[object] = tuple
    fields: tuple[str, ...] = ()


@frozen
class Generated:
    """The items of an iterator, which has them once: they must be used up where it is made, by
    unpacking, or by a function such as `sum`.

    Those of a generator expression (`is_lazy`) Python works out one by one, so that a loop over
    them would run its body in between.
    """

    items: tuple[Operand, ...]
    is_lazy: bool = True


@frozen
class Range:
    """`range(start, stop, step)` with numbers that may be known at run time only."""

    start: Const | Num
    stop: Const | Num
    step: Const | Num

    @property
    def known(self) -> range | None:
        """Python's own range, if all of its numbers are constants."""
        parts = (self.start, self.stop, self.step)
        numbers: list[Any] = [part.value for part in parts if isinstance(part, Const)]
        return range(*map(int, numbers)) if len(numbers) == len(parts) else None


@frozen(eq=False)
class Closure:
    """A function or lambda defined inside the kernel, with the frame it sees.

    When that frame has returned, its variables no longer change: `captured` are those that the
    function uses.
    """

    node: ast.FunctionDef | ast.Lambda
    frame: Frame
    defaults: dict[str, Operand]
    captured: dict[str, Operand] | None = None

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
class RecordMethod:
    """A method of a named tuple or frozen dataclass, not called yet."""

    receiver: Operand
    name: str
    function: object


@frozen
class Text:
    """An f-string with parts that are known at run time only."""

    parts: tuple[str | Value, ...]


@frozen
class Poison:
    """What a statement with an error leaves behind: its uses are not errors of their own."""


Function = Closure | Method | RecordMethod
Memory = Array | ArrayPointer | LocalArray
Operand = Const | Num | Memory | Tuple | Generated | Range | Function | Text | Poison

# Threadgroup memory, until it is assigned to a name.
UNNAMED = "threadgroup memory"

NONE = Const(None)
ZERO = Const(0)
FALSE = Const(False)
EMPTY = Tuple(())

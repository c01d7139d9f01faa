"""The flat IR's records: modules, kernels, statements, views and element-wise expressions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, TypeAlias

from eas.ir.types import DTYPES, DType
from eas.septran.flat.affine import ZERO, Affine
from eas.support.location import Loc
from eas.support.records import frozen

Privilege = Literal["r", "w", "rw"]
ReduceKind = Literal["add", "mul", "max", "min"]
Transposed = Literal["", "a", "b", "ab"]
Comparison = Literal["<", "<=", "==", "!=", ">", ">="]
UnaryKind = Literal[
    "neg", "not", "abs", "exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "gelu",
    "sigmoid", "floor",
]  # fmt: skip
BinaryKind = Literal[
    "add", "sub", "mul", "div", "max", "min", "pow", "lt", "le", "eq", "ne", "gt", "ge", "and", "or"
]


@frozen
class Origin:
    """Why a statement is there, which line of the mapping asked for it, which of the logic."""

    because: str = ""
    yaml: Loc | None = None
    python: Loc | None = None


NO_ORIGIN = Origin()


@frozen
class View:
    """A rectangle of a buffer: per axis an offset and an extent.

    An axis without an extent is indexed at the offset and is none of the view's own axes.
    """

    buffer: str
    memory: str
    offsets: tuple[Affine, ...]
    extents: tuple[Affine | None, ...]
    slot: Affine | None = None

    @property
    def shape(self) -> tuple[Affine, ...]:
        """The extents of the view's own axes."""
        return tuple(extent for extent in self.extents if extent is not None)

    @property
    def rank(self) -> int:
        return len(self.shape)


@frozen
class Const:
    """A number of a dtype. It is not NaN, which is unequal to itself."""

    value: float | int | bool
    dtype: DType

    def __post_init__(self) -> None:
        if math.isnan(self.value):
            raise ValueError("a constant of the flat IR cannot be NaN")


@frozen
class Operand:
    """The elements of a view, broadcast as NumPy does."""

    view: View


@frozen
class Column:
    """A view of one axis as a column: its only axis is the next to last of the result."""

    view: View


@frozen
class Index:
    """An affine number as an i32: the same for all elements."""

    value: Affine


@frozen
class Iota:
    """The position of an element along an axis of the destination, as an i32."""

    axis: int


@frozen
class Unary:
    kind: UnaryKind
    operand: Expr


@frozen
class Binary:
    kind: BinaryKind
    left: Expr
    right: Expr


@frozen
class Select:
    condition: Expr
    yes: Expr
    no: Expr


@frozen
class Cast:
    dtype: DType
    operand: Expr


Expr: TypeAlias = Operand | Column | Const | Index | Iota | Unary | Binary | Select | Cast


@frozen
class Alloc:
    """Memory for one run of the statements around it; unwritten at the start of each run.

    A row has `pad` more elements than its extent, which nothing reads: they keep rows in different
    banks. A buffer is mixed if tiles of different shapes are in it, one after the other.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    memory: str
    slots: int = 1
    pad: int = 0
    is_mixed: bool = False
    origin: Origin = NO_ORIGIN

    @property
    def bytes(self) -> int:
        *rows, row = self.shape or (1,)
        return self.slots * math.prod(rows) * (row + self.pad) * bytes_of(self.dtype)

    @property
    def size(self) -> str:
        """Its slots, extents, padding and dtype, as people read them."""
        slots = f"{self.slots} slots of " if self.slots > 1 else ""
        pad = f" + {self.pad}" if self.pad else ""
        return f"{slots}{' x '.join(map(str, self.shape))}{pad} {self.dtype}"


@frozen
class Copy:
    target: View
    source: View
    fill: float | int | None = None
    origin: Origin = NO_ORIGIN


@frozen
class Start:
    target: View
    source: View
    token: str
    fill: float | int | None = None
    origin: Origin = NO_ORIGIN


@frozen
class Wait:
    token: str
    keep: Affine = ZERO
    origin: Origin = NO_ORIGIN


@frozen
class Barrier:
    proc: str
    memory: str
    origin: Origin = NO_ORIGIN


@frozen
class Fill:
    target: View
    value: float | int
    origin: Origin = NO_ORIGIN


@frozen
class Map:
    target: View
    value: Expr
    origin: Origin = NO_ORIGIN


@frozen
class Reduce:
    target: View
    kind: ReduceKind
    source: View
    axis: int
    origin: Origin = NO_ORIGIN


@frozen
class Mma:
    target: View
    left: View
    right: View
    primitive: str
    transposed: Transposed = ""
    origin: Origin = NO_ORIGIN

    @property
    def depth(self) -> Affine:
        """The extent that is summed over."""
        return self.left.shape[0 if "a" in self.transposed else 1]


@frozen
class Passed:
    """A view that a call is given, and what the call does with it."""

    privilege: Privilege
    view: View


@frozen
class Call:
    symbol: str
    arguments: tuple[Passed | Affine | Const, ...]
    origin: Origin = NO_ORIGIN


@frozen
class For:
    variable: str
    extent: Affine
    body: tuple[Stmt, ...]
    pipelined: int = 1
    origin: Origin = NO_ORIGIN


@frozen
class ParallelFor:
    variable: str
    extent: Affine
    proc: str
    body: tuple[Stmt, ...]
    reduced: tuple[str, ...] = ()
    origin: Origin = NO_ORIGIN


@frozen
class If:
    left: Affine
    comparison: Comparison
    right: Affine
    body: tuple[Stmt, ...]
    origin: Origin = NO_ORIGIN


Block: TypeAlias = For | ParallelFor | If
Stmt: TypeAlias = (
    Alloc
    | Copy
    | Start
    | Wait
    | Barrier
    | Fill
    | Map
    | Reduce
    | Mma
    | Call
    | For
    | ParallelFor
    | If
)


@frozen
class Param:
    name: str
    dtype: DType
    shape: tuple[Affine, ...]
    memory: str
    privilege: Privilege


@frozen
class Temp:
    """Memory that kernels hand to later ones; unwritten before the first."""

    name: str
    dtype: DType
    shape: tuple[Affine, ...]
    memory: str


@frozen
class Kernel:
    """One launch: the body runs once for each point of the grid, by so many threads."""

    name: str
    params: tuple[Param, ...]
    grid: tuple[tuple[str, Affine], ...]
    threads: int
    body: tuple[Stmt, ...]


@frozen
class Module:
    """Kernels that run one after the other on the module's arguments."""

    name: str
    machine: str
    params: tuple[Param, ...]
    temps: tuple[Temp, ...]
    kernels: tuple[Kernel, ...]

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of sizes in the parameters, in the order of their appearance."""
        names = (name for param in self.params for extent in param.shape for name in extent.names)
        return tuple(dict.fromkeys(names))

    def __str__(self) -> str:
        from eas.septran.flat.text import print_module

        return print_module(self)  # pyright: ignore[reportArgumentType]  # a link's second name


Buffer: TypeAlias = Param | Temp | Alloc


def bytes_of(dtype: DType) -> int:
    """The bytes of one element."""
    return DTYPES[dtype.name].numpy.itemsize


def body_of(stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements inside of one."""
    return stmt.body if isinstance(stmt, For | ParallelFor | If) else ()


def walk(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """All statements, also those inside of others, in the order of the text."""
    for stmt in body:
        yield stmt
        yield from walk(body_of(stmt))


def accesses(stmt: Stmt) -> Iterator[tuple[View, Privilege]]:
    """The views that a statement itself touches, those that it reads first."""
    match stmt:
        case Copy() | Start():
            yield stmt.source, "r"
            yield stmt.target, "w"
        case Fill():
            yield stmt.target, "w"
        case Map():
            for view in views_in(stmt.value):
                yield view, "r"
            yield stmt.target, "w"
        case Reduce():
            yield stmt.source, "r"
            yield stmt.target, "rw"
        case Mma():
            yield stmt.left, "r"
            yield stmt.right, "r"
            yield stmt.target, "rw"
        case Call():
            for each in stmt.arguments:
                if isinstance(each, Passed):
                    yield each.view, each.privilege
        case _:
            return


def holds(left: int, comparison: Comparison, right: int) -> bool:
    """Whether a comparison of two numbers is true."""
    match comparison:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case "==":
            return left == right
        case "!=":
            return left != right
        case ">":
            return left > right
        case ">=":
            return left >= right


def operands_of(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside of one."""
    match expr:
        case Unary() | Cast():
            return (expr.operand,)
        case Binary():
            return expr.left, expr.right
        case Select():
            return expr.condition, expr.yes, expr.no
        case _:
            return ()


def views_in(expr: Expr) -> Iterator[View]:
    """The views that an expression reads."""
    if isinstance(expr, Operand | Column):
        yield expr.view
    for operand in operands_of(expr):
        yield from views_in(operand)

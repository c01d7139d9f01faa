"""Which function of a library a statement is; shared by all printers of calls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from eas.septran.flat.affine import ONE, Affine, affine
from eas.septran.flat.nodes import (
    Alloc,
    Binary,
    Buffer,
    Call,
    Column,
    Const,
    Copy,
    Fill,
    Kernel,
    Map,
    Mma,
    Operand,
    Passed,
    Reduce,
    Start,
    Stmt,
    Unary,
    View,
    Wait,
    walk,
)
from eas.septran.targets.library import DTYPE_CODES, CopyFunctions, Library, TargetError
from eas.support.records import frozen, replace


@frozen
class Address:
    """The address of a view's first element."""

    view: View


@frozen
class Stride:
    """The elements from one row of a view to the next."""

    view: View


@frozen
class DtypeCode:
    """The number by which libraries know a dtype."""

    dtype: str

    @property
    def code(self) -> int:
        return DTYPE_CODES[self.dtype]


Argument: TypeAlias = Address | Stride | DtypeCode | Affine | float | Const


@frozen
class Chosen:
    """A call of a library's function."""

    function: str
    arguments: tuple[Argument, ...]


def chooser_for(kernel: Kernel, library: Library) -> Chooser:
    """Chooses functions for a kernel's statements.

    The copies of a token are started if one function can wait for all of them, and all have the
    same number of planes. (Otherwise a queue would count others than `keep` does.)
    """
    buffers: dict[str, Buffer] = {param.name: param for param in kernel.params}
    buffers.update((s.name, s) for s in walk(kernel.body) if isinstance(s, Alloc))
    chooser = Chooser(library, buffers, {}, {}, {})
    found: dict[str, set[tuple[str | None, int | None]]] = {}
    for stmt in walk(kernel.body):
        if isinstance(stmt, Start):
            plane = replace(stmt, target=_plane(stmt.target), source=_plane(stmt.source))
            functions = chooser.copy_functions(plane)
            wait = functions.wait if functions else None
            found.setdefault(stmt.token, set()).add((wait, _planes(stmt.source)))
    waits: dict[str, str] = {}
    planes: dict[str, int] = {}
    for token, ((wait, count), *others) in found.items():
        if wait is not None and count is not None and not others:
            waits[token], planes[token] = wait, count
    tokens = {token: number for number, token in enumerate(waits, 1)}
    return Chooser(library, buffers, tokens, waits, planes)


def _planes(view: View) -> int | None:
    """How many parts of two axes a view has, if that is one number."""
    outer = view.shape[:-2]
    return math.prod(each.value for each in outer) if all(e.is_constant for e in outer) else None


def _plane(view: View) -> View:
    """A view without its own axes but the last two."""
    own = [n for n, extent in enumerate(view.extents) if extent is not None]
    outer = own[:-2]
    extents = tuple(None if n in outer else each for n, each in enumerate(view.extents))
    return replace(view, extents=extents)


@frozen
class Chooser:
    """Chooses functions for the statements of one kernel."""

    library: Library
    buffers: Mapping[str, Buffer]
    tokens: Mapping[str, int]  # from 1 on; 0 is for copies that are waited for at once
    waits: Mapping[str, str]  # the function that waits for the copies of a token
    planes: Mapping[str, int]  # of each copy of a token: it is started once for each

    def choose(self, stmt: Stmt) -> tuple[Chosen, ...] | None:
        """The calls that do what a statement does, or None if the library has none."""
        match stmt:
            case Copy():
                return self._copy(stmt)
            case Start():
                return self._start(stmt)
            case Wait():
                return self._wait(stmt)
            case Fill():
                return self._fill(stmt)
            case Map():
                return self._map(stmt)
            case Reduce():
                return self._reduce(stmt)
            case Mma():
                return self._mma(stmt)
            case Call():
                return self._call(stmt)
            case _:
                return None

    def _copy(self, stmt: Copy) -> tuple[Chosen, ...] | None:
        functions = self.copy_functions(stmt)
        if functions is None:
            return None
        moved = self._moved(functions.copy, stmt, 0)
        if functions.wait is None:
            return (moved,)
        return moved, Chosen(functions.wait, (affine(0), affine(0)))

    def _start(self, stmt: Start) -> tuple[Chosen, ...]:
        functions = self.copy_functions(stmt)
        assert functions is not None, "legalize has made a copy of it"
        return (self._moved(functions.copy, stmt, self.tokens[stmt.token]),)

    def _wait(self, stmt: Wait) -> tuple[Chosen, ...]:
        function = self.waits[stmt.token]
        return (Chosen(function, (affine(self.tokens[stmt.token]), stmt.keep)),)

    def copy_functions(self, stmt: Copy | Start) -> CopyFunctions | None:
        """The functions that can do a copy as it is: of one dtype, row by row."""
        source, target = self._dtype(stmt.source), self._dtype(stmt.target)
        if source != target or not has_rows(stmt.source) or not has_rows(stmt.target):
            return None
        found = self.library.copies.get(f"{stmt.source.memory}->{stmt.target.memory}")
        is_taken = found is not None and (not found.dtypes or source in found.dtypes)
        return found if is_taken else None

    def _moved(self, function: str, stmt: Copy | Start, token: int) -> Chosen:
        arrays = (*_array(stmt.target), *_array(stmt.source))
        dtype = self._code(stmt.target)
        return Chosen(function, (*arrays, *rows_of(stmt.source), dtype, affine(token)))

    def _fill(self, stmt: Fill) -> tuple[Chosen, ...] | None:
        function = self.operation("fill", D=stmt.target)
        if function is None or not has_rows(stmt.target):
            return None
        extents = rows_of(stmt.target)
        given = (*_array(stmt.target), *extents, self._code(stmt.target), float(stmt.value))
        return (Chosen(function, given),)

    def _map(self, stmt: Map) -> tuple[Chosen, ...] | None:
        if isinstance(stmt.value, Operand):
            return self._copy_of(stmt.value.view, stmt)
        found = _map_operation(stmt)
        if found is None:
            return None
        operation, sources = found
        function = self.operation(operation, D=stmt.target, **sources)
        views = (stmt.target, *sources.values())
        is_plain = stmt.target.rank == 2 and all(map(has_rows, views))
        is_one_dtype = len({self._dtype(view) for view in views}) == 1
        is_float = self._dtype(stmt.target).startswith(("f", "b"))
        if function is None or not is_plain or not is_one_dtype or not is_float:
            return None
        arrays = [part for view in views for part in _matrix(view)]
        return (Chosen(function, (*arrays, *rows_of(stmt.target), self._code(stmt.target))),)

    def _copy_of(self, source: View, stmt: Map) -> tuple[Chosen, ...] | None:
        """A statement that only copies is a copy of the machine's."""
        if source.shape != stmt.target.shape:
            return None
        return self._copy(Copy(stmt.target, source, origin=stmt.origin))

    def operation(self, name: str, **operands: View) -> str | None:
        """The first function for an operation that takes the operands where they lie."""
        for function in self.library.operations.get(name, ()):
            if all(
                function.takes(operand, view.memory, self._dtype(view))
                for operand, view in operands.items()
            ):
                return function.name
        return None

    def _reduce(self, stmt: Reduce) -> tuple[Chosen, ...] | None:
        operation = {"max": "row_max", "add": "row_sum"}.get(stmt.kind, "")
        function = self.operation(operation, D=stmt.target, A=stmt.source)
        is_rows = stmt.source.rank == 2 and stmt.axis == 1 and has_rows(stmt.source)
        if function is None or not is_rows or not has_rows(stmt.target):
            return None
        if not self._dtype(stmt.target).startswith(("f", "bf")):
            return None
        target = (*_matrix(stmt.target), self._code(stmt.target))
        source = (*_array(stmt.source), *rows_of(stmt.source), self._code(stmt.source))
        return (Chosen(function, (*target, *source)),)

    def _mma(self, stmt: Mma) -> tuple[Chosen, ...] | None:
        function = self.library.product(stmt.primitive)
        views = (stmt.target, stmt.left, stmt.right)
        if function is None:
            return None
        if not all(map(has_rows, views)):
            raise TargetError(f"`{stmt.primitive}` takes rows, not columns of a buffer")
        transposed = ("a" in stmt.transposed) + 2 * ("b" in stmt.transposed)
        given: tuple[Argument, ...] = (
            *_array(stmt.target),
            self._code(stmt.target),
            *_array(stmt.left),
            *_array(stmt.right),
            self._code(stmt.left),
            *stmt.target.shape,
            stmt.depth,
            affine(transposed),
        )
        return (Chosen(function, given),)

    def _call(self, stmt: Call) -> tuple[Chosen, ...]:
        function = self.library.symbols.get(stmt.symbol)
        if function is None:
            raise TargetError(f"{self.library.name} has no symbol `{stmt.symbol}`")
        given: list[Argument] = []
        for argument in stmt.arguments:
            if isinstance(argument, Passed):
                if not has_rows(argument.view):
                    raise TargetError(f"`{stmt.symbol}` takes rows, not columns of a buffer")
                given += [*_array(argument.view), *rows_of(argument.view)]
            else:
                given.append(argument)
        return (Chosen(function, tuple(given)),)

    def _dtype(self, view: View) -> str:
        return self.buffers[view.buffer].dtype.name

    def _code(self, view: View) -> DtypeCode:
        return DtypeCode(self._dtype(view))


def has_rows(view: View) -> bool:
    """Whether a view of at most two axes has its elements side by side in each row."""
    is_last_own = not view.extents or view.extents[-1] is not None
    return view.rank <= 2 and (is_last_own or view.rank == 0)


def rows_of(view: View) -> tuple[Affine, Affine]:
    """The rows and columns of a view; one axis is one row."""
    extents = (ONE, ONE, *view.shape)
    return extents[-2], extents[-1]


def _array(view: View) -> tuple[Address, Stride]:
    return Address(view), Stride(view)


def _matrix(view: View) -> tuple[Address, Stride | Affine]:
    """An array of two axes; one axis is a column, which has a number for each row."""
    return Address(view), Stride(view) if view.rank == 2 else ONE


def _map_operation(stmt: Map) -> tuple[str, dict[str, View]] | None:
    """The operation that is all of an expression, and the operands that it reads."""
    shape = stmt.target.shape
    match stmt.value:
        case Unary("exp" | "gelu" as kind, Operand(source)) if source.shape == shape:
            return kind, {"A": source}
        case Binary("add" | "mul" as kind, Operand(left), Operand(right)) if (
            left.shape == shape and right.shape == shape
        ):
            return kind, {"A": left, "B": right}
        case Binary("mul", Operand(left), Operand(right)) if (
            left.shape == shape and right.shape == (*shape[:-1], ONE)
        ):
            return "scale_rows", {"A": left, "R": right}
        case Binary("mul", Operand(left), Column(right)) if left.shape == shape:
            return "scale_rows", {"A": left, "R": right}
        case _:
            return None

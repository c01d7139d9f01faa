"""Runs statements without control flow on NumPy arrays: what a leaf task is.

`interpret` runs whole modules and finds what a machine would do silently wrong. Here nothing is
checked, and what the statements say is looked up once for many runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from eas.ir.types import DType
from eas.septran.flat.element_meanings import ShapeError, compute, multiply, padded, reduce_along
from eas.septran.flat.nodes import (
    Alloc,
    Column,
    Copy,
    Expr,
    Fill,
    Map,
    Mma,
    Operand,
    Reduce,
    Stmt,
    View,
    operands_of,
)
from eas.septran.flat.run_errors import FlatRunError
from eas.septran.flat.tracking import poisoned

Array: TypeAlias = np.ndarray[Any, Any]
Arrays: TypeAlias = dict[str, Array]
Action: TypeAlias = Callable[[Arrays], None]


def compile_straight(body: Sequence[Stmt], dtypes: Mapping[str, DType]) -> Action:
    """A function that runs statements on arrays by name, which hold these dtypes.

    Views and expressions of the statements are constant. What they allocate is added to the arrays.
    """
    known = {**dtypes, **{each.name: each.dtype for each in body if isinstance(each, Alloc)}}
    actions = [(stmt, _compiled(stmt, known)) for stmt in body]

    def run(arrays: Arrays) -> None:
        for stmt, action in actions:
            try:
                action(arrays)
            except ShapeError as error:
                raise FlatRunError(str(error), stmt) from None

    return run


def _compiled(stmt: Stmt, dtypes: Mapping[str, DType]) -> Action:
    match stmt:
        case Alloc():
            return lambda arrays: arrays.update({stmt.name: poisoned(stmt.shape, stmt.dtype)})
        case Fill(target, value):
            at = _reader(target)
            return lambda arrays: at(arrays).fill(value)
        case Copy():
            return _copy(stmt, dtypes[stmt.target.buffer])
        case Map(target, value):
            return _map(target, value)
        case Reduce():
            return _reduce(stmt, dtypes[stmt.target.buffer])
        case Mma():
            return _mma(stmt, dtypes[stmt.target.buffer])
        case _:
            raise FlatRunError("NumPy has no meaning for this", stmt)


def _reader(view: View) -> Callable[[Arrays], Array]:
    """What gives the elements of a view, to be read and written."""
    name = view.buffer
    index = (
        *(
            offset.value if extent is None else slice(offset.value, offset.value + extent.value)
            for offset, extent in zip(view.offsets, view.extents, strict=True)
        ),
        ...,
    )
    return lambda arrays: arrays[name][index]


def _copy(stmt: Copy, dtype: DType) -> Action:
    source, target = _reader(stmt.source), _reader(stmt.target)

    def run(arrays: Arrays) -> None:
        found = target(arrays)
        found[...] = padded(source(arrays), found.shape, stmt.fill, dtype)

    return run


def _map(target: View, value: Expr) -> Action:
    at, readers = _reader(target), {id(each): _reader(each.view) for each in _operands(value)}

    def run(arrays: Arrays) -> None:
        def read(expr: Operand | Column) -> Array:
            found = readers[id(expr)](arrays)
            return found[:, None] if isinstance(expr, Column) else found

        found = at(arrays)
        found[...] = compute(value, found.shape, read, lambda number: number.value)

    return run


def _operands(expr: Expr) -> Iterator[Operand | Column]:
    if isinstance(expr, Operand | Column):
        yield expr
    for operand in operands_of(expr):
        yield from _operands(operand)


def _reduce(stmt: Reduce, dtype: DType) -> Action:
    source, target = _reader(stmt.source), _reader(stmt.target)

    def run(arrays: Arrays) -> None:
        found = target(arrays)
        found[...] = reduce_along(stmt.kind, found, source(arrays), stmt.axis, dtype)

    return run


def _mma(stmt: Mma, dtype: DType) -> Action:
    left, right, target = _reader(stmt.left), _reader(stmt.right), _reader(stmt.target)

    def run(arrays: Arrays) -> None:
        found = target(arrays)
        found[...] = multiply(found, left(arrays), right(arrays), stmt.transposed, dtype)

    return run

"""The words of reports: the program and the lane of a fault, and the values there."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from eas.ir.nodes import Value
from eas.ir.ops.record import Array
from eas.ir.types import DType, Shape
from eas.runtime.errors import KernelError
from eas.runtime.interpreter.active_lanes import Lanes, both
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.programs import Programs
from eas.runtime.report_codes import WRAPPED_OFFSET
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc

# A row of the chunk's arrays, then the index in the block.
Spot = tuple[int, ...]


def fail(
    code: str,
    message: str,
    loc: Loc,
    label: str = "",
    notes: tuple[str, ...] = (),
    help: tuple[str, ...] = (),
) -> NoReturn:
    raise KernelError((Diagnostic(code, message, loc, label, notes=notes, help=help),))


def find(bad: Array, lanes: Lanes, shape: Shape) -> Spot | None:
    """The first active lane of a value of that shape where `bad` holds."""
    where = both(bad, lanes.over(shape))
    assert where is not None
    return first_true(where) if where.any() else None


def check_exact(
    chunk: Chunk, value: Value, where: Array | None, loc: Loc, name: str, way: str
) -> None:
    """Reports a lane of an offset or an index that differs from its value in i64.

    `where` are the active lanes, None is all of them.
    """
    found, exact = chunk[value], chunk.values[chunk.plan.exact[value.id]]
    bad = both(found != exact, where)
    assert bad is not None
    if not bad.any():
        return
    spot, dtype = first_true(bad), value.ty.dtype
    at, meant = value_at(found, spot), value_at(exact, spot)
    fail(
        WRAPPED_OFFSET,
        f"{name} has wrapped: {meant} became {at}",
        loc,
        "a part of it has wrapped" if _fits(meant, dtype) else f"{meant} does not fit into {dtype}",
        notes=(describe_lane(chunk, spot),),
        help=(f"compute it in i64, as in `{way}`",),
    )


def _fits(number: str, dtype: DType) -> bool:
    return dtype.min <= int(number) <= dtype.max


def first_active(lanes: Lanes) -> Spot:
    return (0,) if lanes.where is None else first_true(lanes.where)


def first_true(where: Array) -> Spot:
    return tuple(int(i) for i in np.unravel_index(int(where.argmax()), where.shape))


def value_at(a: Array, spot: Spot) -> str:
    """The element of a value at a position, as text."""
    return str(a[tuple(min(i, extent - 1) for i, extent in zip(spot, a.shape, strict=True))])


def describe_lane(chunk: Chunk, spot: Spot) -> str:
    """The program in the grid, and its lane, in words."""
    program = describe_program(chunk.programs, chunk.programs.first + spot[0])
    if len(spot) == 1:
        return program
    word = "lane" if chunk.function.threads is None else "thread"
    return f"{program}, {word} {_index(spot[1:])}"


def describe_program(programs: Programs, number: int) -> str:
    rank = max((i for i, extent in enumerate(programs.grid, 1) if extent > 1), default=1)
    place, grid = programs.place(number)[:rank], programs.grid[:rank]
    return f"program {_index(place)} of a grid of {_index(grid)}"


def _index(index: tuple[int, ...]) -> str:
    return str(index[0] if len(index) == 1 else index)

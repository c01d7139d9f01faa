"""Accesses outside of an array: their codes, and what every backend reports of them."""

from __future__ import annotations

from typing import Literal

from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc
from eas.support.records import frozen

READ_OUT_OF_BOUNDS = "R0101"
WRITE_OUT_OF_BOUNDS = "R0102"
ATOMIC_OUT_OF_BOUNDS = "R0103"
INDEX_OUT_OF_BOUNDS = "R0104"

AccessKind = Literal["read", "written", "updated"]

_CODES: dict[AccessKind, str] = {
    "read": READ_OUT_OF_BOUNDS,
    "written": WRITE_OUT_OF_BOUNDS,
    "updated": ATOMIC_OUT_OF_BOUNDS,
}


@frozen
class Extent:
    """The memory of an array: the offsets from `low` to below `high` are inside.

    Threadgroup memory has no `shape`: the IR only has its size.
    """

    name: str
    shape: tuple[int, ...] | None
    low: int
    high: int

    @property
    def note(self) -> str:
        if self.shape is None:
            has = f"`{self.name}` has {self.high - self.low} elements"
        else:
            has = f"`{self.name}` has the shape {self.shape}"
        if self.low == self.high:
            return f"{has}: it has no elements"
        return f"{has}: offsets {self.low} to {self.high - 1} are inside"


def outside(
    kind: AccessKind, extent: Extent, offset: int, loc: Loc, place: str, is_masked: bool
) -> Diagnostic:
    """An access at an offset outside of its array; `place` names the program and lane."""
    return Diagnostic(
        _CODES[kind],
        f"`{extent.name}` is {kind} out of bounds, at offset {offset}",
        loc,
        f"offset {offset}",
        notes=(extent.note, place),
        help=() if is_masked else ("a `mask` keeps lanes away from memory",),
    )


def bad_index(array: str, axis: int, index: int, extent: int, loc: Loc, place: str) -> Diagnostic:
    """An index that its axis does not have."""
    return Diagnostic(
        INDEX_OUT_OF_BOUNDS,
        f"`{array}` has no index {index} along axis {axis}",
        loc,
        f"index {index}, but the axis has {extent} elements",
        notes=(place,),
    )


def too_many_programs(limit: int, programs: int) -> str:
    """Why a launch is refused whose indices of i32 would wrap."""
    return (
        f"its indices are for {limit} programs along an axis, not {programs}: "
        "compute them in i64, as in `mk.program_id(0).to(mk.i64) * BLOCK`"
    )

"""How many programs a launch has along each axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eas.runtime.refusals import BadArgument

MAX_EXTENT = 2**31 - 1
MAX_AXES = 3
MAX_PROGRAMS = 2**63 - 1

Extent = int | np.integer[Any]
Extents = Extent | tuple[Extent, ...] | list[Extent]
Grid = Extents | Callable[[dict[str, Any]], Extents]


def resolve_grid(grid: Grid, arguments: dict[str, Any]) -> tuple[int, ...]:
    """The extents of a grid given as an int, a tuple, or a function of the arguments."""
    extents: Any = _called(grid, arguments) if callable(grid) else grid
    if type(extents) not in (tuple, list):
        extents = (extents,)
    if not 1 <= len(extents) <= MAX_AXES:
        raise BadArgument(f"a grid has one to {MAX_AXES} axes, not {len(extents)}: {extents!r}")
    checked = tuple(map(_checked, extents))
    if math.prod(checked) > MAX_PROGRAMS:
        raise BadArgument(f"a launch has at most {MAX_PROGRAMS} programs, not {checked}")
    return checked


def _called(grid: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        return grid(arguments)
    except Exception as error:
        known = ", ".join(arguments)
        raise BadArgument(
            f"the function that gives the grid raised {type(error).__name__}: {error} "
            f"(it gets a dict with {known})"
        ) from error


def implicit_grid(values: Mapping[str, Any], constants: Mapping[str, Any]) -> tuple[int, ...]:
    """`ceil(N / BLOCK)` programs, for a kernel with an integer `N` and a constexpr `BLOCK`."""
    n: Any = values.get("N", _ABSENT)
    block: Any = constants.get("BLOCK", _ABSENT)
    if not is_int(n) or not is_int(block):
        raise BadArgument(
            "give a grid: `kernel[grid](...)`. Without one the grid is ceil(N / BLOCK), and that "
            f"takes an integer argument `N` ({_found(n)}) and a constexpr `BLOCK` ({_found(block)})"
        )
    if n < 0 or block < 1:
        raise BadArgument(f"the grid is ceil(N / BLOCK), but N is {n} and BLOCK is {block}")
    return (_checked(-(-int(n) // int(block))),)


_ABSENT = object()


def _found(value: Any) -> str:
    if value is _ABSENT:
        return "there is none"
    if isinstance(value, np.ndarray):
        return "found an array"
    if is_int(value):
        return "found"
    return f"found `{value}`" if isinstance(value, np.generic) else f"found `{value!r}`"


def is_int(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _checked(extent: Any) -> int:
    if not is_int(extent):
        raise BadArgument(f"an extent of a grid is an int, not `{extent!r}`")
    if not 0 <= extent <= MAX_EXTENT:
        raise BadArgument(f"an extent of a grid is 0 to {MAX_EXTENT}, not {extent}")
    return int(extent)

"""How many programs a launch has along each axis, and how many threads each of them has.

A grid is given as an int, a tuple or a function. Without one it follows from sizes. Which sizes
these are depends on how many axes of the grid the kernel uses:

| the kernel uses | the grid | the sizes |
|---|---|---|
| `program_id(0)` | `ceil(N / BLOCK)` | `N`, or `_nthreads`, or `_shape=(N,)` |
| `program_id(1)` | `(ceil(W / BLOCK), H)` | `W` and `H`, or `_shape=(H, W)` |
| `program_id(2)` | `(ceil(W / BLOCK), H, D)` | `W`, `H` and `D`, or `_shape=(D, H, W)` |
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from types import FunctionType
from typing import Any, cast

import numpy as np

from eas.runtime.refusals import BadArgument
from eas.support.records import field, frozen

MAX_EXTENT = 2**31 - 1
MAX_AXES = 3
MAX_PROGRAMS = 2**63 - 1
MAX_THREADS = 1024

# The arguments that a grid follows from, by the number of axes that the kernel uses.
SIZES: dict[int, tuple[str, ...]] = {1: ("N",), 2: ("W", "H"), 3: ("W", "H", "D")}

Extent = int | np.integer[Any]
Extents = Extent | tuple[Extent, ...] | list[Extent]


@frozen
class Implied:
    """A grid that follows from sizes: `_shape`, `_nthreads`, else arguments of certain names."""

    shape: tuple[int, ...] | None = None
    count: int | None = None


Grid = Extents | Callable[..., Extents] | Implied
Threads = int | tuple[int, ...]


@frozen
class GridUse:
    """How a kernel uses its grid: how many `axes`, and which sizes its blocks of indices have.

    It `has_tiles` if it uses `program_id(0)`.
    """

    axes: int = 1
    sizes: tuple[int, ...] = ()
    has_tiles: bool = False

    @property
    def block(self) -> int:
        """What stands for `BLOCK` in a kernel without it; 0 where that is not clear."""
        return self.sizes[0] if self.has_tiles and len(self.sizes) == 1 else 0

    @property
    def formula(self) -> str:
        """`ceil(N / BLOCK)`, or `(ceil(W / BLOCK), H)`."""
        first, *others = SIZES[self.axes]
        tiles = f"ceil({first} / BLOCK)"
        return f"({', '.join((tiles, *others))})" if others else tiles


@frozen
class GridArguments:
    """What a grid may depend on: the constexpr arguments, and the others, numbers among them."""

    meta: Mapping[str, Any]
    scalars: Mapping[str, Any]
    runtime: Mapping[str, Any] = field(default_factory=dict[str, Any])


def implied_grid(grid: object, shape: Any, count: Any) -> Implied:
    """The grid of `_shape` or `_nthreads`, of which a launch gives one, and no `_grid`."""
    given = {"_grid": grid, "_shape": shape, "_nthreads": count}
    names = [f"`{name}`" for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise BadArgument(f"the grid is given {len(names)} times, by {' and '.join(names)}")
    if count is not None:
        return Implied(count=_size(count, "`_nthreads`"))
    sizes = _as_tuple(shape)
    if not 1 <= len(sizes) <= MAX_AXES:
        raise BadArgument(f"`_shape` has one to {MAX_AXES} sizes, not {len(sizes)}: {shape!r}")
    return Implied(tuple(_size(size, "a size in `_shape`") for size in sizes))


def _as_tuple(given: object) -> tuple[Any, ...]:
    return tuple(cast(Sequence[Any], given)) if isinstance(given, tuple | list) else (given,)


def _size(value: Any, what: str) -> int:
    if not is_int(value):
        raise BadArgument(f"{what} is an int, not `{value!r}`")
    if value < 0:
        raise BadArgument(f"{what} is at least 0, not {value}")
    return int(value)


def resolve_grid(
    grid: Grid | None, arguments: GridArguments, use: GridUse | None = None
) -> tuple[int, ...]:
    """The extents of a grid that is given, or that follows from sizes."""
    if grid is None or isinstance(grid, Implied):
        values = {**arguments.runtime, **arguments.scalars}
        return implicit_grid(values, arguments.meta, use or GridUse(), grid or Implied())
    extents: Any = _called(grid, arguments) if callable(grid) else grid
    if type(extents) not in (tuple, list):
        extents = (extents,)
    if not 1 <= len(extents) <= MAX_AXES:
        raise BadArgument(f"a grid has one to {MAX_AXES} axes, not {len(extents)}: {extents!r}")
    return _within_limits(tuple(map(_checked, extents)))


def _within_limits(extents: tuple[int, ...]) -> tuple[int, ...]:
    if math.prod(extents) > MAX_PROGRAMS:
        raise BadArgument(f"a launch has at most {MAX_PROGRAMS} programs, not {extents}")
    return extents


def _called(grid: Callable[..., Any], arguments: GridArguments) -> Any:
    """What a function says: of one dict with all numbers, or of `(meta, runtime_args)`."""
    is_pair = takes_pair(grid)
    runtime = {**arguments.runtime, **arguments.scalars}
    known = {**arguments.scalars, **arguments.meta}
    try:
        return grid(dict(arguments.meta), runtime) if is_pair else grid(known)
    except Exception as error:
        gets = f"dicts with {_listed(arguments.meta)} and with {_listed(runtime)}"
        raise BadArgument(
            f"the function that gives the grid raised {type(error).__name__}: {error} "
            f"(it gets {gets if is_pair else f'a dict with {_listed(known)}'})"
        ) from error


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(names) or "nothing"


def takes_pair(grid: Callable[..., Any]) -> bool:
    """Whether a function that gives a grid is to be called with `(meta, runtime_args)`.

    It is if it has two parameters without defaults. One with one, or with a star, gets one dict.

    >>> takes_pair(lambda meta: 4), takes_pair(lambda meta, n=4: n), takes_pair(lambda m, r: 4)
    (False, False, True)
    """
    count = _required(grid)
    if count > 2:
        raise BadArgument(
            f"the function that gives the grid has {count} parameters: it gets one dict, or the "
            "two of `(meta, runtime_args)`"
        )
    return count == 2


def _required(grid: Callable[..., Any]) -> int:
    """How many arguments by position a function needs; each launch asks, so plain ones are fast."""
    if type(grid) is FunctionType and not hasattr(grid, "__wrapped__"):
        code = grid.__code__
        if not code.co_kwonlyargcount:
            return code.co_argcount - len(grid.__defaults__ or ())
    try:
        parameters = inspect.signature(grid).parameters.values()
    except (TypeError, ValueError):  # a function of C's
        return 1
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if named:
        raise BadArgument(f"the function that gives the grid needs `{named[0]}=`, by name only")
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in by_place and p.default is p.empty for p in parameters)


def implicit_grid(
    values: Mapping[str, Any],
    constants: Mapping[str, Any],
    use: GridUse | None = None,
    implied: Implied | None = None,
) -> tuple[int, ...]:
    """The grid that follows from sizes, as the table above says."""
    use, implied = use or GridUse(), implied or Implied()
    names = SIZES[use.axes]
    sizes = _given_sizes(use, implied)
    found = [values.get(name, constants.get(name, _ABSENT)) for name in names] if not sizes else []
    block: Any = constants.get("BLOCK", use.block or _ABSENT)
    if not all(map(is_int, found)) or not is_int(block):
        raise BadArgument(_what_is_needed(use, found, constants.get("BLOCK", _ABSENT)))
    sizes = sizes or found
    if min(sizes) < 0 or block < 1:
        pairs = [*zip(names, sizes, strict=True), ("BLOCK", block)]
        *first, last = [f"{name} is {value}" for name, value in pairs]
        raise BadArgument(f"the grid is {use.formula}, but {', '.join(first)} and {last}")
    width, *others = map(int, sizes)
    return _within_limits(tuple(map(_checked, (-(-width // int(block)), *others))))


@frozen
class RuleExtent:
    """An extent of a grid that follows from sizes: `ceil(size / divisor)`.

    `size` is the name of an argument, or a number that is known.
    """

    size: str | int
    divisor: int = 1


def grid_rule(
    use: GridUse, integers: Collection[str], constants: Mapping[str, Any]
) -> tuple[RuleExtent, ...] | None:
    """How a grid follows from the integer arguments, before their values are known.

    None for a kernel that lacks one of them: its grid has to be given.
    """
    block: Any = constants.get("BLOCK", use.block)
    if not is_int(block) or block < 1:
        return None
    sizes: list[str | int] = []
    for name in SIZES[use.axes]:
        size: Any = name if name in integers else constants.get(name)
        if not (size == name or (is_int(size) and size >= 0)):
            return None
        sizes.append(name if size == name else int(size))
    return (RuleExtent(sizes[0], int(block)), *map(RuleExtent, sizes[1:]))


def _given_sizes(use: GridUse, implied: Implied) -> list[Any]:
    """The sizes that the launch gives, the one of axis 0 first; none if arguments have them."""
    shown = f"({', '.join(reversed(SIZES[use.axes]))}{',' * (use.axes == 1)})"
    if implied.count is not None:
        if use.axes > 1:
            raise BadArgument(
                f"`_nthreads` is for kernels of one axis, and this one uses "
                f"`program_id({use.axes - 1})`: give `_shape={shown}`"
            )
        return [implied.count]
    if implied.shape is None:
        return []
    if len(implied.shape) != use.axes:
        raise BadArgument(
            f"`_shape` is {shown} for a kernel that uses `program_id({use.axes - 1})`"
            f"{' at most' * (use.axes < MAX_AXES)}, not {implied.shape}"
        )
    return list(reversed(implied.shape))


def _what_is_needed(use: GridUse, found: Sequence[Any], block: Any) -> str:
    names = SIZES[use.axes]
    why = f", because the kernel uses `program_id({use.axes - 1})`" if use.axes > 1 else ""
    sizes = [f"`{name}` ({_found(value)})" for name, value in zip(names, found, strict=False)]
    *first, last = sizes or [""]
    noun = "integer arguments" if first else "an integer argument"
    words = f"{noun} {' and '.join(filter(None, (', '.join(first), last)))} and " if last else ""
    is_rest_there = not any(value is _ABSENT for value in found)
    has_size = block is _ABSENT and use.block and is_rest_there
    in_brackets = f"{use.block} stands for it" if has_size else _found(block)
    instead = f", or `_shape=({', '.join(reversed(names))})`" if use.axes > 1 and last else ""
    return (
        f"give a grid: `kernel[grid](...)`. Without one the grid is {use.formula}{why}, and that "
        f"takes {words}a constexpr `BLOCK` ({in_brackets}){instead}"
    )


_ABSENT = object()


def _found(value: Any) -> str:
    if value is _ABSENT:
        return "there is none"
    if hasattr(value, "shape") and not isinstance(value, np.generic):
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


def read_threads(given: Any) -> Threads:
    """The threads of a program, `_tptg`: an int, or a tuple of up to three.

    A tuple with one extent above 1 is that int. Of several axes only kernels for blocks can be.

    >>> read_threads(64), read_threads((64, 1, 1)), read_threads((8, 8))
    (64, 64, (8, 8))
    """
    extents = _as_tuple(given)
    is_right = 1 <= len(extents) <= MAX_AXES and all(is_int(each) and each > 0 for each in extents)
    if not is_right or math.prod(map(int, extents)) > MAX_THREADS:
        is_tuple = isinstance(given, tuple | list)
        words = "a tuple of up to three, whose product is" if is_tuple else "an int from"
        raise BadArgument(f"`_tptg` is {words} 1 to {MAX_THREADS}, not {given!r}")
    first, *others = map(int, extents)
    return (first, *others) if any(each > 1 for each in others) else first


def count_threads(threads: Threads | None) -> int | None:
    """How many threads there are along all axes."""
    return math.prod(threads) if isinstance(threads, tuple) else threads


def check_axes(threads: Threads | None, is_threaded: bool) -> None:
    """Refuses threads of several axes for a kernel that is written for one."""
    if isinstance(threads, tuple) and is_threaded:
        raise BadArgument(
            f"`_tptg={cast(object, threads)}` has several axes, and in a kernel for threads "
            f"(`mk.tid`) a threadgroup has one: `_tptg={math.prod(threads)}`, and rows and columns "
            "are `t // WIDTH` and `t % WIDTH`"
        )

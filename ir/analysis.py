"""Which arrays a function reads and writes, and where its lanes diverge and join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from eas.ir.nodes import (
    Atomic,
    Break,
    Compute,
    Condition,
    Continue,
    Exit,
    For,
    Function,
    If,
    Leave,
    Load,
    Loop,
    Op,
    Region,
    Scope,
    Store,
    Structured,
    Value,
    While,
    Yield,
    regions_of,
    walk,
)
from eas.ir.types import Shape, broadcast_shapes
from eas.support.location import Loc
from eas.support.records import frozen


def writes(f: Function) -> tuple[str, ...]:
    """The names of the array parameters that a function may change, in the parameters' order."""
    return _touched(f, (Store, Atomic))


def reads(f: Function) -> tuple[str, ...]:
    """The names of the array parameters that a function may read, in the parameters' order."""
    return _touched(f, (Load, Atomic))


def _touched(f: Function, kinds: tuple[type[Load | Store | Atomic], ...]) -> tuple[str, ...]:
    touched = {op.pointer.id for op in walk(f.body) if isinstance(op, kinds)}
    return tuple(p.name for p in f.params if p.value.id in touched)


def grid_axes(f: Function) -> tuple[int, ...]:
    """The axes of the grid whose `program_id` a function uses, in order."""
    return _attributes(f, "program_id", "axis")


def index_sizes(f: Function) -> tuple[int, ...]:
    """How many indices `arange` gives, each size once; or how many threads a program has."""
    return _attributes(f, "arange", "size") if f.threads is None else (f.threads,)


def _attributes(f: Function, op: str, name: str) -> tuple[int, ...]:
    ops = (each for each in walk(f.body) if isinstance(each, Compute) and each.op.name == op)
    return tuple(sorted({cast(int, each.attr(name)) for each in ops}))


@frozen
class Split:
    """Only some lanes of a shape are here: conditions have split them, the last one at `loc`."""

    shape: Shape
    loc: Loc


@frozen
class Join:
    """A join of paths: the split of the lanes on them, and the values that each path passes."""

    split: Split | None
    paths: tuple[tuple[Value, ...], ...]


Outgoing = tuple[tuple[Exit, Split | None], ...]


@frozen
class Divergence:
    """How lanes diverge and join in an op with regions, apart from splits around it.

    `inside` splits its regions. `results` joins the paths out of it, `carried` the paths from one
    trip of a loop to the next. `exits` are those below it that leave something around it: the ops
    after it run without the lanes that took them.
    """

    inside: Split | None
    results: Join
    exits: Outgoing
    carried: Join | None = None


def splits(f: Function) -> dict[int, Split]:
    """The split of each op that some lanes may not reach, by the op's number."""
    return {op.number: split for op, split in placed(f.body, divergences(f)) if split is not None}


def placed(
    region: Region, found: dict[int, Divergence], split: Split | None = None
) -> Iterator[tuple[Op, Split | None]]:
    """Every op of a region with its split, in the order of the text; `split` is the region's."""
    for op in region.ops:
        yield op, split
        if isinstance(op, Structured):
            divergence = found[op.number]
            inside = cover(split, divergence.inside)
            for inner in regions_of(op):
                yield from placed(inner, found, inside)
            split = cover_all(split, divergence.exits)


def divergences(f: Function) -> dict[int, Divergence]:
    """How lanes diverge and join in each op with regions, by the op's number."""
    found: dict[int, Divergence] = {}
    _follow(f.body, found)
    return found


def divergence(op: Structured) -> Divergence:
    """How lanes diverge and join in one op."""
    return _diverge(op, {})


def exhaustion(loop: Loop) -> Split | None:
    """The split by which lanes exhaust a loop in different trips, apart from its exits."""
    if isinstance(loop, For):
        return _split_by(loop.start, loop.loc)
    test = loop.test.terminator
    return _split_by(test.condition, test.loc) if isinstance(test, Condition) else None


def covers(shape: Shape, split: Shape) -> bool:
    """Whether a value of a shape can differ in each lane of a split."""
    return broadcast_shapes(shape, split) == shape


def cover(a: Split | None, b: Split | None) -> Split | None:
    """Both splits, one after the other. Of shapes that do not broadcast the first is used."""
    if a is None or b is None:
        return a or b
    return Split(broadcast_shapes(a.shape, b.shape) or a.shape, b.loc)


def cover_all(split: Split | None, exits: Iterable[tuple[Exit, Split | None]]) -> Split | None:
    """A split, and those of exits."""
    for _, other in exits:
        split = cover(split, other)
    return split


@frozen
class _Flow:
    """The paths out of a region: its exits, and what its end passes, if that is reached."""

    exits: Outgoing
    end: tuple[tuple[Value, ...], ...]


def _follow(region: Region, found: dict[int, Divergence]) -> _Flow:
    exits: list[tuple[Exit, Split | None]] = []
    skipped: Split | None = None  # by lanes that are in the next trip already
    reached = True
    for op in region.ops:
        if isinstance(op, Structured):
            divergence = found[op.number] = _diverge(op, found)
            if reached:
                exits += [(leaving, cover(skipped, split)) for leaving, split in divergence.exits]
            skips = [each for each in divergence.exits if isinstance(each[0], Continue)]
            skipped = cover_all(skipped, skips)
            reached = reached and bool(divergence.results.paths)
    last = region.terminator
    if reached and isinstance(last, Exit):
        exits.append((last, skipped))
    end = (last.values,) if reached and isinstance(last, Yield) else ()
    return _Flow(tuple(exits), end)


def _diverge(op: Structured, found: dict[int, Divergence]) -> Divergence:
    match op:
        case If():
            return _diverge_if(op, found)
        case Scope():
            return _diverge_scope(op, found)
        case For():
            return _diverge_loop(op, found)
        case While():
            _follow(op.test, found)
            return _diverge_loop(op, found)


def _split_by(condition: Value, loc: Loc) -> Split | None:
    return Split(condition.shape, loc) if condition.shape else None


def _diverge_if(op: If, found: dict[int, Divergence]) -> Divergence:
    split = _split_by(op.condition, op.loc)
    then, orelse = _follow(op.then, found), _follow(op.orelse, found)
    exits = [(leaving, cover(split, inner)) for leaving, inner in (*then.exits, *orelse.exits)]
    return Divergence(split, Join(split, (*then.end, *orelse.end)), tuple(exits))


def _diverge_scope(op: Scope, found: dict[int, Divergence]) -> Divergence:
    body = _follow(op.body, found)
    own: list[tuple[Exit, Split | None]] = []
    passing: list[tuple[Exit, Split | None]] = []
    for leaving, split in body.exits:
        is_own = isinstance(leaving, Leave) and leaving.label == op.label
        (own if is_own else passing).append((leaving, split))
    paths = (*(leaving.values for leaving, _ in own), *body.end)
    return Divergence(None, Join(cover_all(None, own), paths), tuple(passing))


def _diverge_loop(op: Loop, found: dict[int, Divergence]) -> Divergence:
    body, orelse = _follow(op.body, found), _follow(op.orelse, found)
    again = [each for each in body.exits if isinstance(each[0], Continue)]
    breaks = [each for each in body.exits if isinstance(each[0], Break)]
    leaves = [each for each in body.exits if isinstance(each[0], Leave)]
    left = cover_all(cover_all(exhaustion(op), breaks), leaves)
    return Divergence(
        left,
        Join(left, (*(leaving.values for leaving, _ in breaks), *orelse.end)),
        tuple((leaving, cover(left, split)) for leaving, split in (*leaves, *orelse.exits)),
        Join(cover_all(None, again), (*(leaving.values for leaving, _ in again), *body.end)),
    )

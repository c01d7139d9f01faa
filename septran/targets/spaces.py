"""Memories with addresses of their own: where arrays lie in them, which only functions touch."""

from __future__ import annotations

import math
from collections.abc import Callable

from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import (
    Alloc,
    Copy,
    For,
    If,
    Kernel,
    Module,
    ParallelFor,
    Stmt,
    View,
    accesses,
    bytes_of,
    walk,
)
from eas.septran.flat.padding import zero_padded
from eas.septran.targets.library import Library, Space, TargetError
from eas.support.records import replace


def place_arrays(kernel: Kernel, library: Library) -> dict[str, int]:
    """The addresses of a kernel's arrays in such memories, one after the other."""
    ends = {name: space.base for name, space in library.spaces.items()}
    found: dict[str, int] = {}
    for stmt in walk(kernel.body):
        if not isinstance(stmt, Alloc) or stmt.memory not in library.spaces:
            continue
        space = library.spaces[stmt.memory]
        unit = (space.row or 1) * bytes_of(stmt.dtype)
        found[stmt.name] = -(-ends[stmt.memory] // unit) * unit
        ends[stmt.memory] = found[stmt.name] + _elements(stmt, space) * bytes_of(stmt.dtype)
    for name, space in library.spaces.items():
        used = ends[name] - space.base
        if space.capacity is not None and used > space.capacity:
            message = f"{name} holds {space.capacity:,} bytes, and arrays in rows of {space.row}"
            raise TargetError(f"{message} elements take {used:,}: use smaller tiles")
    return found


def _elements(alloc: Alloc, space: Space) -> int:
    return alloc.slots * _slot(alloc, space)


def _slot(alloc: Alloc, space: Space) -> int:
    """The elements of one slot, whole rows of the memory."""
    *outer, columns = alloc.shape or (1,)
    row = space.row or 1
    return math.prod(outer) * -(-columns // row) * row


def panel_stride(alloc: Alloc, space: Space) -> int:
    """The elements from one panel of an array to the next; without rows, from a row to the next."""
    *outer, columns = alloc.shape or (1,)
    return columns if space.row is None else (outer[-1] if outer else 1) * space.row


def panel_index(view: View, alloc: Alloc, space: Space) -> Affine:
    """The element at which a view begins, counted from where its array lies."""
    index = (view.slot or affine(0)) * _slot(alloc, space)
    row = space.row or 1
    *outer, _ = alloc.shape or (1,)
    *before, column = view.offsets or (affine(0),)
    if any(number % row for number in (column.constant, *(each for _, each in column.terms))):
        message = f"a tile of `{view.buffer}` begins inside of a row of {view.memory}"
        raise TargetError(f"{message}, which has {row} elements: use tiles of a multiple of {row}")
    if space.row is None:
        strides = [math.prod(alloc.shape[axis + 1 :]) for axis in range(len(outer))]
        return sum((o * s for o, s in zip(before, strides, strict=True)), index + column)
    index += column * (outer[-1] if outer else 1)
    size = _slot(alloc, space)
    for axis, offset in enumerate(before[:-1]):
        size //= alloc.shape[axis]
        index += offset * size
    return index + (before[-1] * row if before else 0)


def check_reach(stmt: Stmt, library: Library) -> None:
    """Raises if a statement that is no call touches elements that only functions reach."""
    for view, _ in accesses(stmt):
        if view.memory in library.spaces:
            message = f"`{library.name}` has no function for this on `{view.buffer}` in"
            line = f" ({stmt.origin.because})" if stmt.origin.because else ""
            raise TargetError(f"{message} {view.memory}{line}: place it in another memory")


def drop_unread_fills(module: Module, library: Library) -> Module:
    """Copies into such memories without padding, along axes where nothing reads it."""
    if not library.spaces:
        return module
    return replace(module, kernels=tuple(_drop(kernel, library) for kernel in module.kernels))


def _drop(kernel: Kernel, library: Library) -> Kernel:
    padded = zero_padded(kernel)
    reads: dict[str, list[View]] = {}
    for stmt in walk(kernel.body):
        for view, how in accesses(stmt):
            if "r" in how:
                reads.setdefault(view.buffer, []).append(view)

    def change(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, Copy) or stmt.target.memory not in library.spaces:
            return stmt
        copied = padded.get(stmt.target.buffer)
        if copied is None:
            return stmt
        views = reads.get(stmt.target.buffer, [])
        extents = tuple(
            have if all(_is_all_of(view, axis, have) for view in views) else want
            for axis, (have, want) in enumerate(zip(copied, stmt.target.extents, strict=True))
        )
        fill = None if extents == copied else stmt.fill
        return replace(stmt, target=replace(stmt.target, extents=extents), fill=fill)

    return replace(kernel, body=_change_all(kernel.body, change))


def _is_all_of(view: View, axis: int, extent: Affine) -> bool:
    """Whether a view reads just what was copied along an axis."""
    return view.offsets[axis] == affine(0) and view.extents[axis] == extent


def _change_all(body: tuple[Stmt, ...], change: Callable[[Stmt], Stmt]) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in body:
        changed = change(stmt)
        if isinstance(changed, For | ParallelFor | If):
            changed = replace(changed, body=_change_all(changed.body, change))
        found.append(changed)
    return tuple(found)

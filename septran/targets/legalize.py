"""The flat IR in the terms of C libraries: explicit prefetches, exact copies, at most two axes.

Products of ragged tiles are padded for functions that take whole blocks. Pipelined loops become
starts and waits. Starts that the library cannot queue become copies: they are done earlier than
they must be. A copy with a fill becomes fills of what lies beyond the source, and a copy of equal
shapes. Copies and fills of more than two axes are put into loops over the outer ones, and waits
count the copies that are started there.
"""

from __future__ import annotations

from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import (
    Barrier,
    Copy,
    Fill,
    For,
    If,
    Kernel,
    Module,
    ParallelFor,
    Start,
    Stmt,
    View,
    Wait,
    walk,
)
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.simplify import simplify
from eas.septran.targets.calls import chooser_for
from eas.septran.targets.library import Library
from eas.septran.targets.spaces import drop_unread_fills
from eas.septran.targets.whole_blocks import pad_products
from eas.support.records import replace


def legalize(module: Module, library: Library, *, has_threads: bool = False) -> Module:
    """The module as a library with two-dimensional calls can run it.

    Copies that run ahead read what other threads have written, and overwrite what others may still
    read: with threads, barriers stand before them. Threads start copies of any number of axes.
    """
    padded = drop_unread_fills(pad_products(simplify(module), library), library)
    expanded = expand_pipelines(padded)
    if has_threads:
        fenced = (replace(each, body=_fenced(each.body)) for each in expanded.kernels)
        expanded = replace(expanded, kernels=tuple(fenced))
    kernels = tuple(_Legalize(kernel, library, has_threads).run() for kernel in expanded.kernels)
    return simplify(replace(module, kernels=kernels))


def _fenced(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Statements with a barrier before each loop or branch that starts copies."""
    found: list[Stmt] = []
    for stmt in body:
        if not isinstance(stmt, For | ParallelFor | If):
            found.append(stmt)
            continue
        starts = [each for each in stmt.body if isinstance(each, Start)]
        if starts:
            found.append(Barrier("", starts[0].source.memory))
        found.append(replace(stmt, body=_fenced(stmt.body)))
    return tuple(found)


class _Legalize:
    def __init__(self, kernel: Kernel, library: Library, has_threads: bool) -> None:
        self.kernel = kernel
        self.has_threads = has_threads
        self.queued = chooser_for(kernel, library).planes  # of each copy, by token
        self.taken = {name for name, _ in kernel.grid} | {param.name for param in kernel.params}
        for stmt in walk(kernel.body):
            if isinstance(stmt, For | ParallelFor):
                self.taken.add(stmt.variable)

    def run(self) -> Kernel:
        return replace(self.kernel, body=self.body(self.kernel.body))

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        found: list[Stmt] = []
        for stmt in body:
            found += self.stmt(stmt)
        return tuple(found)

    def stmt(self, stmt: Stmt) -> list[Stmt]:
        match stmt:
            case For() | ParallelFor() | If():
                return [replace(stmt, body=self.body(stmt.body))]
            case Wait():
                return self.wait(stmt)
            case Start() if stmt.token not in self.queued:
                return self.stmt(Copy(stmt.target, stmt.source, stmt.fill, stmt.origin))
            case Start() if self.has_threads:
                return [*self.margins(stmt), _exact(stmt)]
            case Copy() | Start():
                return [*self.margins(stmt), *self.planes(_exact(stmt))]
            case Fill():
                return self.planes(stmt)
            case _:
                return [stmt]

    def wait(self, stmt: Wait) -> list[Stmt]:
        if stmt.token not in self.queued:
            return []
        started = 1 if self.has_threads else self.queued[stmt.token]
        return [replace(stmt, keep=stmt.keep * started)]

    def margins(self, stmt: Copy | Start) -> list[Stmt]:
        """Fills of the target beyond the source's extents, axis by axis."""
        found: list[Stmt] = []
        if stmt.fill is None:
            return found
        for axis, (have, want) in enumerate(zip(stmt.source.shape, stmt.target.shape, strict=True)):
            if have == want:
                continue
            inner = (*stmt.source.shape[:axis], *stmt.target.shape[axis:])
            rest = _part(stmt.target, inner, axis, have, want - have)
            fill = self.planes(Fill(rest, stmt.fill, stmt.origin))
            found.append(If(have, "<", want, tuple(fill), stmt.origin))
        return found

    def planes(self, stmt: Copy | Start | Fill) -> list[Stmt]:
        """The statement in loops over all axes but the last two."""
        if stmt.target.rank <= 2:
            return [stmt]
        variable = self.fresh()
        extent = stmt.target.shape[0]
        inner: Copy | Start | Fill = replace(stmt, target=_row(stmt.target, variable))
        if not isinstance(inner, Fill):
            inner = replace(inner, source=_row(inner.source, variable))
        return [For(variable, extent, tuple(self.planes(inner)), origin=stmt.origin)]

    def fresh(self) -> str:
        number = 0
        while f"x{number}" in self.taken:
            number += 1
        self.taken.add(f"x{number}")
        return f"x{number}"


def _exact(stmt: Copy | Start) -> Copy | Start:
    """The copy to that part of the target which the source has elements for."""
    extents = iter(stmt.source.shape)
    sizes = tuple(extent and next(extents) for extent in stmt.target.extents)
    return replace(stmt, target=replace(stmt.target, extents=sizes), fill=None)


def _part(view: View, shape: tuple[Affine, ...], axis: int, start: Affine, size: Affine) -> View:
    """A view with another shape, and along one axis only what begins at `start`."""
    own = 0
    offsets: list[Affine] = []
    extents: list[Affine | None] = []
    for offset, extent in zip(view.offsets, view.extents, strict=True):
        is_axis = extent is not None and own == axis
        offsets.append(offset + start if is_axis else offset)
        extents.append(None if extent is None else size if is_axis else shape[own])
        own += extent is not None
    return replace(view, offsets=tuple(offsets), extents=tuple(extents))


def _row(view: View, variable: str) -> View:
    """A view at one index of its first axis."""
    first = next(n for n, extent in enumerate(view.extents) if extent is not None)
    offsets = (*view.offsets[:first], view.offsets[first] + affine(variable))
    extents = (*view.extents[:first], None, *view.extents[first + 1 :])
    return replace(view, offsets=(*offsets, *view.offsets[first + 1 :]), extents=extents)

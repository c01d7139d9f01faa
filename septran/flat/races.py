"""Whether parallel iterations keep out of each other's way: by affine disjointness of views.

Two iterations of a parallel loop over v touch different elements of a buffer if there is an axis on
which both views lie at `c * v` plus an offset, and both stay inside of the same c elements from
there. The loops inside may have any of their values, and each iteration its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.bounds import Scope
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Binary,
    Cast,
    Expr,
    For,
    If,
    Kernel,
    Map,
    Mma,
    Operand,
    ParallelFor,
    Privilege,
    Reduce,
    Stmt,
    View,
    accesses,
    body_of,
    walk,
)
from eas.septran.flat.text import print_view
from eas.support.records import frozen

Loops: TypeAlias = tuple[tuple[str, Affine], ...]


@frozen
class _Access:
    stmt: Stmt
    view: View
    how: Privilege
    loops: Loops  # those inside of the parallel loop


def find_races(kernel: Kernel, private: frozenset[str] = frozenset()) -> Iterator[tuple[Stmt, str]]:
    """The statements that may touch an element which another iteration writes.

    Of the `private` buffers each iteration of a loop in the kernel has one of its own.
    """
    scope, body = Scope(), kernel.body
    for position, (name, extent) in enumerate(kernel.grid):
        touched = _touched(body, kernel.grid[position + 1 :], private)
        yield from _check(name, extent, touched, scope)
        scope = scope.inside_loop(name, extent)
    yield from _search(kernel.body, scope, private)


def is_accumulation(stmt: Stmt, name: str) -> bool:
    """Whether all that a statement does with a buffer is to add to it."""
    reads = [view for view, how in accesses(stmt) if view.buffer == name and how == "r"]
    match stmt:
        case Mma():
            return not reads
        case Reduce():
            return stmt.kind == "add" and not reads
        case Map(target, value):
            return reads == [target] and _is_sum_with(_without_casts(value), target)
        case _:
            return False


def _is_sum_with(value: Expr, target: View) -> bool:
    """Whether a value is a sum of which one term is what is there already."""
    match value:
        case Binary("add", left, right):
            terms = _without_casts(left), _without_casts(right)
            return any(_is_view(term, target) or _is_sum_with(term, target) for term in terms)
        case _:
            return False


def _is_view(value: Expr, view: View) -> bool:
    return isinstance(value, Operand) and value.view == view


def _without_casts(value: Expr) -> Expr:
    while isinstance(value, Cast):
        value = value.operand
    return value


def _search(
    body: tuple[Stmt, ...], scope: Scope, private: frozenset[str]
) -> Iterator[tuple[Stmt, str]]:
    """The parallel loops inside of some statements."""
    for stmt in body:
        match stmt:
            case ParallelFor():
                touched = _touched(stmt.body, (), private | set(stmt.reduced))
                has_barrier = any(isinstance(each, Barrier) for each in walk(stmt.body))
                yield from _check(stmt.variable, stmt.extent, touched, scope, has_barrier)
                inner = scope.inside_loop(stmt.variable, stmt.extent)
                yield from _search(stmt.body, inner, private)
            case For():
                inner = scope.inside_loop(stmt.variable, stmt.extent)
                yield from _search(stmt.body, inner, private)
            case If():
                inner = scope.inside_if(stmt.left, stmt.comparison, stmt.right)
                yield from _search(stmt.body, inner, private)
            case _:
                pass


def _touched(body: tuple[Stmt, ...], more: Loops, free: frozenset[str]) -> list[_Access]:
    """What an iteration touches that is not its own, nor free of races."""
    own = {stmt.name for stmt in walk(body) if isinstance(stmt, Alloc)}
    return [each for each in _accesses(body, more) if each.view.buffer not in {*own, *free}]


def _check(
    variable: str, extent: Affine, touched: list[_Access], scope: Scope, has_barrier: bool = False
) -> Iterator[tuple[Stmt, str]]:
    """Pairs of accesses that two iterations may make to one element.

    A barrier is for the iterations of a loop in a program: no barrier is for two of the grid.
    """
    if scope.proves(1 - extent):
        return  # there is one iteration at most
    inside = scope.inside_loop(variable, extent)
    for position, first in enumerate(touched):
        if "w" not in first.how:
            continue
        for other, second in enumerate(touched):
            is_pair = first.view.buffer == second.view.buffer
            if not is_pair or ("w" in second.how and other < position):
                continue
            if has_barrier and first.stmt is not second.stmt:
                continue  # the interpreter knows what lies between two barriers
            if not _are_apart(first, second, variable, inside):
                yield second.stmt, _message(first, second, variable)
                break


def _message(first: _Access, second: _Access, variable: str) -> str:
    pair = print_view(first.view)
    if second.view != first.view:
        pair += f" and {print_view(second.view)}"
    return f"{pair} may be the same elements for two values of `{variable}`"


def _accesses(body: tuple[Stmt, ...], loops: Loops) -> Iterator[_Access]:
    for stmt in body:
        for view, how in accesses(stmt):
            yield _Access(stmt, view, how, loops)
        inner = loops
        if isinstance(stmt, For | ParallelFor):
            inner = (*loops, (stmt.variable, stmt.extent))
        yield from _accesses(body_of(stmt), inner)


def _are_apart(first: _Access, second: _Access, variable: str, scope: Scope) -> bool:
    theirs = {name: f"{name}'" for name in (variable, *(name for name, _ in second.loops))}
    for name, extent in first.loops:
        scope = scope.inside_loop(name, extent)
    for name, extent in ((variable, dict(scope.loops)[variable]), *second.loops):
        scope = scope.inside_loop(theirs[name], extent.substitute(theirs))
    axes = zip(_spans(first.view), _spans(second.view), strict=True)
    for (low, size), (other, other_size) in axes:
        stride = low.coefficient(variable)
        offset = low - affine(variable) * stride
        other_offset = other - affine(variable) * stride
        if stride == 0 or variable in offset.names | other_offset.names:
            continue
        end = (other_offset + other_size).substitute(theirs)
        other_offset = other_offset.substitute(theirs)
        room = abs(stride)
        if scope.proves(other_offset + room - offset - size) and scope.proves(offset + room - end):
            return True
    return False


def are_disjoint(first: View, second: View, scope: Scope) -> bool:
    """Whether two views of a buffer have no element in common, in the same iteration."""
    for (low, size), (other, other_size) in zip(_spans(first), _spans(second), strict=True):
        if scope.proves(other - low - size) or scope.proves(low - other - other_size):
            return True
    return False


def _spans(view: View) -> Iterator[tuple[Affine, Affine]]:
    """The offset and extent on each axis; the slots are an axis, too."""
    yield view.slot or affine(0), affine(1)
    for offset, extent in zip(view.offsets, view.extents, strict=True):
        yield offset, affine(1) if extent is None else extent

"""Barriers from dependences: where a thread touches what another one may have touched before.

Memories whose threads see each other's writes only after a barrier are *synchronized*. A statement
that reads what was written since the last barrier, or writes what was touched since, has a barrier
before it; so has the start of a trip for what the trip before has left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eas.septran.flat.affine import Affine, Mod, affine
from eas.septran.flat.nodes import (
    Barrier,
    For,
    If,
    Origin,
    ParallelFor,
    Privilege,
    Stmt,
    View,
    accesses,
)
from eas.support.records import replace

Pending = frozenset[tuple[str, Affine | None, Privilege]]  # buffer, slot, what was done


def insert_barriers(body: Sequence[Stmt], memories: Mapping[str, str]) -> tuple[Stmt, ...]:
    """Statements with barriers for the memories given, each with the processor that waits."""
    return tuple(_block(body, memories, frozenset())[0])


def _block(
    body: Sequence[Stmt], memories: Mapping[str, str], pending: Pending
) -> tuple[list[Stmt], Pending]:
    done: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, For | ParallelFor):
            inner, pending = _loop(stmt, memories, pending)
            done.append(inner)
            continue
        if isinstance(stmt, If):
            body, after = _block(stmt.body, memories, pending)
            done.append(replace(stmt, body=tuple(body)))
            pending |= after
            continue
        touched = list(accesses(stmt))
        conflict = _conflict(touched, pending, memories)
        if conflict is not None:
            done.append(_barrier(conflict, memories, stmt))
            pending = frozenset()
        done.append(stmt)
        pending |= _marks(touched, memories)
    return done, pending


def _loop(
    loop: For | ParallelFor, memories: Mapping[str, str], pending: Pending
) -> tuple[Stmt, Pending]:
    """The body is done twice, the second time after what the trip before has left behind."""
    _, left = _block(loop.body, memories, pending)
    before = {loop.variable: affine(loop.variable) - 1}
    past: Pending = frozenset(
        (buffer, None if slot is None else slot.substitute(before), how)
        for buffer, slot, how in left
    )
    body, after = _block(loop.body, memories, pending | past)
    outside: Pending = frozenset((buffer, None, how) for buffer, _, how in after)
    return replace(loop, body=tuple(body)), outside | pending


def _marks(touched: Sequence[tuple[View, Privilege]], memories: Mapping[str, str]) -> Pending:
    return frozenset(
        (view.buffer, view.slot, how) for view, how in touched if view.memory in memories
    )


def _conflict(
    touched: Sequence[tuple[View, Privilege]], pending: Pending, memories: Mapping[str, str]
) -> View | None:
    for view, how in touched:
        if view.memory not in memories:
            continue
        for buffer, slot, before in pending:
            is_written = "w" in how or "w" in before
            if buffer == view.buffer and is_written and not _are_apart(view.slot, slot):
                return view
    return None


def _are_apart(a: Affine | None, b: Affine | None) -> bool:
    """Whether two slots `(t + a) % n` and `(t + b) % n` are never the same one."""
    if a is None or b is None:
        return False
    if a.is_constant and b.is_constant:
        return a != b
    match a.terms, b.terms:
        case [(Mod(left, n), 1)], [(Mod(right, m), 1)] if n == m and a.constant == b.constant:
            distance = left - right
            return distance.is_constant and distance.value % n != 0
        case _:
            return False


def _barrier(view: View, memories: Mapping[str, str], stmt: Stmt) -> Barrier:
    because = f"other threads have touched `{view.buffer}` since the last barrier"
    origin = Origin(because, stmt.origin.yaml, stmt.origin.python)
    return Barrier(memories[view.memory], view.memory, origin)

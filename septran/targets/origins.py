"""Why a statement is there, as the text of a comment."""

from __future__ import annotations

from collections import Counter

from eas.septran.flat.nodes import Alloc, Kernel, Origin, Stmt, walk


def describe(origin: Origin) -> str:
    """The reason and the places, or nothing."""
    places = [each for each in (origin.yaml, origin.python) if each is not None]
    shown = [f"{each.source.name}:{each.line}:{each.column + 1}" for each in places]
    return ", ".join([*([origin.because] if origin.because else []), *shown])


class Comments:
    """The comments of a kernel's statements, each of them once.

    Where an allocation prints nothing (`has_allocations` is false), what fills it has the comment.
    """

    def __init__(self, kernel: Kernel, has_allocations: bool = True) -> None:
        stmts = [stmt for stmt in walk(kernel.body) if not isinstance(stmt, Alloc)]
        self._used = Counter(describe(stmt.origin) for stmt in stmts)
        self._has_allocations = has_allocations
        self._said = {""}

    def of(self, stmt: Stmt) -> str:
        """The comment of a statement; nothing if it has been said before."""
        comment = describe(stmt.origin)
        if comment in self._said:
            return ""
        if isinstance(stmt, Alloc) and not self._has_allocations and self._used[comment]:
            return ""
        self._said.add(comment)
        return comment

"""Buffers that hold zeros beyond the true extent of their tile."""

from __future__ import annotations

from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import Alloc, Copy, Kernel, accesses, walk


def zero_padded(kernel: Kernel) -> dict[str, tuple[Affine, ...]]:
    """Buffers that only copies write, all of it, with zeros beyond what is copied; and its extents.

    Who reads just these extents may read the whole buffer, and finds zeros beyond.
    """
    shapes = {stmt.name: stmt.shape for stmt in walk(kernel.body) if isinstance(stmt, Alloc)}
    found: dict[str, set[tuple[Affine, ...] | None]] = {}
    for stmt in walk(kernel.body):
        for view, how in accesses(stmt):
            if "w" in how and view.buffer in shapes:
                whole = tuple(map(affine, shapes[view.buffer]))
                is_whole = view.extents == whole and all(o == affine(0) for o in view.offsets)
                is_padded = isinstance(stmt, Copy) and stmt.fill == 0 and is_whole
                copied = stmt.source.shape if isinstance(stmt, Copy) and is_padded else None
                found.setdefault(view.buffer, set()).add(copied)
    return {
        name: only
        for name, several in found.items()
        if len(several) == 1 and (only := next(iter(several))) is not None
    }

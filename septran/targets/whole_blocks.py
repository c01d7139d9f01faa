"""Products for functions that multiply whole blocks: ragged tiles are padded, extents rounded up.

Rows and columns beyond a tile's true extent hold anything, and nothing reads what is computed from
them. What is summed over is filled with zeros there, in both factors.
"""

from __future__ import annotations

from collections.abc import Mapping

from eas.septran.flat.affine import Affine, ceil_div
from eas.septran.flat.nodes import (
    Alloc,
    Fill,
    For,
    If,
    Kernel,
    Mma,
    Module,
    ParallelFor,
    Stmt,
    View,
    walk,
)
from eas.septran.flat.padding import zero_padded
from eas.septran.targets.library import Library, PrimitiveError
from eas.support.records import replace


def pad_products(module: Module, library: Library) -> Module:
    """The module with whole blocks for the library's functions that take no others."""
    if not any(library.shapes.values()):
        return module
    kernels = tuple(_Pad(kernel, library).run() for kernel in module.kernels)
    return replace(module, kernels=kernels)


class _Pad:
    def __init__(self, kernel: Kernel, library: Library) -> None:
        self.kernel = kernel
        self.shapes = library.shapes
        self.allocated = {s.name for s in walk(kernel.body) if isinstance(s, Alloc)}
        self.padded = zero_padded(kernel)

    def run(self) -> Kernel:
        return replace(self.kernel, body=self.body(self.kernel.body))

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        found: list[Stmt] = []
        for stmt in body:
            match stmt:
                case For() | ParallelFor() | If():
                    found.append(replace(stmt, body=self.body(stmt.body)))
                case Mma() if self.shapes.get(stmt.primitive):
                    found += self.product(stmt, self.shapes[stmt.primitive])
                case _:
                    found.append(stmt)
        return tuple(found)

    def product(self, stmt: Mma, shape: Mapping[str, int]) -> list[Stmt]:
        m, n = stmt.target.shape
        k = stmt.depth
        whole = {
            letter: _rounded(extent, shape.get(letter, 1))
            for letter, extent in (("m", m), ("n", n), ("k", k))
        }
        if (whole["m"], whole["n"], whole["k"]) == (m, n, k):
            return [stmt]
        views: list[View] = []
        fills: list[Stmt] = []
        for view, letters in _operands(stmt):
            views.append(self.view(stmt, view, [whole[letter] for letter in letters]))
            if "k" in letters and whole["k"] != k and not self.has_zeros(view):
                fills.append(_zeros(stmt, views[-1], letters.index("k"), k, whole["k"]))
        target, left, right = views
        return [*fills, replace(stmt, target=target, left=left, right=right)]

    def view(self, stmt: Mma, view: View, extents: list[Affine]) -> View:
        if tuple(extents) != view.shape and view.buffer not in self.allocated:
            message = f"`{stmt.primitive}` takes whole blocks, and tiles of `{view.buffer}` are not"
            raise PrimitiveError(f"{message} whole in {view.memory}: copy them to another memory")
        return with_shape(view, extents)

    def has_zeros(self, view: View) -> bool:
        return self.padded.get(view.buffer) == view.shape


def _operands(stmt: Mma) -> tuple[tuple[View, str], ...]:
    left = "km" if "a" in stmt.transposed else "mk"
    right = "nk" if "b" in stmt.transposed else "kn"
    return (stmt.target, "mn"), (stmt.left, left), (stmt.right, right)


def _rounded(extent: Affine, multiple: int) -> Affine:
    is_whole = extent.constant % multiple == 0 and not extent.terms
    return extent if is_whole else ceil_div(extent, multiple) * multiple


def _zeros(stmt: Mma, view: View, axis: int, have: Affine, want: Affine) -> Stmt:
    """Zeros beyond what is summed over; `view` is a factor with its whole extents."""
    extents = list(view.shape)
    extents[axis] = want - have
    part = with_shape(view, extents)
    own = [number for number, extent in enumerate(part.extents) if extent is not None][axis]
    offsets = list(part.offsets)
    offsets[own] += have
    fill = Fill(replace(part, offsets=tuple(offsets)), 0.0, stmt.origin)
    return If(have, "<", want, (fill,), stmt.origin)


def with_shape(view: View, shape: list[Affine]) -> View:
    """A view with other extents of its own axes."""
    own = iter(shape)
    extents = tuple(None if extent is None else next(own) for extent in view.extents)
    return replace(view, extents=extents)

"""The lanes of a loop over elements, and which elements of blocks are theirs."""

from __future__ import annotations

from functools import cache

from eas.ir.aliasing.lane_indices import Indices, Symbol, coordinates, make_symbol, of, project
from eas.ir.types import Shape, count
from eas.support.records import frozen


@frozen
class Domain:
    """The lanes of a loop over elements."""

    shape: Shape

    @property
    def extent(self) -> int:
        return count(self.shape)

    @property
    def indices(self) -> Indices:
        return owner_indices(self.shape)

    def indices_of(self, shape: Shape) -> Indices:
        """Which element of a block of this shape belongs to a lane of the domain."""
        if not shape:
            return ()
        if count(shape) == self.extent:
            return owner_indices(shape)
        return project(self.indices, shape)


def element(extent: int) -> Symbol:
    """The index of a lane in a domain of so many."""
    return make_symbol("e", extent)


@cache
def owner_indices(shape: Shape) -> Indices:
    """The coordinates of the element that a lane owns, in a domain of the block's own size."""
    return coordinates(of(element(count(shape))), shape)

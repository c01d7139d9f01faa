"""Affine forms of offsets, on which the proofs of `eas.ir.aliasing.disjointness` work."""

from __future__ import annotations

from collections.abc import Mapping

from eas.ir.aliasing.lane_indices import Indices, Part
from eas.ir.nodes import Value
from eas.support.records import field, frozen


@frozen
class Form:
    """`sum(shared) + sum(lanes) + sum(unknown) + constant`, each term a factor and an atom.

    `strided` are indices along axes of an array, to be multiplied by its strides and added.
    """

    constant: int = 0
    shared: Mapping[Value, int] = field(default_factory=dict[Value, int])
    lanes: Mapping[Part, int] = field(default_factory=dict[Part, int])
    strided: Mapping[Value, Form] = field(default_factory=dict[Value, "Form"])
    unknown: Mapping[tuple[Value, Indices], int] = field(
        default_factory=dict[tuple[Value, Indices], int]
    )

    @property
    def span(self) -> tuple[int, int]:
        """The least and the greatest value of the sum over the lanes' coordinates."""
        low = sum(f * (p.extent - 1) for p, f in self.lanes.items() if f < 0)
        high = sum(f * (p.extent - 1) for p, f in self.lanes.items() if f > 0)
        return low, high

"""Variables in which the values of several paths join, for the lanes of a few vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from eas.ir.nodes import Value
from eas.ir.types import Shape
from eas.llvm.emit.dtypes import register
from eas.llvm.emit.emit import Variable, const, vector
from eas.llvm.lanes.coordinates import Coords, is_varying
from eas.llvm.lanes.lane_values import LaneValue, Uniform, Vector
from eas.llvm.lanes.masks import joint_mask, mask_vector, union
from eas.llvm.lanes.vector_body import Body, Mask
from eas.support.records import record

Masks = Sequence[Mask]


class JoinSlots(Protocol):
    """Variables for values that several paths join in."""

    def put(self, values: Sequence[Value], masks: Masks | None = None) -> None:
        """Sets all of them; with masks, only in the active lanes."""
        ...

    def take(self, values: Sequence[Value]) -> None:
        """Binds values to the current content."""
        ...


class LaneSlots:
    """A variable for each of some values, at each of its coordinates.

    If `has_vector_copies`, uniform integers are stored as vectors as well: in a masked loop, adding
    to a vector in each trip costs less than a splat in each trip.
    """

    def __init__(
        self, body: Body, values: Sequence[Value], has_vector_copies: bool = False
    ) -> None:
        self.body = body
        self.values = values
        self.vector_copies: dict[Variable, Variable] = {}
        self.variables: list[dict[Coords, Variable]] = []
        for value in values:
            element = register(value.ty.dtype)
            made: dict[Coords, Variable] = {}
            for coords, _ in body.distinct_coords(value.shape):
                ty = vector(element, body.width) if is_varying(coords) else element
                made[coords] = variable = body.e.variable(ty)
                if has_vector_copies and not is_varying(coords) and value.ty.dtype.is_int:
                    self.vector_copies[variable] = body.e.variable(vector(element, body.width))
            self.variables.append(made)

    def put(self, values: Sequence[Value], masks: Masks | None = None) -> None:
        """Sets all of them; with masks, only in the active lanes."""
        body = self.body
        found = [
            {coords: body.at(value, coords) for coords in variables}
            for value, variables in zip(values, self.variables, strict=True)
        ]
        for slot, new, variables in zip(self.values, found, self.variables, strict=True):
            for coords, variable in variables.items():
                mask = None if masks is None else self._mask_at(slot.shape, coords, masks)
                self._set(variable, new[coords], mask)

    def _mask_at(self, shape: Shape, coords: Coords, masks: Masks) -> Mask:
        return joint_mask(self.body, masks, dict(self.body.distinct_coords(shape))[coords], coords)

    def _set(self, variable: Variable, value: LaneValue, mask: Mask) -> None:
        e = self.body.e
        if variable.ty[0] != "<":
            assert isinstance(value, Uniform)
            new = value.v
            if isinstance(mask, Uniform):
                new = e.select(mask.v, new, e.get(variable))
            if variable in self.vector_copies:
                e.set(self.vector_copies[variable], e.splat(new, self.body.width))
        else:
            new = self.body.to_vector(value)
            if mask is not None:
                new = e.select(mask_vector(self.body, mask), new, e.get(variable))
        e.set(variable, new)

    def take(self, values: Sequence[Value]) -> None:
        """Binds values to the current content of the variables."""
        for value, variables in zip(values, self.variables, strict=True):
            for coords, variable in variables.items():
                v = self.body.e.get(variable)
                if variable in self.vector_copies:
                    self.body.e.note_splat(v, self.body.e.get(self.vector_copies[variable]))
                self.body.bind(value, coords, Vector(v) if v.lanes else Uniform(v))


class MaskSlots:
    """One variable per point, which holds a mask."""

    def __init__(self, body: Body, masks: Masks | None) -> None:
        self.body = body
        ty = vector("i1", body.width)
        self.variables = [body.e.variable(ty) for _ in body.points]
        self.put(masks)

    def put(self, masks: Masks | None) -> None:
        """Sets the masks; None is no lane."""
        for n, variable in enumerate(self.variables):
            none = const(variable.ty, False)
            v = none if masks is None else mask_vector(self.body, masks[n])
            self.body.e.set(variable, v)

    def add(self, masks: Masks | None) -> None:
        if masks is not None:
            now = self.take()
            self.put([union(self.body, a, b) for a, b in zip(now, masks, strict=True)])

    def take(self) -> list[Mask]:
        return [Vector(self.body.e.get(variable)) for variable in self.variables]


@record
class LoopFrame:
    """A loop whose body is being written.

    `labels` are the targets of `continue` and `break`, None if the loop is masked. `early` are the
    lanes that have continued with the next trip, `done` those that have left through `orelse`; both
    are None where they are not needed.
    """

    results: JoinSlots
    carried: JoinSlots
    labels: tuple[str, str] | None = None
    early: MaskSlots | None = None
    done: MaskSlots | None = None

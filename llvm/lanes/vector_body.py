"""The code for a few vectors of lanes: values on demand, ops in order.

A value at given coordinates is computed once per region. Coordinates distinguish the lanes: a row's
number is uniform in a vector, a column's number is strided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from eas.ir.nodes import Compute, Constant, Load, Op, Region, Store, Value
from eas.ir.types import Shape
from eas.llvm.analysis.facts import Facts
from eas.llvm.emit.casts import bitcast, cast
from eas.llvm.emit.dtypes import register, rounded
from eas.llvm.emit.emit import Emitter, V, Variable, const, vector
from eas.llvm.emit.functions import SPELLED
from eas.llvm.emit.philox import philox
from eas.llvm.lanes import lane_values as lanes_of
from eas.llvm.lanes.coordinates import ZERO, Coords, scale_and_add, view_coords
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector, number
from eas.support.records import field, record

if TYPE_CHECKING:
    from eas.llvm.lanes.bounds_checks import Bounds
    from eas.llvm.lanes.interior import Assumptions
    from eas.llvm.lanes.privatization import PrivateTable

Mask = LaneValue | None  # None: all lanes
Assumed = Mapping[int, Value | None]  # what values are known to equal, by id; None: true


class ProgramContext(Protocol):
    """The interface of a program to its bodies."""

    e: Emitter
    facts: Facts
    width: int
    ids: tuple[V, ...]
    extents: tuple[V, ...]
    report: V
    assumptions: Assumptions
    private_tables: dict[int, PrivateTable]
    bounds: dict[int, Bounds]
    proofs: dict[int, int]
    proven: V

    def outside(self, body: Body, value: Value, coords: Coords) -> LaneValue | None:
        """A value that is defined outside of the current loop over lanes; None for others."""
        ...

    def emit_op(self, body: Body, op: Op, masks: Sequence[Mask]) -> Sequence[Mask] | None:
        """Writes the code of one op."""
        ...

    def load(self, body: Body, op: Load, coords: Coords) -> LaneValue:
        """What the lanes at these coordinates load."""
        ...

    def nontemporal(self, op: Store) -> V | None:
        """Whether a launch stores so much that the stores should bypass the caches."""
        ...

    def simdgroup_op(self, body: Body, op: Compute, coords: Coords) -> LaneValue:
        """The result of a collective op of a simdgroup."""
        ...

    def pointer(self, value: Value) -> V: ...
    def zero(self) -> V: ...
    def slow_path_memory(self, element: str) -> V: ...
    def trips_left(self) -> Variable: ...
    def site(self, op: Op) -> tuple[int, Shape | None]: ...


@record
class Body:
    """Code at `points`: the coordinates of the unrolled vectors.

    `shape` is the domain of the points, `start` masks the lanes beyond its end. `proven` are the
    ids of the ops whose accesses are known to be in bounds.
    """

    program: ProgramContext
    shape: Shape
    points: Sequence[Coords]
    start: Sequence[Mask]
    assumed: Assumed = field(default_factory=dict[int, "Value | None"])
    scopes: list[dict[tuple[int, Coords], LaneValue]] = field(
        default_factory=lambda: [dict[tuple[int, Coords], LaneValue]()]
    )
    proven: frozenset[int] = frozenset()
    # the frames of the loops around the current op, see `slots`
    loops: list[Any] = field(default_factory=list[Any])

    @property
    def e(self) -> Emitter:
        return self.program.e

    @property
    def facts(self) -> Facts:
        return self.program.facts

    @property
    def width(self) -> int:
        return self.program.width

    def coords_in(self, shape: Shape, point: Coords) -> Coords:
        """The coordinates of a point in a block of the domain's rank, or none in a scalar."""
        if not shape:
            return ()
        pairs = zip(shape, self.shape, point, strict=True)
        return tuple(ZERO if mine == 1 and whole > 1 else at for mine, whole, at in pairs)

    def fits(self, shape: Shape) -> bool:
        """Whether a block has the domain's rank and can be broadcast to its shape."""
        if not shape:
            return True
        return len(shape) == len(self.shape) and all(
            mine in (1, whole) for mine, whole in zip(shape, self.shape, strict=True)
        )

    def distinct_coords(self, shape: Shape) -> Iterator[tuple[Coords, list[int]]]:
        """The distinct coordinates of the points in a block of a shape, and the points at each."""
        found: dict[Coords, list[int]] = {}
        for n, point in enumerate(self.points):
            found.setdefault(self.coords_in(shape, point), []).append(n)
        yield from found.items()

    def bind(self, value: Value, coords: Coords, found: LaneValue) -> None:
        self.scopes[-1][value.id, coords] = found

    def at(self, value: Value, coords: Coords) -> LaneValue:
        """A value in the lanes at these coordinates."""
        if value.id in self.assumed:
            replacement = self.assumed[value.id]
            return (
                Uniform(const("i1", True)) if replacement is None else self.at(replacement, coords)
            )
        key = (value.id, coords)
        for scope in reversed(self.scopes):
            if key in scope:
                return scope[key]
        found = self.program.outside(self, value, coords)
        if found is None:
            found = self._make(value, coords)
        self.scopes[-1][key] = found
        return found

    def vector_at(self, value: Value, coords: Coords) -> V:
        return lanes_of.to_vector(self.e, self.at(value, coords), self.width)

    def scalar(self, value: Value) -> V:
        return number(self.at(value, ()))

    def to_vector(self, lanes: LaneValue) -> V:
        return lanes_of.to_vector(self.e, lanes, self.width)

    def _make(self, value: Value, coords: Coords) -> LaneValue:
        op = self.facts.definitions[value.id]
        if isinstance(op, Constant):
            return Uniform(const(register(value.ty.dtype), op.value))
        if isinstance(op, Load):
            return self.program.load(self, op, coords)
        assert isinstance(op, Compute), f"{op} has no value yet"
        return self.compute(op, coords)

    def compute(self, op: Compute, coords: Coords) -> LaneValue:
        name = op.op.name
        if op.op.view:
            return self.at(op.operands[0], view_coords(self.e, op, coords, self.width))
        if name in POSITIONS:
            return POSITIONS[name](self, op, coords)
        if op.op.simdgroup:
            return self.program.simdgroup_op(self, op, coords)
        operands = [self.at(v, coords) for v in op.operands]
        strided = self._strided(op, operands)
        if strided is not None:
            return strided
        if all(isinstance(each, Uniform) for each in operands):
            return Uniform(spell(self.e, op, [number(each) for each in operands]))
        vectors = [self.to_vector(each) for each in operands]
        if name == "select" and isinstance(operands[0], Uniform):
            vectors[0] = operands[0].v
        return Vector(spell(self.e, op, vectors))

    def _strided(self, op: Compute, a: Sequence[LaneValue]) -> LaneValue | None:
        """The result of an op on strided integers, if it is strided or uniform as well."""
        if not op.result.ty.dtype.is_int or not any(isinstance(each, Strided) for each in a):
            return None
        wraps = op.result.id in self.facts.wrapping
        match op.op.name:
            case "add":
                return lanes_of.add(self.e, a[0], a[1], 1, wraps)
            case "sub":
                return lanes_of.add(self.e, a[0], a[1], -1, wraps)
            case "mul":
                return lanes_of.scale(self.e, a[0], a[1], wraps)
            case "cast":
                return self._cast_strided(op, a[0])
            case _:
                return None

    def _cast_strided(self, op: Compute, a: LaneValue) -> LaneValue | None:
        old, new = op.operands[0].ty.dtype, op.result.ty.dtype
        if not isinstance(a, Strided) or not old.is_int:
            return None
        if new.bits > old.bits and not a.is_exact:
            return None
        low, high = self.facts.ranges.bounds(op.operands[0]) or (old.min, old.max)
        exact = a.is_exact and new.min <= low and high <= new.max
        return Strided(cast(self.e, a.base, old, new), a.step, exact, a.start)

    def run(self, region: Region, masks: Sequence[Mask]) -> Sequence[Mask] | None:
        """Writes the ops of a region without its terminator; gives the lanes that reach its end."""
        now: Sequence[Mask] | None = masks
        for op in region.ops[:-1]:
            now = self.program.emit_op(self, op, now)
            if now is None:
                return None
        return now

    def compute_now(
        self, op: Op, value: Value, make: Callable[[Coords, list[int]], LaneValue]
    ) -> None:
        """Computes a value at all of its coordinates; one of another rank is computed on demand."""
        if self.fits(value.shape):
            for coords, points in self.distinct_coords(value.shape):
                self.bind(value, coords, make(coords, points))


def spell(e: Emitter, op: Compute, operands: list[V]) -> V:
    """An element-wise op on single numbers or on vectors."""
    name, result = op.op.name, op.result.ty.dtype
    dtype = op.operands[0].ty.dtype
    if name == "cast":
        return cast(e, operands[0], dtype, result)
    if name == "philox":
        attrs: dict[str, Any] = dict(op.attrs)
        return philox(e, operands, attrs["word"])
    if name == "bitcast":
        return bitcast(e, operands[0], dtype, result)
    made = SPELLED[name](e, operands, op.operands[-1].ty.dtype)
    return rounded(e, made, result) if name not in _EXACT else made


_EXACT = {"select", "neg", "abs", "minimum", "maximum", "copysign", "clamp", "floor", "ceil"}


def _arange(body: Body, op: Compute, coords: Coords) -> LaneValue:
    start: Any = op.attr("start")
    return scale_and_add(body.e, coords[0], 1, start)


def _thread_index(body: Body, op: Compute, coords: Coords) -> LaneValue:
    del body, op
    return coords[0]


def _lane_index(body: Body, op: Compute, coords: Coords) -> LaneValue:
    del op
    return _part(body, coords[0], "and", 31)


def _simdgroup_index(body: Body, op: Compute, coords: Coords) -> LaneValue:
    del op
    return _part(body, coords[0], "lshr", 5)


def _part(body: Body, at: LaneValue, how: str, number: int) -> LaneValue:
    if isinstance(at, Uniform):
        return Uniform(body.e.binary(how, at.v, const("i32", number)))
    v = body.to_vector(at)
    return Vector(body.e.binary(how, v, const(vector("i32", body.width), number)))


def _program_id(body: Body, op: Compute, coords: Coords) -> LaneValue:
    del coords
    axis = op.attr("axis")
    assert isinstance(axis, int)
    return Uniform(body.program.ids[axis])


def _num_programs(body: Body, op: Compute, coords: Coords) -> LaneValue:
    del coords
    axis = op.attr("axis")
    assert isinstance(axis, int)
    return Uniform(body.program.extents[axis])


POSITIONS: dict[str, Callable[[Body, Compute, Coords], LaneValue]] = {
    "arange": _arange,
    "thread_index": _thread_index,
    "lane_index": _lane_index,
    "simdgroup_index": _simdgroup_index,
    "program_id": _program_id,
    "num_programs": _num_programs,
}

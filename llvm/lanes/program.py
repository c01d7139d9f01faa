"""One program of a kernel: its scalars, its blocks in tiles, its arrays."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Compute, Function, Load, Op, Store, Value
from eas.ir.report_sites import site_of
from eas.ir.types import Shape, count
from eas.llvm.analysis.facts import Facts
from eas.llvm.analysis.in_place import places_in_memory
from eas.llvm.analysis.rematerialization import rematerialized_rows
from eas.llvm.emit.dtypes import register, size_of
from eas.llvm.emit.emit import Emitter, V, Variable
from eas.llvm.lanes.bounds_checks import Bounds
from eas.llvm.lanes.coordinates import Coords
from eas.llvm.lanes.interior import assumptions_of
from eas.llvm.lanes.lane_values import LaneValue
from eas.llvm.lanes.masks import tail_mask
from eas.llvm.lanes.memory import load
from eas.llvm.lanes.privatization import PrivateTable, make_table, privatized_arrays
from eas.llvm.lanes.region_ops import emit_op
from eas.llvm.lanes.safepoints import TRIPS
from eas.llvm.lanes.simdgroups import simd
from eas.llvm.lanes.tiles import Tile, read_tile
from eas.llvm.lanes.vector_body import Body, Mask
from eas.support.report_buffer import Site

_MOST_CACHED_BYTES = 24 << 20


class Program:
    """The state of the code generator for one program.

    Scalars are in `single`, a body of one point without coordinates. Blocks that are used outside
    of the loop that defines them are in `tiles`, or `rematerialized`. `places` are factors of
    products that are read where they lie in threadgroup memory.
    """

    def __init__(
        self,
        function: Function,
        sites: Sequence[Site],
        width: int,
        e: Emitter,
        ids: tuple[V, ...],
        extents: tuple[V, ...],
        has_nontemporal: bool,
    ) -> None:
        self.function, self.width, self.e = function, width, e
        self.ids, self.extents, self.has_nontemporal = ids, extents, has_nontemporal
        self.report = V("ptr", "%report")
        self.facts = Facts(function)
        self.single = Body(self, (), [()], [None])
        self.assumptions = assumptions_of(self.facts)
        self.tiles: dict[int, Tile] = {}
        self.rematerialized = rematerialized_rows(self.facts)
        self.places = places_in_memory(self.facts, width)
        self.pointers: dict[int, V] = {}
        self.private_tables = self._make_private_tables()
        self.sites = sites
        self.bounds: dict[int, Bounds] = {}
        self.proofs: dict[int, int] = {}  # see `launch_proofs`
        self.proven = V("i64", "%proven")
        self._zero: V | None = None
        self._trips_left: Variable | None = None
        self._nontemporal: dict[int, V] = {}
        self._slow_path: dict[str, V] = {}

    def _make_private_tables(self) -> dict[int, PrivateTable]:
        wanted = privatized_arrays(self.facts)
        return {
            param.value.id: make_table(self.e, number, param.value.ty.dtype)
            for number, param in enumerate(self.function.params)
            if param.value.id in wanted
        }

    def outside(self, body: Body, value: Value, coords: Coords) -> LaneValue | None:
        """A value that is defined outside of the current loop over lanes; None for others."""
        if not value.shape and body is not self.single:
            for scope in reversed(self.single.scopes):
                if (value.id, ()) in scope:
                    return scope[value.id, ()]
        tile = self.tiles.get(value.id)
        return None if tile is None else read_tile(body, tile, coords)

    def emit_op(self, body: Body, op: Op, masks: Sequence[Mask]) -> Sequence[Mask] | None:
        """Writes the code of one op."""
        return emit_op(body, op, masks)

    def load(self, body: Body, op: Load, coords: Coords) -> LaneValue:
        """What the lanes at these coordinates load."""
        return load(body, op, coords, tail_mask(body, coords))

    def simdgroup_op(self, body: Body, op: Compute, coords: Coords) -> LaneValue:
        """The result of a collective op of a simdgroup."""
        return simd(body, op, coords)

    def nontemporal(self, op: Store) -> V | None:
        """Whether a launch stores more than the caches hold, so that the stores should bypass them.

        None for arrays that the kernel reads: their lines are in the caches anyway.
        """
        if not self.has_nontemporal or op.pointer.id in self.facts.read:
            return None
        size = count(op.offset.shape) * size_of(op.value.ty.dtype)
        if size not in self._nontemporal:
            self._nontemporal[size] = self.e.entry_value(
                f"icmp ugt i64 %programs, {_MOST_CACHED_BYTES // size}", "i1"
            )
        return self._nontemporal[size]

    def pointer(self, value: Value) -> V:
        return self.pointers[value.id]

    def register(self, value: Value) -> str:
        return register(value.ty.dtype)

    def zero(self) -> V:
        """The address of a vector of zeros, for lanes that are masked off."""
        if self._zero is None:
            self._zero = self.e.alloca("i64", self.width)
            self.e.entry_line(f"store <{self.width} x i64> zeroinitializer, {self._zero}")
        return self._zero

    def slow_path_memory(self, element: str) -> V:
        """Memory for a vector that is passed to a function of the slow path."""
        if element not in self._slow_path:
            self._slow_path[element] = self.e.alloca(element, self.width)
        return self._slow_path[element]

    def trips_left(self) -> Variable:
        """How many trips of loops the program makes until the next safepoint."""
        if self._trips_left is None:
            self._trips_left = self.e.variable("i32")
            self.e.entry_line(f"store i32 {TRIPS}, {self._trips_left.pointer}")
        return self._trips_left

    def site(self, op: Op) -> tuple[int, Shape | None]:
        """The number of the report site of an op, and the shape of its lanes in the source.

        The shape is None if a pass has changed it.
        """
        site = site_of(op)
        assert site is not None
        for number, each in enumerate(self.sites):
            if each == site:
                return number, site.shape
        keys = [(each.kind, each.parts, each.loc) for each in self.sites]
        return keys.index((site.kind, site.parts, site.loc)), None

"""Decides by demand which blocks are materialized, staged or rematerialized."""

from __future__ import annotations

from eas.ir.aliasing.lane_domains import Domain, owner_indices
from eas.ir.aliasing.lane_indices import Indices, of, operand_indices
from eas.ir.nodes import (
    Combine,
    Compute,
    For,
    Load,
    Op,
    Region,
    Value,
    While,
    is_reduction,
    is_view,
    operands_of,
    regions_of,
    results_of,
)
from eas.ir.types import count
from eas.msl.analysis.costs import CHEAP, operands_of_pure
from eas.msl.analysis.facts import Control, is_pure
from eas.msl.layout.lane_control import needs_inside
from eas.msl.layout.layout import (
    Layout,
    combined_indices,
    combined_symbol,
    dot_indices,
    is_owned,
    serial_indices,
)
from eas.support.records import field, frozen, record


@frozen
class Demand:
    """An element that each lane of a domain needs, `times` over all lanes and iterations."""

    indices: Indices
    extent: int
    times: int
    loops: int


@record
class Demands:
    """Visits the text backwards, so that all demands for a value are known at its definition."""

    layout: Layout
    wanted: dict[Value, list[Demand]] = field(default_factory=dict[Value, list[Demand]])

    def want(self, value: Value, demand: Demand) -> None:
        value = self.layout.facts.resolve(value)
        if value.shape:
            known = self.wanted.setdefault(value, [])
            if demand not in known:
                known.append(demand)

    def want_owned(self, value: Value, loops: int) -> None:
        extent = count(value.shape)
        self.want(value, Demand(owner_indices(value.shape), extent, extent, loops))

    def region(self, region: Region, loops: int) -> None:
        for op in reversed(region.ops):
            self.op(op, loops)
        for value in region.args:
            self.stage_foreign_demands(value)

    def op(self, op: Op, loops: int) -> None:
        if isinstance(op, Control):
            self.control(op, loops)
        elif isinstance(op, Compute | Load) and is_pure(op, self.layout.facts):
            self.pure(op, loops)
        elif isinstance(op, Combine) and self.layout.is_serial(op):
            self.combination(op, loops)
        elif isinstance(op, Compute) and op.op.name == "dot":
            self.product(op, loops)
        else:
            for value in results_of(op):
                self.stage_foreign_demands(value)
            for value in operands_of(op):
                self.want_owned(value, loops)

    def control(self, op: Control, loops: int) -> None:
        for value in op.results:
            self.stage_foreign_demands(value)
        domain = self.layout.domains.get(op.number)
        if domain is not None:
            self.inside(op, domain, loops)
            return
        for region in reversed(regions_of(op)):
            again = isinstance(op, For | While) and region is not op.orelse
            self.region(region, loops + again)
        for value in operands_of(op):
            self.want_owned(value, loops)

    def inside(self, op: Control, domain: Domain, loops: int) -> None:
        facts, extent = self.layout.facts, domain.extent
        deeper = loops + isinstance(op, For | While)
        for value, indices in needs_inside(op, domain, self.layout):
            if not facts.is_inside(value, op):
                self.want(value, Demand(indices, extent, extent, deeper))
        for value in operands_of(op):
            if value.shape:
                self.want(value, Demand(domain.indices_of(value.shape), extent, extent, loops))
        for value in op.results:
            if value.shape and count(value.shape) != extent and facts.uses_of(value):
                self.layout.staged.add(value)
                self.layout.replicated.add(value)

    def combination(self, op: Combine, loops: int) -> None:
        """A reduction along an axis: the owner of a result needs all elements of its row."""
        for value in op.results:
            self.stage_foreign_demands(value)
        extent = count(op.results[0].shape)
        along = of(combined_symbol(op))
        indices = combined_indices(owner_indices(op.results[0].shape), along)
        for operand in op.operands:
            self.want(operand, Demand(indices, extent, count(operand.shape), loops))

    def product(self, op: Compute, loops: int) -> None:
        """A matrix product by lanes: each needs a row and a column."""
        self.stage_foreign_demands(op.result)
        extent = count(op.result.shape)
        times = extent * op.operands[0].shape[-1]
        *factors, own = dot_indices(op, owner_indices(op.result.shape))
        for operand, indices in zip(op.operands[:2], factors, strict=True):
            self.want(operand, Demand(indices, extent, times, loops + 1))
        self.want(op.operands[2], Demand(own, extent, extent, loops))

    def stage_foreign_demands(self, value: Value) -> None:
        """Stages a value that is computed once, if a lane needs an element that it does not own."""
        for demand in self.wanted.get(value, []):
            if not is_owned(value, demand.indices, demand.extent):
                self.layout.staged.add(value)

    def pure(self, op: Compute | Load, loops: int) -> None:
        demands = self.wanted.get(op.result, [])
        if is_reduction(op):
            assert isinstance(op, Compute)
            self.reduction(op, loops)
        elif not op.result.shape:
            self.propagate(op, Demand((), 1, 1, loops))
        elif is_view(op) or self.layout.costs.is_index(op.result):
            for demand in demands:
                self.propagate(op, demand)
        elif demands:
            self.expensive(op, demands, loops)

    def expensive(self, op: Compute | Load, demands: list[Demand], loops: int) -> None:
        """A value that is too expensive to rematerialize for every use."""
        layout, value = self.layout, op.result
        foreign = [d for d in demands if not is_owned(value, d.indices, d.extent)]
        is_materialized = len(foreign) < len(demands)
        if foreign and not self.may_rematerialize(value, foreign, is_materialized, loops):
            is_materialized = True
            layout.staged.add(value)
        elif foreign:
            for demand in foreign:
                self.propagate(op, demand)
        if is_materialized:
            layout.materialized.add(value)
            extent = count(value.shape)
            self.propagate(op, Demand(owner_indices(value.shape), extent, extent, loops))

    def may_rematerialize(
        self, value: Value, foreign: list[Demand], is_materialized: bool, loops: int
    ) -> bool:
        """Whether a value is rematerialized for foreign demands rather than staged."""
        price = self.layout.costs.prices.get(value)
        if price is None or any(demand.loops > loops for demand in foreign):
            return False
        times = sum(demand.times for demand in foreign)
        return price <= CHEAP or (not is_materialized and times <= count(value.shape))

    def propagate(self, op: Compute | Load, demand: Demand) -> None:
        indices = operand_indices(op, demand.indices) if isinstance(op, Compute) else demand.indices
        below = Demand(indices, demand.extent, demand.times, demand.loops)
        for value in operands_of_pure(op):
            self.want(value, below)

    def reduction(self, op: Compute, loops: int) -> None:
        value, operand = op.result, op.operands[0]
        if value.shape and not self.layout.is_threadgroup_only(value):
            self.stage_foreign_demands(value)
            self.layout.materialized.add(value)
        if not self.layout.is_serial(op):
            self.want_owned(operand, loops)
            return
        extent = count(value.shape)
        indices = serial_indices(op, owner_indices(value.shape))
        self.want(operand, Demand(indices, extent, count(operand.shape), loops))

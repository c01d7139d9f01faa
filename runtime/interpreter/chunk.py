"""The state of programs that run in lockstep, and the loop over the ops of a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eas.ir.nodes import Function, Region, Value
from eas.ir.ops.record import Array
from eas.runtime.interpreter.active_lanes import Lanes
from eas.runtime.interpreter.budgets import Limits
from eas.runtime.interpreter.liveness import Plan
from eas.runtime.interpreter.programs import Programs
from eas.support.records import field, record

if TYPE_CHECKING:
    from eas.runtime.interpreter.address_spaces import Memory
    from eas.runtime.interpreter.control import Loop, ScopeRun


@record(slots=True)
class Chunk:
    """The values and memories of the programs, by the id of the IR value.

    `loops` are the loops whose bodies are running, the innermost last; `trips` counts the trips of
    all loops. `printed` are the printed lines with their program, in order.
    """

    function: Function
    programs: Programs
    plan: Plan
    limits: Limits
    memories: dict[int, Memory]
    values: dict[int, Array]
    loops: list[Loop] = field(default_factory=list["Loop"])
    scopes: list[ScopeRun] = field(default_factory=list["ScopeRun"])
    trips: int = 0
    printed: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def threads(self) -> int:
        """How many threads a program has; 1 in a program over blocks."""
        return self.function.threads or 1

    def __getitem__(self, value: Value) -> Array:
        return self.values[value.id]

    def __setitem__(self, value: Value, array: Array) -> None:
        self.values[value.id] = array

    def read(self, values: Sequence[Value]) -> list[Array]:
        return [self.values[value.id] for value in values]

    def bind(self, values: Sequence[Value], arrays: Sequence[Array]) -> None:
        for value, array in zip(values, arrays, strict=True):
            self.values[value.id] = array

    def enter(self, region: Region, arguments: Sequence[Array], lanes: Lanes) -> Lanes | None:
        """Runs a region for some lanes; gives those that reach its end."""
        self.bind(region.args, arguments)
        going: Lanes | None = lanes
        for handler, op, unneeded in self.plan.regions[region.number].steps:
            going = handler(self, op, going)
            if going is None:
                return None
            for value in unneeded:
                del self.values[value]
        return going

    def leave(self, region: Region) -> list[Array]:
        """The operands of the terminator, after lanes have reached the end of a region."""
        steps = self.plan.regions[region.number]
        found = [self.values[value] for value in steps.passed]
        for value in steps.at_end:
            del self.values[value]
        return found

"""Fuses neighboring launches of a graph into one, see `eas.ir.launch_fusion`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from eas.backends import PreparedLaunch, prepare_on
from eas.compiler import compile_function
from eas.graphs import RecordedLaunch
from eas.ir.launch_fusion import Part, fuse, is_elementwise_function
from eas.ir.nodes import Function
from eas.runtime.argument_values import Bound
from eas.runtime.overlap import relation

Group = Sequence[RecordedLaunch]
Fused = tuple[Function, Mapping[str, Bound]]


def fuse_neighbors(launches: Group) -> Iterator[RecordedLaunch]:
    """The launches, where neighbors that can be fused are one."""
    group: list[RecordedLaunch] = []
    fused: Fused | None = None
    for launch in launches:
        more = _fuse_group([*group, launch]) if group else None
        if more is None and group:
            yield _finished(group, fused)
            group = []
        group.append(launch)
        fused = more
    if group:
        yield _finished(group, fused)


def _finished(group: Group, fused: Fused | None) -> RecordedLaunch:
    """A launch alone, or the fused one, compiled."""
    if fused is None:
        return group[0]
    function, values = fused
    prepared = group[0].prepared
    compiled = compile_function(function, threads=prepared.call.compiled.threads_wanted)
    made = prepare_on(prepared.backend, compiled, values, prepared.grid, prepared.call.checks)
    assert made is not None  # no grid of a recorded launch is empty
    return RecordedLaunch(made, ", ".join(dict.fromkeys(launch.place for launch in group)))


def _fuse_group(group: Group) -> Fused | None:
    first = group[0].prepared
    if any(_conditions(launch.prepared) != _conditions(first) for launch in group):
        return None
    if any(extent != 1 for extent in first.grid[1:]):
        return None
    if not all(is_elementwise_function(each.prepared.call.compiled.function) for each in group):
        return None
    names = _Names()
    parts: list[Part] = []
    for launch in group:
        found = names.add(launch.prepared)
        if found is None:
            return None
        parts.append(Part(launch.prepared.call.compiled.function, found))
    function = fuse(parts, "_".join(dict.fromkeys(launch.kernel for launch in group)))
    return None if function is None else (function, names.values)


def _conditions(prepared: PreparedLaunch) -> tuple[object, ...]:
    """What launches must have in common to be one."""
    call = prepared.call
    return prepared.backend, prepared.grid, call.checks, call.compiled.threads_wanted


class _Names:
    """Names for the parameters of a fused function: one for each array and for each scalar."""

    def __init__(self) -> None:
        self.values: dict[str, Bound] = {}
        self._written: set[str] = set()

    def add(self, prepared: PreparedLaunch) -> dict[str, str] | None:
        """The names of a launch's arguments; None if it cannot be fused with those before."""
        call = prepared.call
        names: dict[str, str] = {}
        for name, value in call.values.items():
            is_written = name in call.compiled.writes
            found = (
                self._name_array(name, value, is_written)
                if isinstance(value, np.ndarray)
                else self._name_scalar(name, value)
            )
            if found is None:
                return None
            names[name] = found
        return names

    def _name_array(self, name: str, value: Bound, is_written: bool) -> str | None:
        assert isinstance(value, np.ndarray)
        same: str | None = None
        for other, array in self.values.items():
            if isinstance(array, np.ndarray):
                related = relation(array, value)
                if related == "same":
                    same = same or other
                elif related == "overlapping" and (is_written or other in self._written):
                    return None
        chosen = same or self._free(name)
        self.values[chosen] = value
        if is_written:
            self._written.add(chosen)
        return chosen

    def _name_scalar(self, name: str, value: Bound) -> str | None:
        """A scalar keeps its name, by which `replay` sets it: one name has one value."""
        known = self.values.get(name)
        if known is None:
            self.values[name] = value
            return name
        is_same = isinstance(known, np.generic) and known.dtype == value.dtype
        return name if is_same and known.tobytes() == value.tobytes() else None

    def _free(self, name: str) -> str:
        chosen, number = name, 2
        while chosen in self.values:
            chosen, number = f"{name}_{number}", number + 1
        return chosen

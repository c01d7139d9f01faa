"""Copies of the host's arrays in memory of the GPU, while launches in flight use them.

The first launch that uses an array copies it in. Later ones use the same copy, so that what a
launch writes stays on the GPU for the next one. When the last writer is done, the copy goes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from eas.runtime.metal.dispatch import Array, Bound, Dispatch, Place
from eas.runtime.metal.objects import Buffer
from eas.runtime.streams.launch_tasks import Task
from eas.support.records import field, record

Part = tuple[int, int]  # the address of an array of the host's, and its size


@record
class Region:
    """`size` bytes of the host from `start` on, which hold arrays of one launch or of a graph."""

    start: int
    size: int
    parts: set[Part]
    names: list[str]

    def overlaps(self, other: Region | Copy) -> bool:
        return self.start < other.start + other.size and other.start < self.start + self.size

    def add(self, other: Region) -> None:
        end = max(self.start + self.size, other.start + other.size)
        self.size = end - self.start
        self.parts |= other.parts
        self.names += other.names


@record
class Copy:
    """A buffer that stands for `size` bytes of the host from `start` on.

    `loaded` are the parts that were copied in. `written` are those that go back, with the array and
    its last writer.
    """

    start: int
    size: int
    buffer: Buffer
    content: Array
    loaded: set[Part] = field(default_factory=set[Part])
    written: dict[Part, tuple[Array, Task]] = field(default_factory=dict[Part, tuple[Array, Task]])
    users: list[Task] = field(default_factory=list[Task])

    def has(self, start: int, size: int) -> bool:
        return self.start <= start and start + size <= self.start + self.size

    def view(self, part: Part) -> Array:
        first = part[0] - self.start
        return self.content[first : first + part[1]]


class Staging:
    """The copies of a device. No two of them overlap."""

    def __init__(self) -> None:
        self._copies: list[Copy] = []

    def blockers(self, dispatches: Sequence[Dispatch]) -> list[Task]:
        """The tasks to wait for, because copies of theirs overlap with the arrays, but differ."""
        found: dict[int, Task] = {}
        for region in regions_of(dispatches):
            for copy in self._copies:
                is_there = copy.has(region.start, region.size) and region.parts <= copy.loaded
                if region.overlaps(copy) and not is_there:
                    found |= {id(task): task for task in copy.users}
        return list(found.values())

    def place(self, dispatches: Sequence[Dispatch], task: Task) -> list[list[Place]]:
        """Where the arrays of dispatches are on the GPU; they are copied there if they are not.

        Arrays that overlap share a copy, also if they are those of different dispatches.
        """
        copies: dict[Part, Copy] = {}
        for region in regions_of(dispatches):
            copy = self._find(region) or self._make(region, dispatches[0])
            copy.users.append(task)
            copies |= dict.fromkeys(region.parts, copy)
        return [self._place(dispatch, task, copies) for dispatch in dispatches]

    def _place(self, dispatch: Dispatch, task: Task, copies: Mapping[Part, Copy]) -> list[Place]:
        places: list[Place] = []
        for bound in dispatch.arrays:
            part = _part(bound)
            copy = copies[part]
            if bound.index in dispatch.written:
                copy.written[part] = (bound.flat, task)
            if part not in copy.loaded:
                copy.loaded.add(part)
                copy.view(part)[:] = bound.flat.view(np.uint8)
            places.append(Place(bound, copy.buffer, part[0] - copy.start, copy.view(part)))
        return places

    def _find(self, region: Region) -> Copy | None:
        found = [copy for copy in self._copies if copy.has(region.start, region.size)]
        return found[0] if found else None

    def _make(self, region: Region, dispatch: Dispatch) -> Copy:
        what = " and ".join(f"`{name}`" for name in dict.fromkeys(region.names))
        buffer = dispatch.device.memory(region.size, what, dispatch.pipeline.program.kernel)
        content = np.frombuffer(buffer.contents().as_buffer(region.size), np.uint8)
        made = Copy(region.start, region.size, buffer, content)
        self._copies.append(made)
        return made

    def retire(self, task: Task, *, is_copied: bool = True) -> None:
        """A task is done: what it was the last to write goes back into its arrays."""
        for copy in [each for each in self._copies if task in each.users]:
            for part, (flat, writer) in list(copy.written.items()):
                if writer is task:
                    if is_copied:
                        flat.view(np.uint8)[:] = copy.view(part)
                    del copy.written[part]
            copy.users = [each for each in copy.users if each is not task]
        self._copies = [copy for copy in self._copies if copy.users]


def regions_of(dispatches: Iterable[Dispatch]) -> list[Region]:
    """The memory of the host that dispatches use; regions that overlap are one."""
    found = sorted((r for each in dispatches for r in _regions(each)), key=lambda r: r.start)
    merged: list[Region] = []
    for region in found:
        if merged and merged[-1].overlaps(region):
            merged[-1].add(region)
        else:
            merged.append(region)
    return merged


def _regions(dispatch: Dispatch) -> list[Region]:
    """The regions of one dispatch, as its arrays were divided."""
    made = [Region(0, size, set(), []) for size in dispatch.regions.sizes]
    for bound, (number, offset) in zip(dispatch.arrays, dispatch.regions.places, strict=True):
        part = _part(bound)
        made[number].start = part[0] - offset
        made[number].parts.add(part)
        made[number].names.append(bound.name)
    return made


def _part(bound: Bound) -> Part:
    return bound.flat.__array_interface__["data"][0], bound.flat.nbytes

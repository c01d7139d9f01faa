"""Copies of the host's arrays in memory of the GPU, while launches in flight use them.

The first launch that uses an array copies it in. Later ones use the same copy, so that what a
launch writes stays on the GPU for the next one. When the last writer is done, the copy goes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from eas.runtime.metal.dispatch import Array, Dispatch, Place
from eas.runtime.metal.objects import Buffer
from eas.runtime.streams.tasks import Task
from eas.support.records import field, record

Part = tuple[int, int]  # the offset of an array in a copy, and its size


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

    def overlaps(self, start: int, size: int) -> bool:
        return start < self.start + self.size and self.start < start + size


class Staging:
    """The copies of a device."""

    def __init__(self) -> None:
        self._copies: dict[int, Copy] = {}

    def blockers(self, dispatch: Dispatch) -> list[Task]:
        """The tasks to wait for, because copies of theirs overlap with the arrays, but differ."""
        found: dict[int, Task] = {}
        for start, size, parts in _regions(dispatch):
            for copy in self._copies.values():
                is_same = (copy.start, copy.size) == (start, size) and parts <= copy.loaded
                if copy.overlaps(start, size) and not is_same:
                    found |= {id(task): task for task in copy.users}
        return list(found.values())

    def place(self, dispatch: Dispatch, task: Task) -> list[Place]:
        """Where the arrays of a dispatch are on the GPU; they are copied there if they are not."""
        copies = [self._copy(dispatch, *region) for region in _regions(dispatch)]
        for copy in copies:
            copy.users.append(task)
        places: list[Place] = []
        for bound, (region, offset) in zip(dispatch.arrays, dispatch.regions.places, strict=True):
            copy, part = copies[region], (offset, bound.flat.nbytes)
            if bound.index in dispatch.written:
                copy.written[part] = (bound.flat, task)
            view = copy.content[offset : offset + bound.flat.nbytes]
            if part not in copy.loaded:
                copy.loaded.add(part)
                view[:] = bound.flat.view(np.uint8)
            places.append(Place(bound, copy.buffer, offset, view))
        return places

    def _copy(self, dispatch: Dispatch, start: int, size: int, parts: set[Part]) -> Copy:
        found = self._copies.get(start)
        if found is None or found.size != size:
            what = " and ".join(f"`{bound.name}`" for bound in dispatch.arrays)
            buffer = dispatch.device.memory(size, what, dispatch.pipeline.program.kernel)
            content = np.frombuffer(buffer.contents().as_buffer(size), np.uint8)
            found = Copy(start, size, buffer, content)
            self._copies[start] = found
        return found

    def retire(self, task: Task, *, is_copied: bool = True) -> None:
        """A task is done: what it was the last to write goes back into its arrays."""
        for copy in [each for each in self._copies.values() if task in each.users]:
            for (offset, size), (flat, writer) in list(copy.written.items()):
                if writer is task:
                    if is_copied:
                        flat.view(np.uint8)[:] = copy.content[offset : offset + size]
                    del copy.written[offset, size]
            copy.users = [each for each in copy.users if each is not task]
            if not copy.users:
                del self._copies[copy.start]


def _regions(dispatch: Dispatch) -> Iterable[tuple[int, int, set[Part]]]:
    """The regions of the arrays of a dispatch: the first address, the size, the parts."""
    starts, parts = _starts_and_parts(dispatch)
    return zip(starts, dispatch.regions.sizes, parts, strict=True)


def _starts_and_parts(dispatch: Dispatch) -> tuple[Sequence[int], Sequence[set[Part]]]:
    count = len(dispatch.regions.sizes)
    starts, parts = [0] * count, [set[Part]() for _ in range(count)]
    for bound, (region, offset) in zip(dispatch.arrays, dispatch.regions.places, strict=True):
        starts[region] = bound.flat.__array_interface__["data"][0] - offset
        parts[region].add((offset, bound.flat.nbytes))
    return starts, parts

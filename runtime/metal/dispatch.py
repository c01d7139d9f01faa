"""One launch of a program on the GPU: copies arrays in, runs it, and copies them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from eas.runtime.metal.completion import TimeOutError, wait
from eas.runtime.metal.device import Device
from eas.runtime.metal.errors import MetalError
from eas.runtime.metal.libraries import Pipeline
from eas.runtime.metal.objects import Buffer, CommandBuffer, ComputeEncoder
from eas.runtime.metal.residency import Resident
from eas.support.records import field, frozen, record

Array = np.ndarray[Any, np.dtype[Any]]
Extents = tuple[int, int, int]

MOST_BUFFERS = 31
MOST_BYTES = 4096  # of constants in a command


class Bound(Protocol):
    """An array at a buffer index: the kernel's pointer is to `flat[origin]`."""

    @property
    def index(self) -> int: ...
    @property
    def flat(self) -> Array: ...
    @property
    def origin(self) -> int: ...
    @property
    def name(self) -> str: ...


class Regions(Protocol):
    """Memory in pieces of some sizes; each array has a piece and an offset in bytes."""

    @property
    def sizes(self) -> Sequence[int]: ...
    @property
    def places(self) -> Sequence[tuple[int, int]]: ...


@frozen
class Place:
    """An array in a buffer. `view` is its bytes there; it does not keep the buffer alive."""

    bound: Bound
    buffer: Buffer
    offset: int
    view: Array


@record
class Dispatch:
    """A pipeline with its arguments, run by `groups` threadgroups of `threads` threads.

    `constants` are small and read-only; `regions` says where the `arrays` are. The memory of
    `residents` is on the GPU already: they are used where they are. `written` are the indices of
    what the kernel writes.
    """

    device: Device
    pipeline: Pipeline
    constants: Sequence[Bound]
    arrays: Sequence[Bound]
    regions: Regions
    threads: int
    groups: Extents
    seconds: float
    residents: Sequence[tuple[Bound, Resident]] = ()
    written: frozenset[int] = frozenset()
    _places: list[Place] = field(default_factory=list[Place])

    def run(self) -> None:
        """Runs every thread; raises `MetalError` if that fails."""
        self.check()
        framework, kernel = self.device.framework, self.pipeline.program.kernel
        with framework.objc.autorelease_pool():
            self._places = self._copied_in()
            commands = self._encoded()
            commands.commit()
            try:
                wait(framework, commands, kernel, self.seconds)
            except (TimeOutError, KeyboardInterrupt):
                self.device.abandon_queue()
                raise

    def write_back(self, *indices: int) -> None:
        """Copies the buffers at some indices back into their arrays."""
        for place in self._places:
            if place.bound.index in indices:
                place.bound.flat.view(np.uint8)[:] = place.view

    def check(self) -> None:
        """Checks what Metal would abort the process for."""
        self.device.check_process()
        program, most = self.pipeline.program, self.pipeline.most_threads
        if self.threads > most:
            raise MetalError(
                f"it has {self.threads} threads per program, but {self.device.name} runs only "
                f"{most} of this kernel: launch it with `_tptg={most}` or less",
                program.kernel,
            )
        for bound in self.constants:
            if bound.flat.nbytes > MOST_BYTES:
                message = f"its scalars take {bound.flat.nbytes} bytes; Metal takes {MOST_BYTES}"
                raise MetalError(message, program.kernel)
        residents = [bound for bound, _ in self.residents]
        for bound in (*self.constants, *self.arrays, *residents):
            if bound.index >= MOST_BUFFERS:
                message = (
                    f"`{bound.name}` has the index {bound.index}; Metal has 0 to {MOST_BUFFERS - 1}"
                )
                raise MetalError(message, program.kernel)

    def _copied_in(self) -> list[Place]:
        kernel = self.pipeline.program.kernel
        buffers: list[Buffer] = []
        for region, size in enumerate(self.regions.sizes):
            what = " and ".join(f"`{name}`" for name in self._names(region))
            buffers.append(self.device.memory(size, what, kernel))
        views = [
            np.frombuffer(buffer.contents().as_buffer(size), np.uint8)
            for buffer, size in zip(buffers, self.regions.sizes, strict=True)
        ]
        places: list[Place] = []
        for bound, (region, offset) in zip(self.arrays, self.regions.places, strict=True):
            view = views[region][offset : offset + bound.flat.nbytes]
            view[:] = bound.flat.view(np.uint8)
            places.append(Place(bound, buffers[region], offset, view))
        return places

    def _names(self, region: int) -> list[str]:
        pairs = zip(self.arrays, self.regions.places, strict=True)
        return [bound.name for bound, place in pairs if place[0] == region]

    def _encoded(self) -> CommandBuffer:
        kernel = self.pipeline.program.kernel
        commands = self.device.queue().commandBuffer()
        encoder = None if commands is None else commands.computeCommandEncoder()
        if commands is None or encoder is None:
            raise MetalError(f"{self.device.name} takes no commands", kernel)
        try:
            self.encode(encoder, self._places)
        finally:  # freeing an encoder before that aborts the process
            encoder.endEncoding()
        commands.setLabel_(kernel)
        return commands

    def encode(self, encoder: ComputeEncoder, places: Sequence[Place]) -> None:
        """Encodes the dispatch, with its arrays at these places."""
        metal = self.device.framework.metal
        groups, threads = metal.MTLSizeMake(*self.groups), metal.MTLSizeMake(self.threads, 1, 1)
        encoder.setComputePipelineState_(self.pipeline.state)
        for bound in self.constants:
            data = bound.flat.tobytes()
            encoder.setBytes_length_atIndex_(data, len(data), bound.index)
        for place in places:
            start = place.offset + place.bound.origin * place.bound.flat.itemsize
            encoder.setBuffer_offset_atIndex_(place.buffer, start, place.bound.index)
        for bound, resident in self.residents:
            start = resident.offset + bound.origin * bound.flat.itemsize
            encoder.setBuffer_offset_atIndex_(resident.buffer, start, bound.index)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, threads)

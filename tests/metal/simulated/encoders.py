"""Encoders: they take arguments and dispatches, and refuse what Metal's validation refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from eas.msl.arrays import Array, Bound
from eas.msl.host import Dispatch
from tests.metal.simulated.arguments import MTLSize
from tests.metal.simulated.buffers import MTLBuffer
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, require, selector
from tests.metal.simulated.pipelines import CONSTANT_ALIGNMENT, Argument, MTLComputePipelineState

# https://developer.apple.com/metal/Metal-Feature-Set-Tables.pdf
MOST_ENTRIES, MOST_BYTES, MOST_GROUP_BYTES, GROUP_MULTIPLE = 31, 4096, 32768, 16
MOST_POSITIONS = 1 << 32  # along an axis of the grid: they are 32 bits wide


@dataclass(frozen=True)
class Binding:
    """What is bound at an index: a buffer from an offset on, or a copy of some bytes."""

    source: MTLBuffer | Array
    offset: int = 0

    @property
    def size(self) -> int:
        memory = self.source.memory if isinstance(self.source, MTLBuffer) else self.source
        return memory.size - self.offset

    def bound(self, index: int) -> Bound:
        if isinstance(self.source, MTLBuffer):
            return Bound(index, self.source.inside, self.offset)
        return Bound(index, self.source, is_constant=True)


@dataclass(frozen=True)
class Command:
    """One dispatch; it keeps its buffers alive."""

    pipeline: MTLComputePipelineState
    bindings: Mapping[int, Binding]
    shared: Mapping[int, int]
    groups: MTLSize
    threads: MTLSize

    @property
    def buffers(self) -> dict[MTLBuffer, bool]:
        """The buffers that it uses, and whether it writes them."""
        written = {argument.index for argument in self.pipeline.arguments if argument.is_written}
        found: dict[MTLBuffer, bool] = {}
        for index, binding in self.bindings.items():
            if isinstance(binding.source, MTLBuffer):
                found[binding.source] = found.get(binding.source, False) or index in written
        return found

    def run(self) -> None:
        host, name = self.pipeline.machine.host, self.pipeline.kernel.name
        bounds = [self.bindings[index].bound(index) for index in sorted(self.bindings)]
        dispatch = Dispatch(
            host, self.pipeline.built, name, bounds, self.threads, self.groups, shared=self.shared
        )
        with host.lock:
            dispatch.run()
            dispatch.write_back(*(each.index for each in bounds if not each.is_constant))


class MTLComputeCommandEncoder(Object):
    """Arguments and dispatches, until the encoding ends."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.is_open = True
        self.pipeline: MTLComputePipelineState | None = None
        self.bindings: dict[int, Binding] = {}
        self.shared: dict[int, int] = {}
        self.commands: list[Command] = []

    def __del__(self) -> None:
        if self.is_open:
            self.machine.troubles.append("an encoder is freed before the encoding has ended")

    def buffers(self) -> dict[object, bool]:
        """The buffers that its commands use, and whether one of them writes it."""
        found: dict[object, bool] = {}
        for command in self.commands:
            for buffer, is_written in command.buffers.items():
                found[buffer] = found.get(buffer, False) or is_written
        return found

    @selector
    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        self._require_open()
        self.pipeline = state

    @selector
    def setBuffer_offset_atIndex_(self, buffer: MTLBuffer | None, offset: int, index: int) -> None:
        self._require_entry(index)
        self.bindings.pop(index, None)
        if buffer is not None:
            size = buffer.memory.size
            require(offset < size, f"offset {offset} in {size} bytes")
            self.bindings[index] = Binding(buffer, offset)

    @selector
    def setBytes_length_atIndex_(self, data: memoryview, length: int, index: int) -> None:
        self._require_entry(index)
        if length > len(data):
            raise ValueError(f"Requesting buffer of {length}, have buffer of {len(data)}")
        require(length > 0, "setBytes without bytes")
        require(length <= MOST_BYTES, f"setBytes with {length} bytes, Metal takes {MOST_BYTES}")
        self.bindings[index] = Binding(np.frombuffer(bytes(data[:length]), np.uint8))

    @selector
    def setThreadgroupMemoryLength_atIndex_(self, length: int, index: int) -> None:
        self._require_entry(index)
        require(length % GROUP_MULTIPLE == 0, f"{length} bytes, not a multiple of {GROUP_MULTIPLE}")
        self.shared[index] = length
        total = sum(self.shared.values())
        require(total <= MOST_GROUP_BYTES, f"{total} bytes of threadgroup memory")

    @selector
    def dispatchThreadgroups_threadsPerThreadgroup_(
        self, groups: MTLSize, threads: MTLSize
    ) -> None:
        self._require_open()
        require(self.pipeline is not None, "a dispatch without a pipeline")
        assert self.pipeline is not None
        self._require_extents(groups, threads, self.pipeline.maxTotalThreadsPerThreadgroup())
        for argument in self.pipeline.arguments:
            require(argument.index in self.bindings, f"nothing is bound for `{argument.name}`")
            _require_fit(argument, self.bindings[argument.index])
        for index, name in self.pipeline.shared.items():
            require(self.shared.get(index, 0) > 0, f"`{name}` has no threadgroup memory")
        shared = {index: self.shared[index] for index in self.pipeline.shared}
        self.commands.append(Command(self.pipeline, dict(self.bindings), shared, groups, threads))

    @selector
    def endEncoding(self) -> None:
        require(self.is_open, "an encoding that ends twice")
        self.is_open = False

    def _require_open(self) -> None:
        require(self.is_open, "an encoder that has ended")

    def _require_entry(self, index: int) -> None:
        self._require_open()
        require(index < MOST_ENTRIES, f"the index {index} is not 0 to {MOST_ENTRIES - 1}")

    def _require_extents(self, groups: MTLSize, threads: MTLSize, most: int) -> None:
        count = threads.width * threads.height * threads.depth
        require(count <= most, f"{count} threads per threadgroup, this kernel has {most}")
        require(all(extent > 0 for extent in (*groups, *threads)), "a dispatch of nothing")
        for number, extent in zip(groups, threads, strict=True):
            require(number * extent <= MOST_POSITIONS, f"{number * extent} threads along an axis")


def _require_fit(argument: Argument, binding: Binding) -> None:
    name, is_copy = argument.name, not isinstance(binding.source, MTLBuffer)
    multiple = max(argument.alignment, CONSTANT_ALIGNMENT if argument.is_constant else 1)
    message = f"`{name}` starts at byte {binding.offset}, not at a multiple of {multiple}"
    require(binding.offset % multiple == 0, message)
    message = f"`{name}` has {binding.size} bytes, not the {argument.size} of its type"
    require(binding.size >= argument.size, message)
    require(not (is_copy and argument.is_written), f"`{name}` is written by the kernel")

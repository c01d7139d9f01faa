"""The GPU: it makes queues, buffers, libraries and pipelines."""

from __future__ import annotations

import numpy as np

from tests.metal.simulated.buffers import (
    MODE_BITS,
    SHARED,
    MTLBuffer,
    new_buffer,
    require_length,
)
from tests.metal.simulated.commands import MTLCommandQueue
from tests.metal.simulated.events import MTLSharedEvent
from tests.metal.simulated.foundation import NSError
from tests.metal.simulated.libraries import (
    MTLCompileOptions,
    MTLFunction,
    MTLLibrary,
    compile_library,
    complaints_of,
)
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, autorelease, constant, give, require, selector
from tests.metal.simulated.pipelines import MTLComputePipelineState
from tests.metal.simulated.scheduler import Scheduler

APPLE7 = constant("MTLGPUFamilyApple7")
PAGE = 16384  # of Apple's processors


class MTLDevice(Object):
    """What `MTLCreateSystemDefaultDevice` gives."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.scheduler = Scheduler(machine)

    @selector
    def name(self) -> str:
        return "Apple M1 (simulated)"

    @selector
    def supportsFamily_(self, family: int) -> bool:
        return family in self.machine.families

    @selector
    def maxBufferLength(self) -> int:
        return self.machine.most_buffer_bytes

    @selector
    def newCommandQueue(self) -> MTLCommandQueue | None:
        if self.machine.faults.has_no_queue:
            return None
        return give(MTLCommandQueue(self.machine, self.scheduler))

    @selector
    def newSharedEvent(self) -> MTLSharedEvent | None:
        return None if self.machine.faults.has_no_queue else give(MTLSharedEvent(self.machine))

    @selector
    def newBufferWithLength_options_(self, length: int, options: int) -> MTLBuffer | None:
        made = new_buffer(self.machine, length, options)
        return None if made is None else give(made)

    @selector
    def newBufferWithBytes_length_options_(
        self, data: memoryview, length: int, options: int
    ) -> MTLBuffer | None:
        made = self.newBufferWithLength_options_(length, options)
        if made is not None:
            made.memory[:] = data[:length]
        return made

    @selector
    def newBufferWithBytesNoCopy_length_options_deallocator_(
        self, data: memoryview, length: int, options: int, deallocator: None
    ) -> MTLBuffer | None:
        memory = np.frombuffer(data, np.uint8, length)
        address: int = memory.__array_interface__["data"][0]
        require(address % PAGE == 0, f"memory at {address:#x}, which is no multiple of {PAGE}")
        require(length % PAGE == 0, f"{length} bytes, which is no multiple of {PAGE}")
        require(options & MODE_BITS == SHARED, "memory of the CPU that is not shared")
        require(deallocator is None, "the simulation leaves the memory to its owner")
        if not require_length(self.machine, length, options):
            return None
        return give(MTLBuffer(self.machine, memory, options))

    @selector
    def newLibraryWithSource_options_error_(
        self, source: str, options: MTLCompileOptions | None, error: None
    ) -> tuple[MTLLibrary | None, NSError | None]:
        require(error is None, "an error that goes out is None on its way in")
        return compile_library(self.machine, source, options)

    @selector
    def newComputePipelineStateWithFunction_error_(
        self, function: MTLFunction, error: None
    ) -> tuple[MTLComputePipelineState | None, NSError | None]:
        require(error is None, "an error that goes out is None on its way in")
        said = self.machine.faults.pipeline_error
        if "simdgroup_multiply" in function.library.text and APPLE7 not in self.machine.families:
            said += "Unsupported function: matrices in simdgroups"
        if self.machine.is_strict:
            said += "".join(c.message for c in complaints_of(function.library.text))
        if said:
            return None, autorelease(NSError(self.machine, "AGXMetalG13X", 3, said))
        return give(MTLComputePipelineState(self.machine, function)), None

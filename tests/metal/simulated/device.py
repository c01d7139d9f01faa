"""The GPU: it makes queues, buffers, libraries and pipelines."""

from __future__ import annotations

from tests.metal.simulated.buffers import MTLBuffer
from tests.metal.simulated.commands import MTLCommandQueue
from tests.metal.simulated.foundation import NSError
from tests.metal.simulated.libraries import (
    MTLCompileOptions,
    MTLFunction,
    MTLLibrary,
    compile_library,
    complaints_of,
)
from tests.metal.simulated.objects import Object, autorelease, constant, give, require, selector
from tests.metal.simulated.pipelines import MTLComputePipelineState


class MTLDevice(Object):
    """What `MTLCreateSystemDefaultDevice` gives."""

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
        return None if self.machine.faults.has_no_queue else give(MTLCommandQueue(self.machine))

    @selector
    def newBufferWithLength_options_(self, length: int, options: int) -> MTLBuffer | None:
        shared = constant("MTLResourceStorageModeShared")
        require(options == shared, "the CPU cannot reach a buffer that is not shared")
        require(length <= self.machine.most_buffer_bytes, "a buffer longer than maxBufferLength")
        if length == 0 or self.machine.faults.is_out_of_memory:
            return None
        return give(MTLBuffer(self.machine, length))

    @selector
    def newBufferWithBytes_length_options_(
        self, data: bytes, length: int, options: int
    ) -> MTLBuffer | None:
        made = self.newBufferWithLength_options_(length, options)
        if made is not None:
            made.memory[:] = memoryview(data)[:length]
        return made

    @selector
    def newLibraryWithSource_options_error_(
        self, source: str, options: MTLCompileOptions, error: None
    ) -> tuple[MTLLibrary | None, NSError | None]:
        require(error is None, "an error that goes out is None on its way in")
        return compile_library(self.machine, source, options)

    @selector
    def newComputePipelineStateWithFunction_error_(
        self, function: MTLFunction, error: None
    ) -> tuple[MTLComputePipelineState | None, NSError | None]:
        require(error is None, "an error that goes out is None on its way in")
        told = self.machine.faults.pipeline_error
        if self.machine.is_strict:
            told += "".join(c.message for c in complaints_of(function.library.text))
        if told:
            return None, autorelease(NSError(self.machine, "AGXMetalG13X", 3, told))
        return give(MTLComputePipelineState(self.machine, function)), None

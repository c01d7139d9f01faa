"""The part of Metal, Foundation and pyobjc that is used here, with pyobjc's names.

`tests/metal/pyobjc.json` is an extract of pyobjc's own tables; a test compares this file with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Size = Any  # MTLSize, a struct


class Object(Protocol):
    """Anything of Objective-C."""

    def retainCount(self) -> int: ...
    def release(self) -> None: ...


class Memory(Protocol):
    """`objc.varlist`: memory of unknown length."""

    def as_buffer(self, count: int) -> memoryview: ...


class Error(Protocol):
    """An NSError."""

    def localizedDescription(self) -> str: ...
    def domain(self) -> str: ...
    def code(self) -> int: ...


class Buffer(Object, Protocol):
    """An MTLBuffer."""

    def contents(self) -> Memory: ...
    def length(self) -> int: ...
    def storageMode(self) -> int: ...


class Function(Object, Protocol):
    """An MTLFunction."""


class Library(Object, Protocol):
    """An MTLLibrary."""

    def newFunctionWithName_(self, name: str) -> Function | None: ...


class PipelineState(Object, Protocol):
    """An MTLComputePipelineState."""

    def maxTotalThreadsPerThreadgroup(self) -> int: ...
    def threadExecutionWidth(self) -> int: ...


class ComputeEncoder(Protocol):
    """An MTLComputeCommandEncoder."""

    def setComputePipelineState_(self, state: PipelineState) -> None: ...
    def setBuffer_offset_atIndex_(self, buffer: Buffer, offset: int, index: int) -> None: ...
    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None: ...
    def dispatchThreadgroups_threadsPerThreadgroup_(self, groups: Size, threads: Size) -> None: ...
    def endEncoding(self) -> None: ...


class BlitEncoder(Protocol):
    """An MTLBlitCommandEncoder."""

    def copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        self, source: Buffer, offset: int, target: Buffer, target_offset: int, size: int
    ) -> None: ...
    def endEncoding(self) -> None: ...


class SharedEvent(Object, Protocol):
    """An MTLSharedEvent."""

    def setSignaledValue_(self, value: int) -> None: ...


class CommandBuffer(Protocol):
    """An MTLCommandBuffer."""

    def setLabel_(self, label: str) -> None: ...
    def computeCommandEncoder(self) -> ComputeEncoder | None: ...
    def blitCommandEncoder(self) -> BlitEncoder | None: ...
    def encodeSignalEvent_value_(self, event: SharedEvent, value: int) -> None: ...
    def encodeWaitForEvent_value_(self, event: SharedEvent, value: int) -> None: ...
    def GPUEndTime(self) -> float: ...
    def commit(self) -> None: ...
    def status(self) -> int: ...
    def error(self) -> Error | None: ...


class CommandQueue(Object, Protocol):
    """An MTLCommandQueue."""

    def commandBuffer(self) -> CommandBuffer | None: ...


class CompileOptions(Protocol):
    """An MTLCompileOptions."""

    def init(self) -> CompileOptions: ...
    def setLanguageVersion_(self, version: int) -> None: ...
    def setMathMode_(self, mode: int) -> None: ...
    def setMathFloatingPointFunctions_(self, functions: int) -> None: ...
    def setFastMathEnabled_(self, enabled: bool) -> None: ...


class CompileOptionsClass(Protocol):
    """The class MTLCompileOptions."""

    def alloc(self) -> CompileOptions: ...


class RawDevice(Protocol):
    """An MTLDevice. Methods with an `error` give a tuple, with the error behind the result."""

    def name(self) -> str: ...
    def supportsFamily_(self, family: int) -> bool: ...
    def maxBufferLength(self) -> int: ...
    def newCommandQueue(self) -> CommandQueue | None: ...
    def newSharedEvent(self) -> SharedEvent | None: ...
    def newBufferWithLength_options_(self, length: int, options: int) -> Buffer | None: ...
    def newLibraryWithSource_options_error_(
        self, source: str, options: CompileOptions, error: None
    ) -> tuple[Library | None, Error | None]: ...
    def newComputePipelineStateWithFunction_error_(
        self, function: Function, error: None
    ) -> tuple[PipelineState | None, Error | None]: ...


class SystemVersion(Protocol):
    """The struct NSOperatingSystemVersion."""

    majorVersion: int
    minorVersion: int


class ProcessInfo(Protocol):
    """An NSProcessInfo."""

    def operatingSystemVersion(self) -> SystemVersion: ...


class ProcessInfoClass(Protocol):
    """The class NSProcessInfo."""

    def processInfo(self) -> ProcessInfo: ...


class Metal(Protocol):
    """The module `Metal`."""

    MTLCompileOptions: CompileOptionsClass
    MTLCommandBufferStatusCompleted: int
    MTLCommandBufferStatusError: int
    MTLMathFloatingPointFunctionsFast: int
    MTLMathFloatingPointFunctionsPrecise: int
    MTLMathModeRelaxed: int
    MTLMathModeSafe: int
    MTLResourceStorageModePrivate: int
    MTLResourceStorageModeShared: int
    MTLStorageModePrivate: int

    def MTLCopyAllDevices(self) -> Sequence[RawDevice]: ...
    def MTLCreateSystemDefaultDevice(self) -> RawDevice | None: ...
    def MTLSizeMake(self, width: int, height: int, depth: int) -> Size: ...


class Foundation(Protocol):
    """The module `Foundation`."""

    NSProcessInfo: ProcessInfoClass


class ObjC(Protocol):
    """The module `objc`."""

    def autorelease_pool(self) -> AbstractContextManager[None]: ...
    def pyobjc_id(self, value: Object) -> int: ...
    def objc_object(self, *, c_void_p: Any) -> Any: ...

"""Queues, command buffers and encoders: what is committed runs on another thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from eas.msl.arrays import Bound
from eas.msl.host import Dispatch, HostError
from tests.metal.simulated.buffers import MTLBuffer
from tests.metal.simulated.foundation import NSError
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, autorelease, constant, require, selector
from tests.metal.simulated.pipelines import MTLComputePipelineState

MOST_BUFFERS, MOST_BYTES = 31, 4096

NOT_ENQUEUED = constant("MTLCommandBufferStatusNotEnqueued")
COMMITTED = constant("MTLCommandBufferStatusCommitted")
COMPLETED = constant("MTLCommandBufferStatusCompleted")
FAILED = constant("MTLCommandBufferStatusError")
PAGE_FAULT = constant("MTLCommandBufferErrorPageFault")

# How many bytes an element takes; an offset into a buffer of them is a multiple of it.
SIZES = {
    "bool": 1, "char": 1, "uchar": 1, "half": 2, "bfloat": 2, "short": 2, "ushort": 2,
    "long": 8, "ulong": 8,
}  # fmt: skip


class MTLSize(NamedTuple):
    """A struct."""

    width: int
    height: int
    depth: int


class MTLCommandQueue(Object):
    """A thread that runs what is committed, one after the other."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.work: queue.SimpleQueue[MTLCommandBuffer] = queue.SimpleQueue()
        threading.Thread(target=_run_all, args=(self.work,), daemon=True).start()

    @selector
    def commandBuffer(self) -> MTLCommandBuffer | None:
        if self.machine.faults.takes_no_commands:
            return None
        return autorelease(MTLCommandBuffer(self.machine, self.work))


def _run_all(work: queue.SimpleQueue[MTLCommandBuffer]) -> None:
    while True:
        work.get().execute()


class MTLCommandBuffer(Object):
    """Commands, encoded and then committed, once."""

    def __init__(self, machine: Machine, work: queue.SimpleQueue[MTLCommandBuffer]) -> None:
        super().__init__(machine)
        self.work = work
        self.encoder: MTLComputeCommandEncoder | None = None
        self.state = NOT_ENQUEUED
        self.failure: NSError | None = None
        self.handlers: list[Callable[[MTLCommandBuffer], None]] = []
        self.done = threading.Event()

    @selector
    def setLabel_(self, label: str) -> None:
        self.machine.labels.append(label)

    @selector
    def computeCommandEncoder(self) -> MTLComputeCommandEncoder | None:
        require(self.state == NOT_ENQUEUED, "an encoder after the commit")
        is_open = self.encoder is not None and self.encoder.is_open
        require(not is_open, "a second encoder before the first has ended")
        if self.machine.faults.has_no_encoder:
            return None
        self.encoder = autorelease(MTLComputeCommandEncoder(self.machine))
        return self.encoder

    @selector
    def addCompletedHandler_(self, handler: Callable[[MTLCommandBuffer], None]) -> None:
        require(self.state == NOT_ENQUEUED, "a handler after the commit")
        self.handlers.append(handler)

    @selector
    def commit(self) -> None:
        require(self.state == NOT_ENQUEUED, "a second commit")
        require(self.encoder is None or not self.encoder.is_open, "a commit with an open encoder")
        self.state = COMMITTED
        self.work.put(self)

    @selector
    def waitUntilCompleted(self) -> None:
        require(self.state != NOT_ENQUEUED, "a wait before the commit never ends")
        self.done.wait()

    @selector
    def status(self) -> int:
        return self.state

    @selector
    def error(self) -> NSError | None:
        return self.failure

    def execute(self) -> None:
        """Runs on the thread of the queue."""
        faults = self.machine.faults
        if faults.hangs:
            self.machine.end.wait()
            return
        try:
            for command in self.encoder.commands if self.encoder else []:
                command.run()
        except HostError as error:
            self.failure = self._error("MTLCommandBufferErrorDomain", PAGE_FAULT, str(error))
        if faults.command_error is not None:
            self.failure = self._error(*faults.command_error)
        failed = self.failure is not None or faults.says_no_error
        self.state = FAILED if failed else COMPLETED
        for handler in self.handlers:
            handler(self)
        self.done.set()

    def _error(self, domain: str, code: int, description: str) -> NSError:
        return NSError(self.machine, domain, code, description)


class MTLComputeCommandEncoder(Object):
    """Arguments and dispatches, until the encoding ends."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.is_open = True
        self.pipeline: MTLComputePipelineState | None = None
        self.bound: dict[int, Bound] = {}
        self.held: dict[int, MTLBuffer] = {}
        self.commands: list[_Command] = []

    @selector
    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        require(self.is_open, "an encoder that has ended")
        self.pipeline = state

    @selector
    def setBuffer_offset_atIndex_(self, buffer: MTLBuffer, offset: int, index: int) -> None:
        self._require_index(index)
        require(0 <= offset < buffer.memory.size, f"offset {offset} in {buffer.memory.size} bytes")
        self.bound[index] = Bound(index, buffer.memory, offset)
        self.held[index] = buffer

    @selector
    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None:
        self._require_index(index)
        require(length <= MOST_BYTES, f"setBytes with {length} bytes, Metal takes {MOST_BYTES}")
        require(length <= len(data), f"{length} bytes of {len(data)}")
        self.bound[index] = Bound(index, np.frombuffer(data, np.uint8, length), is_constant=True)

    @selector
    def dispatchThreadgroups_threadsPerThreadgroup_(
        self, groups: MTLSize, threads: MTLSize
    ) -> None:
        require(self.is_open, "an encoder that has ended")
        require(self.pipeline is not None, "a dispatch without a pipeline")
        assert self.pipeline is not None
        count = threads[0] * threads[1] * threads[2]
        most = self.pipeline.maxTotalThreadsPerThreadgroup()
        require(1 <= count <= most, f"{count} threads per threadgroup, this kernel has {most}")
        require(all(extent > 0 for extent in (*groups, *threads)), "a dispatch of nothing")
        self._require_arguments(self.pipeline)
        held = list(self.held.values())
        command = _Command(self.machine, self.pipeline, dict(self.bound), held, groups, threads)
        self.commands.append(command)

    @selector
    def endEncoding(self) -> None:
        require(self.is_open, "an encoding that ends twice")
        self.is_open = False

    def _require_index(self, index: int) -> None:
        require(self.is_open, "an encoder that has ended")
        require(0 <= index < MOST_BUFFERS, f"the buffer index {index} is not 0 to 30")

    def _require_arguments(self, pipeline: MTLComputePipelineState) -> None:
        for parameter in pipeline.kernel.parameters:
            if parameter.index < 0:
                continue
            bound = self.bound.get(parameter.index)
            require(bound is not None, f"nothing is bound for `{parameter.name}`")
            assert bound is not None
            multiple = SIZES.get(parameter.type.rstrip("*& ").split()[-1], 4)
            message = f"`{parameter.name}` starts at byte {bound.origin}, not at a multiple"
            require(bound.origin % multiple == 0, f"{message} of {multiple}")
            size = bound.flat.size - bound.origin
            is_scalar = parameter.type.endswith("&")
            require(not is_scalar or size >= multiple, f"`{parameter.name}` has {size} bytes")
            reads = "const" in parameter.type.split() or parameter.type.startswith("constant")
            require(reads or not bound.is_constant, f"`{parameter.name}` is written by the kernel")


class _Command:
    """One dispatch, which keeps its buffers alive."""

    def __init__(
        self,
        machine: Machine,
        pipeline: MTLComputePipelineState,
        bound: dict[int, Bound],
        held: list[MTLBuffer],
        groups: MTLSize,
        threads: MTLSize,
    ) -> None:
        self.host, self.held = machine.host, held
        buffers = [bound[index] for index in sorted(bound)]
        self.written = [bound.index for bound in buffers if not bound.is_constant]
        name = pipeline.kernel.name
        self.dispatch = Dispatch(self.host, pipeline.built, name, buffers, threads, groups)

    def run(self) -> None:
        with self.host.lock:
            self.dispatch.run()
            self.dispatch.write_back(*self.written)

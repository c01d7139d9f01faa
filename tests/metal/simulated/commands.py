"""Queues and command buffers: what is committed runs on another thread, see `scheduler.py`."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable

from eas.msl.host import HostError
from tests.metal.simulated.blits import Copy, MTLBlitCommandEncoder
from tests.metal.simulated.encoders import Command, MTLComputeCommandEncoder
from tests.metal.simulated.events import MTLSharedEvent, Signal, Wait
from tests.metal.simulated.foundation import NSError
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, autorelease, constant, require, selector
from tests.metal.simulated.scheduler import Scheduler

NOT_ENQUEUED = constant("MTLCommandBufferStatusNotEnqueued")
COMMITTED = constant("MTLCommandBufferStatusCommitted")
SCHEDULED = constant("MTLCommandBufferStatusScheduled")
COMPLETED = constant("MTLCommandBufferStatusCompleted")
FAILED = constant("MTLCommandBufferStatusError")
PAGE_FAULT = constant("MTLCommandBufferErrorPageFault")
TIMEOUT = constant("MTLCommandBufferErrorTimeout")

MOST_UNFINISHED = 64  # command buffers of a queue; the next one has to wait

Encoder = MTLComputeCommandEncoder | MTLBlitCommandEncoder
Step = Encoder | Signal | Wait


class MTLCommandQueue(Object):
    """Makes command buffers, of which so many may be unfinished."""

    def __init__(self, machine: Machine, scheduler: Scheduler) -> None:
        super().__init__(machine)
        self.scheduler = scheduler
        self.unfinished: weakref.WeakSet[MTLCommandBuffer] = weakref.WeakSet()
        self._lock = threading.Lock()

    @selector
    def commandBuffer(self) -> MTLCommandBuffer | None:
        if self.machine.faults.takes_no_commands:
            return None
        with self._lock:  # a set must not grow while another thread goes through it
            count = sum(not each.done.is_set() for each in self.unfinished)
            require(count < MOST_UNFINISHED, f"waits until one of {count} command buffers is done")
            made = autorelease(MTLCommandBuffer(self.machine, self))
            self.unfinished.add(made)
        return made


class MTLCommandBuffer(Object):
    """Steps, encoded and then committed, once."""

    def __init__(self, machine: Machine, owner: MTLCommandQueue) -> None:
        super().__init__(machine)
        self.owner = owner
        self.steps: list[Step] = []
        self.steps_done = 0
        self.committed_at = self.ended_at = 0.0
        self.is_hung = False
        self.state = NOT_ENQUEUED
        self.failure: NSError | None = None
        self.handlers: list[Callable[[MTLCommandBuffer], None]] = []
        self.is_awaited = threading.Event()
        self.done = threading.Event()

    @selector
    def setLabel_(self, label: str) -> None:
        self.machine.labels.append(label)

    @selector
    def computeCommandEncoder(self) -> MTLComputeCommandEncoder | None:
        require(self.state == NOT_ENQUEUED, "an encoder after the commit")
        require(not self._has_open_encoder(), "a second encoder before the first has ended")
        if self.machine.faults.has_no_encoder:
            return None
        made = autorelease(MTLComputeCommandEncoder(self.machine))
        self.steps.append(made)
        return made

    @selector
    def blitCommandEncoder(self) -> MTLBlitCommandEncoder | None:
        require(self.state == NOT_ENQUEUED, "an encoder after the commit")
        require(not self._has_open_encoder(), "a second encoder before the first has ended")
        if self.machine.faults.has_no_encoder:
            return None
        made = autorelease(MTLBlitCommandEncoder(self.machine))
        self.steps.append(made)
        return made

    @selector
    def encodeSignalEvent_value_(self, event: MTLSharedEvent, value: int) -> None:
        self._require_between_encoders("a signal")
        self.steps.append(Signal(event, value))

    @selector
    def encodeWaitForEvent_value_(self, event: MTLSharedEvent, value: int) -> None:
        self._require_between_encoders("a wait")
        self.steps.append(Wait(event, value))

    @selector
    def addCompletedHandler_(self, handler: Callable[[MTLCommandBuffer], None]) -> None:
        require(self.state == NOT_ENQUEUED, "a handler after the commit")
        self.handlers.append(handler)

    @selector
    def commit(self) -> None:
        require(self.state == NOT_ENQUEUED, "a second commit")
        require(not self._has_open_encoder(), "a commit with an open encoder")
        self.state = COMMITTED
        self.committed_at = time.monotonic()
        for command in self._commands():
            for buffer, is_written in command.buffers.items():
                buffer.lend(is_written)
        self.owner.scheduler.commit(self)

    @selector
    def waitUntilCompleted(self) -> None:
        require(self.state != NOT_ENQUEUED, "a wait before the commit never ends")
        self._await()
        self.done.wait()

    @selector
    def status(self) -> int:
        state = self.state
        if state == COMMITTED:
            self._await()
        return state

    @selector
    def error(self) -> NSError | None:
        return self.failure

    @selector
    def GPUEndTime(self) -> float:
        return self.ended_at

    def _await(self) -> None:
        if not self.is_awaited.is_set():
            self.is_awaited.set()
            self.owner.scheduler.hurry()

    def next_step(self) -> Step | None:
        return self.steps[self.steps_done] if self.steps_done < len(self.steps) else None

    def buffers_left(self) -> dict[object, bool]:
        """The buffers that steps use which have not run, and whether they write them."""
        found: dict[object, bool] = {}
        for step in self.steps[self.steps_done :]:
            if isinstance(step, Encoder):
                for buffer, is_written in step.buffers().items():
                    found[buffer] = found.get(buffer, False) or is_written
        return found

    def run_step(self) -> bool:
        """Runs the next step, on the thread of the scheduler; gives whether it was the last."""
        self.state = SCHEDULED
        match self.next_step():
            case MTLComputeCommandEncoder() | MTLBlitCommandEncoder() as encoder:
                self._run(encoder)
            case Signal(event, value):
                event.value = max(event.value, value)
            case _:
                pass
        self.steps_done += 1
        return self.steps_done >= len(self.steps)

    def _run(self, encoder: Encoder) -> None:
        if self.failure is not None or self.is_hung:
            return
        try:
            for command in encoder.commands:
                command.run()
        except HostError as error:
            code = TIMEOUT if "did not end" in error.message else PAGE_FAULT
            self.failure = self._error("MTLCommandBufferErrorDomain", code, str(error))

    def finish(self) -> None:
        if self.machine.faults.command_error is not None:
            self.failure = self._error(*self.machine.faults.command_error)
        for command in self._commands():
            for buffer, is_written in command.buffers.items():
                buffer.give_back(is_written)
        self.ended_at = time.monotonic()
        failed = self.failure is not None or self.machine.faults.says_no_error
        self.state = FAILED if failed else COMPLETED
        for handler in self.handlers:
            self._call(handler)
        self.done.set()

    def _call(self, handler: Callable[[MTLCommandBuffer], None]) -> None:
        try:
            handler(self)
        except Exception as error:
            self.machine.troubles.append(f"a handler raises {error!r}, which ends the process")

    def _encoders(self) -> list[Encoder]:
        return [step for step in self.steps if isinstance(step, Encoder)]

    def _commands(self) -> list[Command | Copy]:
        return [command for encoder in self._encoders() for command in encoder.commands]

    def _has_open_encoder(self) -> bool:
        return any(encoder.is_open for encoder in self._encoders())

    def _require_between_encoders(self, what: str) -> None:
        require(self.state == NOT_ENQUEUED, f"{what} after the commit")
        require(not self._has_open_encoder(), f"{what} with an open encoder")

    def _error(self, domain: str, code: int, description: str) -> NSError:
        return NSError(self.machine, domain, code, description)

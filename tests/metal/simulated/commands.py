"""Queues and command buffers: what is committed runs on another thread."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable

from eas.msl.host import HostError
from tests.metal.simulated.encoders import Command, MTLComputeCommandEncoder
from tests.metal.simulated.foundation import NSError
from tests.metal.simulated.machine import Machine
from tests.metal.simulated.objects import Object, autorelease, constant, require, selector

NOT_ENQUEUED = constant("MTLCommandBufferStatusNotEnqueued")
COMMITTED = constant("MTLCommandBufferStatusCommitted")
SCHEDULED = constant("MTLCommandBufferStatusScheduled")
COMPLETED = constant("MTLCommandBufferStatusCompleted")
FAILED = constant("MTLCommandBufferStatusError")
PAGE_FAULT = constant("MTLCommandBufferErrorPageFault")
TIMEOUT = constant("MTLCommandBufferErrorTimeout")

MOST_UNFINISHED = 64  # command buffers of a queue; the next one has to wait

# The GPU takes so many seconds unless somebody asks for its status or waits for it: whoever uses
# results without that finds none.
DELAY = 0.2

Work = queue.SimpleQueue["MTLCommandBuffer | None"]


class MTLCommandQueue(Object):
    """A thread that runs what is committed, one after the other."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.work: Work = queue.SimpleQueue()
        self.unfinished: weakref.WeakSet[MTLCommandBuffer] = weakref.WeakSet()
        self._lock = threading.Lock()
        threading.Thread(target=_run_all, args=(self.work,), daemon=True).start()
        weakref.finalize(self, self.work.put, None).atexit = False

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


def _run_all(work: Work) -> None:
    while _run_next(work):
        pass


def _run_next(work: Work) -> bool:
    """Runs the next commands and lets go of them; returns whether more may come."""
    commands = work.get()
    if commands is not None:
        commands.execute()
    return commands is not None


class MTLCommandBuffer(Object):
    """Commands, encoded and then committed, once."""

    def __init__(self, machine: Machine, owner: MTLCommandQueue) -> None:
        super().__init__(machine)
        self.owner = owner
        self.encoders: list[MTLComputeCommandEncoder] = []
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
        self.encoders.append(made)
        return made

    @selector
    def addCompletedHandler_(self, handler: Callable[[MTLCommandBuffer], None]) -> None:
        require(self.state == NOT_ENQUEUED, "a handler after the commit")
        self.handlers.append(handler)

    @selector
    def commit(self) -> None:
        require(self.state == NOT_ENQUEUED, "a second commit")
        require(not self._has_open_encoder(), "a commit with an open encoder")
        self.state = COMMITTED
        for command in self._commands():
            for buffer in command.buffers:
                buffer.lend()
        self.owner.work.put(self)

    @selector
    def waitUntilCompleted(self) -> None:
        require(self.state != NOT_ENQUEUED, "a wait before the commit never ends")
        self.is_awaited.set()
        self.done.wait()

    @selector
    def status(self) -> int:
        state = self.state
        if state == COMMITTED:
            self.is_awaited.set()
        return state

    @selector
    def error(self) -> NSError | None:
        return self.failure

    def execute(self) -> None:
        """Runs on the thread of the queue."""
        self.is_awaited.wait(DELAY)
        self.state = SCHEDULED
        if self.machine.faults.hangs:
            self.machine.end.wait()
        else:
            self._run()
        self._finish()

    def _run(self) -> None:
        faults = self.machine.faults
        try:
            for command in self._commands():
                command.run()
        except HostError as error:
            code = TIMEOUT if "did not end" in error.message else PAGE_FAULT
            self.failure = self._error("MTLCommandBufferErrorDomain", code, str(error))
        if faults.command_error is not None:
            self.failure = self._error(*faults.command_error)

    def _finish(self) -> None:
        for command in self._commands():
            for buffer in command.buffers:
                buffer.give_back()
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

    def _commands(self) -> list[Command]:
        return [command for encoder in self.encoders for command in encoder.commands]

    def _has_open_encoder(self) -> bool:
        return any(encoder.is_open for encoder in self.encoders)

    def _error(self, domain: str, code: int, description: str) -> NSError:
        return NSError(self.machine, domain, code, description)

"""A Mac's GPU: its abilities, its memory, and its compiled programs."""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

from eas.runtime.metal.errors import MetalError
from eas.runtime.metal.framework import Framework, load_framework, own
from eas.runtime.metal.libraries import Pipeline, make_pipeline
from eas.runtime.metal.objects import Buffer, CommandQueue, RawDevice
from eas.runtime.metal.requirements import Program
from eas.runtime.metal.residency import Residency
from eas.support.records import field, record

# Metal has no empty buffers, but an array may have no elements.
LEAST_BYTES = 16


@record
class Device:
    """The GPU, for the process that has opened it."""

    framework: Framework
    raw: RawDevice
    name: str
    system: tuple[int, int]
    process: int = field(default_factory=os.getpid)
    residency: Residency = field(default_factory=Residency)
    pool: Any = None  # of the tensors on it: `runtime/tensors` makes it
    staging: Any = None  # copies of the host's arrays: `queue` makes it
    _pipelines: dict[Program, Pipeline] = field(default_factory=dict[Program, Pipeline])
    _queue: CommandQueue | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def pipeline(self, program: Program) -> Pipeline:
        """The program, compiled once; raises `TextError` if Metal's compiler refuses it."""
        with self._lock:
            if program not in self._pipelines:
                made = make_pipeline(self.framework, self.raw, self.system, program)
                self._pipelines[program] = made
            return self._pipelines[program]

    def queue(self) -> CommandQueue:
        """The queue of all launches."""
        with self._lock:
            if self._queue is None:
                self._queue = own(self.raw.newCommandQueue(), self.raw.newCommandQueue)
            if self._queue is None:
                raise MetalError(f"{self.name} gives no queue for commands")
            return self._queue

    def abandon_queue(self) -> None:
        """Makes later launches use a new queue, because this one is blocked."""
        with self._lock:
            self._queue = None

    def memory(self, size: int, what: str, kernel: str = "", *, is_private: bool = False) -> Buffer:
        """Memory that the CPU and the GPU share, or that only the GPU reaches.

        `what` says in an error what it is for.
        """
        most = self.raw.maxBufferLength()
        if size > most:
            message = f"{size} bytes of {what}, but {self.name} has buffers of up to {most}"
            raise MetalError(message, kernel)
        metal = self.framework.metal
        mode = (
            metal.MTLResourceStorageModePrivate
            if is_private
            else metal.MTLResourceStorageModeShared
        )
        made = self.raw.newBufferWithLength_options_(max(size, LEAST_BYTES), mode)
        buffer = own(made, self.raw.newBufferWithLength_options_)
        if buffer is None:
            raise MetalError(f"{self.name} has no memory for the {size} bytes of {what}", kernel)
        return buffer

    def check_process(self) -> None:
        """Refuses forked processes: Metal objects of the parent hang or crash in a child."""
        if os.getpid() != self.process:
            raise MetalError(
                f"this process was forked from {self.process}, which has used Metal; the GPU does "
                "not survive a fork. Start new processes: "
                "`multiprocessing.set_start_method('spawn')`"
            )


def open_device() -> Device:
    """Opens the GPU; raises `MetalError` if there is none."""
    framework = load_framework()
    with framework.objc.autorelease_pool():
        raw = find_device(framework)
        version = framework.foundation.NSProcessInfo.processInfo().operatingSystemVersion()
        return Device(framework, raw, raw.name(), (version.majorVersion, version.minorVersion))


def find_device(framework: Framework) -> RawDevice:
    """The GPU that macOS prefers, else the first one.

    A program that is not linked to CoreGraphics has no preferred one, for example some builds of
    pyobjc (https://github.com/ronaldoussoren/pyobjc/issues/390).
    """
    raw = framework.metal.MTLCreateSystemDefaultDevice()
    if raw is not None:
        return raw
    for each in framework.metal.MTLCopyAllDevices():
        return each
    raise MetalError(
        "Metal finds no GPU: on a virtual machine or without a login there may be none"
    )


@cache
def opened() -> Device:
    return open_device()


def default_device() -> Device:
    """The GPU that all launches share; it is opened on first use."""
    device = opened()
    device.check_process()
    return device


def missing() -> str:
    """Why there is no GPU to run kernels on; empty if there is one."""
    try:
        opened()
    except MetalError as error:
        return error.message
    return ""

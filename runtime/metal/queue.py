"""The queue of a stream on a Mac's GPU.

Launches are encoded by the thread that calls them, several into one command buffer while the GPU is
busy. A shared event counts the command buffers of a queue. One that needs a launch of another queue
waits for that queue's event. Results are copied back, and reports are read, when somebody waits.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Sequence
from typing import Protocol, cast

from eas.runtime.metal.completion import TimeOutError, time_limit, wait
from eas.runtime.metal.device import Device, default_device
from eas.runtime.metal.dispatch import Dispatch
from eas.runtime.metal.errors import MetalError
from eas.runtime.metal.framework import own
from eas.runtime.metal.objects import CommandBuffer, CommandQueue, ComputeEncoder, SharedEvent
from eas.runtime.metal.staging import Staging
from eas.runtime.streams.launch_tasks import Task
from eas.runtime.streams.ordering import ORDERING
from eas.support.records import field, record

MOST_LAUNCHES = 16  # in a command buffer
BUSY = 2  # with so many command buffers unfinished the GPU has enough to do
MOST_UNFINISHED = 60  # command buffers; Metal blocks at 64

_lock = threading.RLock()  # of all queues: they use each other's events and copies


class Run(Protocol):
    """One run of a launch: what is dispatched, and what is to be done after that."""

    @property
    def dispatches(self) -> Sequence[Dispatch]: ...
    def finish(self) -> None:
        """Raises what went wrong, after the GPU is done and results are back."""
        ...


class GpuLaunch(Protocol):
    """A launch for the GPU."""

    def begin(self) -> Run | None:
        """A run; None if it cannot be encoded, because it may have to run twice."""
        ...

    def run(self) -> None: ...


@record
class Batch:
    """The launches of one command buffer. The queue's event gets `value` when they are done."""

    commands: CommandBuffer
    value: int
    encoder: ComputeEncoder | None = None
    launches: list[tuple[Task, Run | None]] = field(default_factory=list[tuple[Task, "Run | None"]])

    def open_encoder(self) -> ComputeEncoder:
        if self.encoder is None:
            self.encoder = self.commands.computeCommandEncoder()
        if self.encoder is None:
            raise MetalError("Metal takes no commands")
        return self.encoder

    def end_encoder(self) -> None:
        if self.encoder is not None:
            self.encoder.endEncoding()
            self.encoder = None

    def wait_for(self, event: SharedEvent, value: int) -> None:
        """What is encoded from now on runs after the event has the value."""
        self.end_encoder()
        self.commands.encodeWaitForEvent_value_(event, value)

    def __del__(self) -> None:
        self.end_encoder()  # freeing an encoder before that aborts the process


@record
class _Opened:
    """What a queue has of a device."""

    device: Device
    commands: CommandQueue
    event: SharedEvent


class MetalQueue:
    """The launches of a stream, in command buffers that run in their order."""

    device = "metal"

    def __init__(self) -> None:
        self._opened: _Opened | None = None
        self._value = 0
        self._open: Batch | None = None
        self._committed: deque[Batch] = deque()

    def put(self, task: Task) -> None:
        """Encodes a task. It is refused with an error if the GPU cannot take it."""
        try:
            self._put(task)
        except BaseException:
            ORDERING.finish(task, None)
            raise

    def _put(self, task: Task) -> None:
        device = default_device()
        for need in task.needs:
            if need.queue.device != self.device:
                need.wait()
        launch = cast("GpuLaunch | None", task.launch)
        run = None if launch is None else launch.begin()
        if launch is not None and run is None:
            self._run_now(task, launch)
            return
        dispatches: Sequence[Dispatch] = () if run is None else run.dispatches
        for dispatch in dispatches:
            dispatch.check()
        while True:
            with _lock:
                blockers = _staging_of(device).blockers(dispatches)
                if not blockers:
                    break
            for blocker in blockers:
                blocker.wait()
        with _lock, device.framework.objc.autorelease_pool():
            self._encode(device, task, run, dispatches)
            self._commit_if_idle(task)
        self._wait_for_room()

    def _run_now(self, task: Task, launch: GpuLaunch) -> None:
        """Runs a launch at once, after all that it needs and all before it."""
        with _lock:
            before = [task for batch in self.batches() for task, _ in batch.launches]
        for each in (*task.needs, *before):
            each.wait()
        error: BaseException | None = None
        try:
            launch.run()
        except Exception as raised:
            error = raised
        ORDERING.finish(task, error)

    def _encode(
        self, device: Device, task: Task, run: Run | None, dispatches: Sequence[Dispatch]
    ) -> None:
        awaited = self._awaited(task)
        batch = self._batch(device)
        for event, value in awaited:
            batch.wait_for(event, value)
        try:
            places = _staging_of(device).place(dispatches, task)
            for dispatch, found in zip(dispatches, places, strict=True):
                dispatch.encode(batch.open_encoder(), found)
                batch.commands.setLabel_(dispatch.pipeline.program.kernel)
        except BaseException:
            _staging_of(device).retire(task, is_copied=False)
            raise
        batch.launches.append((task, run))

    def _awaited(self, task: Task) -> list[tuple[SharedEvent, int]]:
        """The events of other queues that a task has to wait for, with their values."""
        found: dict[int, tuple[SharedEvent, int]] = {}
        for need in task.needs:
            queue = need.queue
            if isinstance(queue, MetalQueue) and queue is not self and not need.is_done:
                value = queue.commit_through(need)
                event = queue._event()
                if value > found.get(id(queue), (event, 0))[1]:
                    found[id(queue)] = (event, value)
        return list(found.values())

    def _event(self) -> SharedEvent:
        assert self._opened is not None
        return self._opened.event

    def commit_through(self, task: Task) -> int:
        """Commits the command buffer that a task is in; gives the value that it signals."""
        for batch in self.batches():
            if any(each is task for each, _ in batch.launches):
                if batch is self._open:
                    self._commit()
                return batch.value
        return 0

    def batches(self) -> list[Batch]:
        return [*self._committed, *([] if self._open is None else [self._open])]

    def _batch(self, device: Device) -> Batch:
        """The open command buffer, or a new one that waits for those before it."""
        if self._open is not None:
            return self._open
        opened = self._open_on(device)
        commands = opened.commands.commandBuffer()
        if commands is None:
            raise MetalError(f"{device.name} takes no commands")
        if self._value:
            commands.encodeWaitForEvent_value_(opened.event, self._value)
        self._value += 1
        self._open = Batch(commands, self._value)
        return self._open

    def _open_on(self, device: Device) -> _Opened:
        if self._opened is None or self._opened.device is not device:
            raw = device.raw
            commands = own(raw.newCommandQueue(), raw.newCommandQueue)
            event = own(raw.newSharedEvent(), raw.newSharedEvent)
            if commands is None or event is None:
                raise MetalError(f"{device.name} gives no queue for commands")
            self._opened, self._value = _Opened(device, commands, event), 0
        return self._opened

    def _commit_if_idle(self, task: Task) -> None:
        """Commits what is encoded, unless the GPU is busy: then more can come into the buffer."""
        assert self._open is not None
        is_marker = task.launch is None
        if is_marker or len(self._open.launches) >= MOST_LAUNCHES or self._unfinished() < BUSY:
            self._commit()

    def _unfinished(self) -> int:
        return sum(not self._has_ended(batch) for batch in self._committed)

    def _has_ended(self, batch: Batch) -> bool:
        assert self._opened is not None
        metal = self._opened.device.framework.metal
        ended = (metal.MTLCommandBufferStatusCompleted, metal.MTLCommandBufferStatusError)
        return batch.commands.status() in ended

    def _commit(self) -> None:
        batch, self._open = self._open, None
        assert batch is not None
        batch.end_encoder()
        batch.commands.encodeSignalEvent_value_(self._event(), batch.value)
        batch.commands.commit()
        self._committed.append(batch)

    def _wait_for_room(self) -> None:
        while len(self._committed) >= MOST_UNFINISHED:
            self._finish_oldest()

    def wait(self, task: Task) -> None:
        """Waits for a task, and for the command buffers before it."""
        while not task.is_done:
            with _lock:
                self.commit_through(task)
            if not self._committed:
                return  # another thread has finished it
            self._finish_oldest()

    def _finish_oldest(self) -> None:
        with _lock:
            if not self._committed or self._opened is None:
                return
            batch, device = self._committed[0], self._opened.device
        for task, _ in batch.launches:
            for need in task.needs:
                if need.queue is not self:
                    need.wait()
        error: MetalError | None = None
        with device.framework.objc.autorelease_pool():
            try:
                names = " and ".join(dict.fromkeys(task.kernel for task, _ in batch.launches))
                wait(device.framework, batch.commands, names, time_limit(os.environ))
            except MetalError as raised:
                error = raised
            with _lock:
                self._retire(device, batch, error)

    def _retire(self, device: Device, batch: Batch, error: MetalError | None) -> None:
        """The GPU is done with a command buffer: results go back, reports are read."""
        if not self._committed or self._committed[0] is not batch:
            return  # another thread has done it
        self._committed.popleft()
        at = batch.commands.GPUEndTime()
        if error is not None:  # it may not have signaled its event
            self._event().setSignaledValue_(batch.value)
        for task, run in batch.launches:
            _staging_of(device).retire(task, is_copied=error is None)
            ORDERING.finish(task, _error_of(task, run, error, len(batch.launches)), at)
        if isinstance(error, TimeOutError):
            self._abandon(device, error)

    def _abandon(self, device: Device, error: MetalError | None) -> None:
        """Gives up what has not ended: the queue is blocked, and the next launch opens another."""
        batches, self._open = self.batches(), None
        self._committed.clear()
        self._opened, self._value = None, 0
        for batch in batches:
            batch.end_encoder()
            for task, run in batch.launches:
                _staging_of(device).retire(task, is_copied=False)
                ORDERING.finish(task, _error_of(task, run, error, len(batch.launches)))

    def is_done(self, task: Task) -> bool:
        with _lock:
            self.commit_through(task)
            if self._opened is not None:
                while self._committed and self._has_ended(self._committed[0]):
                    self._finish_oldest()
        return task.is_done

    def cancel(self) -> None:
        """A GPU cannot be stopped: what it still does is forgotten."""
        with _lock:
            if self._opened is not None:
                self._abandon(self._opened.device, None)

    def close(self) -> None:
        """Tasks in flight hold the queue; it is freed after them."""


def _staging_of(device: Device) -> Staging:
    if device.staging is None:
        device.staging = Staging()
    return device.staging


def _error_of(
    task: Task, run: Run | None, error: MetalError | None, count: int
) -> BaseException | None:
    """What went wrong in a launch: it, or another one in its command buffer, stopped the GPU."""
    if run is None:
        return None
    if error is not None:
        others = f" (it, or one of {count - 1} launches beside it)" if count > 1 else ""
        return type(error)(f"{error.message}{others}", task.kernel)
    try:
        run.finish()
    except Exception as raised:
        return raised
    return None

"""Streams and events: the queues of each device, and which of them a launch goes to."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, NoReturn, Protocol, TypeVar

from eas.runtime.streams.hazards import Access
from eas.runtime.streams.host_queue import HostQueue
from eas.runtime.streams.launch_tasks import Launch, Queue, Task, calling_place
from eas.runtime.streams.ordering import ORDERING, most_in_flight
from eas.runtime.streams.waits import wait_for, wait_quietly
from eas.support.block_values import BlockValue


class DeviceQueue(Queue, Protocol):
    """A queue of a device; `close` ends it after the tasks that it has."""

    def close(self) -> None: ...


def _open_metal() -> DeviceQueue:
    from eas.runtime.metal.queue import MetalQueue  # only its users pay for the import

    return MetalQueue()


_QUEUES: dict[str, Callable[[], DeviceQueue]] = {"cpu": HostQueue, "metal": _open_metal}
_NAMES = {"cpu": "cpu", "metal": "metal", "mps": "metal"}


def device_named(name: object) -> str:
    """The device that a name stands for; raises `ValueError` for another name."""
    if not isinstance(name, str) or name not in _NAMES:
        raise ValueError(f'a device is "cpu" or "metal", not {name!r}')
    return _NAMES[name]


class Stream:
    """A queue of launches: they run in their order, while Python runs on.

    >>> s = eas.Stream("cpu")
    >>> with eas.stream(s):
    ...     double(x, 4, BLOCK=4, _sync=False)
    >>> s.synchronize()
    >>> x
    array([2., 2., 2., 2.], dtype=float32)

    Launches of different streams may run at the same time, unless they share memory that one of
    them writes: those are ordered as they were called.
    """

    def __init__(self, device: str = "cpu") -> None:
        self.device = device_named(device)
        self.queue = _QUEUES[self.device]()
        self._pending: deque[Task] = deque()
        self._failed: list[Task] = []
        weakref.finalize(self, self.queue.close).atexit = False

    def __repr__(self) -> str:
        return f"<stream of {self.device}, {len(self._unfinished())} launches in flight>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream belongs to its process: it is neither pickled nor copied")

    def submit(
        self, launch: Launch | None, kernel: str, accesses: Sequence[Access], needs: Sequence[Task]
    ) -> Task:
        """Puts a launch into the queue; waits first if too many are in flight."""
        most = most_in_flight()
        while len(pending := self._unfinished()) >= most:
            wait_quietly([pending[0]])
        task = Task(self.queue, launch, kernel, calling_place())
        self._pending.append(task)
        ORDERING.submit(task, accesses, needs)
        return task

    def _unfinished(self) -> deque[Task]:
        with ORDERING.lock:
            while self._pending and self._pending[0].is_done:
                task = self._pending.popleft()
                if not task.is_settled:
                    self._failed.append(task)
            if self._failed:
                self._failed = [task for task in self._failed if not task.is_settled]
        return self._pending

    def _unsettled(self) -> list[Task]:
        pending = self._unfinished()
        return [*self._failed, *pending]

    def synchronize(self) -> None:
        """Waits for all launches of this stream; raises what went wrong in them."""
        wait_for(self._unsettled())

    def record(self) -> Event:
        """An event: it happens when all launches that are in the stream now are done."""
        return Event(self.submit(None, "an event", (), self._unsettled()))

    def wait(self, event: Event) -> None:
        """Launches that are put into this stream from now on run after an event."""
        if not isinstance(event, Event):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a stream waits for an event, see `Stream.record`, not for {event!r}")
        self.submit(None, "a wait", (), (event.task,))


class Event:
    """A point in a stream, see `Stream.record`.

    >>> with eas.stream() as s:
    ...     start = s.record()
    ...     double(x, 4, BLOCK=4, _sync=False)
    ...     end = s.record()
    >>> end.synchronize()
    >>> end.query(), start.elapsed(end) >= 0
    (True, True)
    """

    def __init__(self, task: Task) -> None:
        self.task = task

    def __repr__(self) -> str:
        return f"<event, {'done' if self.task.is_done else 'not done'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an event belongs to its process: it is neither pickled nor copied")

    def synchronize(self) -> None:
        """Waits for the event, and so for the launches before it; raises what they failed with."""
        wait_for([self.task])

    def query(self) -> bool:
        """Whether the event has happened."""
        return self.task.is_done or self.task.queue.is_done(self.task)

    def elapsed(self, other: Event) -> float:
        """The seconds from this event to another one, which must both have happened."""
        if not (self.query() and other.query()):
            raise RuntimeError("an event has not happened yet: call its `synchronize()` first")
        if self.task.queue.device != other.task.queue.device:
            raise ValueError("events of two devices have no common clock")
        return other.task.finished_at - self.task.finished_at


_current = BlockValue[Stream]("eas_stream")
_defaults: dict[str, Stream] = {}


def stream_for(device: str) -> Stream:
    """The stream of an asynchronous launch: that of the block, else the device's own."""
    chosen = _current.get()
    if chosen is not None:
        if chosen.device != device:
            raise ValueError(
                f"the launch runs on {device}, but the stream of this `with` block is one of "
                f"{chosen.device}"
            )
        return chosen
    found = _defaults.get(device)
    if found is not None:
        return found
    with ORDERING.lock:
        if device not in _defaults:
            _defaults[device] = Stream(device)
        return _defaults[device]


S = TypeVar("S", bound=Stream)


def forget_default_streams() -> None:
    """Has the next launch outside of a block open a new stream."""
    _defaults.clear()


class use_stream(Generic[S]):
    """Chooses the stream of a block, for this thread or task only."""

    def __init__(self, chosen: S) -> None:
        self._stream = chosen

    def __enter__(self) -> S:
        _current.enter(self._stream)
        return self._stream

    def __exit__(self, *_: object) -> None:
        _current.leave()

"""Launches that do not run at once: put into a stream, or behind what is in flight."""

from __future__ import annotations

from collections.abc import Sequence

from eas import device_streams
from eas.backends import PreparedLaunch
from eas.config import choose_backend
from eas.device_streams import Event, device_named, stream_for, use_stream
from eas.runtime.cpu.launch_plan import Access, PlannedLaunch
from eas.runtime.refusals import BadArgument, LaunchError
from eas.runtime.streams.launch_tasks import Launch
from eas.runtime.streams.recording import RECORDER
from eas.runtime.streams.waits import wait_for_access, wait_for_all

__all__ = ["Event", "Stream", "launch_in_order", "stream", "synchronize"]


def launch_in_order(prepared: PreparedLaunch, is_synchronous: bool) -> None:
    """Runs a launch after those in flight that share memory with it, or puts it into a stream.

    If a graph is being recorded, it is recorded and does not run.
    """
    recorder = RECORDER.get()
    if recorder is not None:
        recorder.add(prepared)
        return
    if is_synchronous:
        wait_for_access(prepared.accesses)
        prepared.run()
        return
    _put(prepared.compiled.name, prepared.device, prepared, prepared.accesses)


def put_planned(name: str, planned: PlannedLaunch | None) -> bool:
    """Puts a launch of the CPU into a stream, if it could be planned; else gives False."""
    if planned is None:
        return False
    if not planned.is_empty:
        _put(name, "cpu", planned, planned.accesses)
    return True


def _put(name: str, device: str, launch: Launch, accesses: Sequence[Access]) -> None:
    try:
        stream_for(device).submit(launch, name, accesses, ())
    except (BadArgument, ValueError) as error:
        raise LaunchError(name, str(error)) from None


class Stream(device_streams.Stream):
    __doc__ = device_streams.Stream.__doc__

    def __init__(self, device: str | None = None) -> None:
        super().__init__(_default_device() if device is None else device)


def stream(s: Stream | None = None) -> use_stream[Stream]:
    """Chooses the stream of the asynchronous launches in a block; without an argument, a new one.

    >>> with eas.stream() as s:
    ...     double(x, 4, BLOCK=4, _sync=False)
    >>> s.synchronize()
    """
    if s is not None and not isinstance(s, Stream):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"`eas.stream` takes an `eas.Stream`, not {s!r}")
    return use_stream(Stream() if s is None else s)


def synchronize(device: str | None = None) -> None:
    """Waits for all launches in flight, of all streams; raises what went wrong in them.

    `device` is `"cpu"` or `"metal"`: only its launches are waited for.
    """
    wait_for_all(None if device is None else device_named(device))


def _default_device() -> str:
    return "metal" if choose_backend(None) == "metal" else "cpu"

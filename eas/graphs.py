"""Graphs: launches that are recorded once and replayed without binding their arguments again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import groupby
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, cast

import numpy as np

from eas.backends import PreparedLaunch
from eas.device_streams import stream_for
from eas.runtime import torch_arguments
from eas.runtime.argument_values import to_bound
from eas.runtime.cpu.launch import Job, pack
from eas.runtime.cpu.replay import Replay, can_replay
from eas.runtime.errors import KernelError
from eas.runtime.refusals import BadArgument
from eas.runtime.streams.active import ACTIVE
from eas.runtime.streams.hazards import Access
from eas.runtime.streams.launch_tasks import Task, calling_place, place_text, with_place
from eas.runtime.streams.recording import RECORDER, GraphError
from eas.runtime.streams.waits import wait_for, wait_for_access, wait_quietly
from eas.support.records import frozen

if TYPE_CHECKING:
    from eas.gpu import GpuLaunch, GpuRun

__all__ = ["Graph", "GraphError", "RecordedLaunch", "graph"]

Scalars = Mapping[str, np.generic]


@frozen
class RecordedLaunch:
    """A launch of a graph, and where it was called."""

    prepared: PreparedLaunch
    place: str

    @property
    def kernel(self) -> str:
        return self.prepared.compiled.name

    def __str__(self) -> str:
        grid = "x".join(map(str, self.prepared.grid))
        signature = self.prepared.call.compiled.signature
        return f"{signature}, grid {grid}, {self.prepared.backend}, {self.place}"


def graph(*, fuse: bool = False) -> Graph:
    """Records the launches of a block, and runs none of them: `with eas.graph() as g:`.

    >>> with eas.graph() as g:
    ...     double(x, 4, BLOCK=4)
    ...     double(x, 4, BLOCK=4)
    >>> x
    array([1., 1., 1., 1.], dtype=float32)
    >>> g.replay()
    >>> x
    array([4., 4., 4., 4.], dtype=float32)

    With `fuse=True` neighboring launches over the same grid become one, where every element stays
    in the lane that computes it: the results are the same.
    """
    if not isinstance(fuse, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"`fuse` is True or False, not {fuse!r}")
    return Graph(fuse=fuse)


class Graph:
    """Launches that `replay` runs in their order; made by `eas.graph`.

    It keeps the arrays of its launches alive, and always uses these. `print(g)` lists the launches.
    """

    def __init__(self, *, fuse: bool = False) -> None:
        self.launches: tuple[RecordedLaunch, ...] = ()
        self._fuse = fuse
        self._state = "new"
        self._parts: tuple[_Part, ...] = ()
        self._call: Callable[[], object] | None = None
        self._accesses: tuple[Access, ...] = ()
        self._host_writes: list[tuple[int, int, str]] = []
        self._tensors: list[Any] = []  # of torch: autograd must know that a replay writes them
        self._lock = threading.Lock()
        self._last: Task | None = None

    def __enter__(self) -> Self:
        if self._state != "new":
            raise GraphError("a graph records once: make another one with `eas.graph()`")
        if RECORDER.get() is not None:
            raise GraphError("a graph is being recorded already")
        self._state = "recording"
        RECORDER.set(self)
        ACTIVE.add(self)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        RECORDER.set(None)
        ACTIVE.discard(self)
        self._state = "recorded" if error is None else "broken"
        if error is None:
            self._prepare()

    def add(self, prepared: PreparedLaunch) -> None:
        """Records a launch. Launches call this; there is no need to."""
        self._check_host_writes(prepared)
        self.launches += (RecordedLaunch(prepared, place_text(calling_place())),)

    def note_written(self, tensors: Sequence[Any]) -> None:
        """Launches call this with the tensors of torch that they write."""
        known = {id(tensor) for tensor in self._tensors}
        self._tensors += [tensor for tensor in tensors if id(tensor) not in known]

    def _check_host_writes(self, prepared: PreparedLaunch) -> None:
        for begin, end, _ in prepared.accesses:
            for first, last, place in self._host_writes:
                if begin < last and first < end:
                    raise GraphError(
                        f"the launch of `{prepared.compiled.name}` uses a tensor that is written "
                        f"at {place}, which no replay repeats: {_NOT_RECORDED}"
                    )

    def check_access(self, accesses: Sequence[Access]) -> None:
        """Refuses to read what a recorded launch writes, and to write what one uses."""
        for begin, end, is_written in accesses:
            for launch in self.launches:
                for first, last, is_result in launch.prepared.accesses:
                    if (is_result or is_written) and begin < last and first < end:
                        raise GraphError(_refusal(launch, is_written))

    def note_host_write(self, memory: tuple[int, int]) -> None:
        """Tensors call this when they are written inside of the block."""
        self._host_writes.append((*memory, place_text(calling_place())))

    def _prepare(self) -> None:
        if self._fuse:
            from eas.fusion import fuse_neighbors  # only its users pay for the import

            self.launches = tuple(fuse_neighbors(self.launches))
        groups = groupby(enumerate(self.launches), key=lambda pair: _kind_of(pair[1].prepared))
        self._parts = tuple(_PARTS[kind]([launch for _, launch in group]) for kind, group in groups)
        self._accesses = tuple(
            access for each in self.launches for access in each.prepared.accesses
        )
        if len(self._parts) == 1 and isinstance(self._parts[0], _CpuPart):
            self._call = self._parts[0].call

    def replay(self, *, _sync: bool = True, **scalars: Any) -> None:
        """Runs all launches with the arrays that they were recorded with.

        `g.replay(k=2)` runs them with 2 for `k`, in every launch that has a runtime argument of
        that name; the grids stay. With `_sync=False` it returns before they are done.
        """
        if self._tensors and self._state == "recorded":
            self._mark_tensors()
        if self._call is None or scalars or ACTIVE or _sync is not True:
            self._replay_in_order(_sync, scalars)
            return
        with self._lock:
            if self._call() is not None:
                cast("_CpuPart", self._parts[0]).raise_failure()

    def _replay_in_order(self, sync: object, scalars: Mapping[str, Any]) -> None:
        if not isinstance(sync, bool):
            raise GraphError(f"`_sync` is True or False, not {sync!r}")
        if self._state != "recorded":
            raise GraphError("a graph is replayed after the `with` block that records it")
        if RECORDER.get() is not None:
            raise GraphError("a graph is not replayed while one is recorded")
        changes = self._convert(scalars)
        if not self.launches:
            return
        devices = {launch.prepared.device for launch in self.launches}
        if sync and devices != {"metal"}:
            wait_for_access(self._accesses)
            _Replayed(self._parts, changes, self._lock).run()
            return
        if len(devices) > 1:
            raise GraphError("its launches run on cpu and on metal: replay it synchronously")
        if self._last is not None:  # replays on a GPU share their reports
            wait_quietly([self._last])
        work = _Replayed(self._parts, changes, self._lock)
        name = f"a graph of {len(self.launches)} launches"
        task = stream_for(*devices).submit(work, name, self._accesses, ())
        self._last = task if devices == {"metal"} else None
        if sync:
            wait_for([task])

    def _mark_tensors(self) -> None:
        """Refuses tensors that must not be written now, and lets autograd know of the others."""
        try:
            for tensor in self._tensors:
                torch_arguments.check_written(tensor)
        except BadArgument as error:
            raise GraphError(f"a tensor that the graph writes: {error}") from None
        torch_arguments.mark_written(self._tensors)

    def _convert(self, scalars: Mapping[str, Any]) -> dict[str, list[np.generic | None]]:
        """For each name the value in each launch; None where a launch does not have it."""
        return {name: self._convert_one(name, value) for name, value in scalars.items()}

    def _convert_one(self, name: str, value: Any) -> list[np.generic | None]:
        found: list[np.generic | None] = []
        for launch in self.launches:
            before = launch.prepared.call.values.get(name)
            if isinstance(before, np.ndarray):
                raise GraphError(f"`{name}` is an array: a graph keeps the arrays of its launches")
            found.append(None if before is None else _converted(launch, name, value))
        if not any(each is not None for each in found):
            raise GraphError(self._unknown(name))
        return found

    def _unknown(self, name: str) -> str:
        known = [
            each
            for launch in self.launches
            for each, value in launch.prepared.call.values.items()
            if isinstance(value, np.generic)
        ]
        close = get_close_matches(name, known, 1)
        names = ", ".join(f"`{each}`" for each in dict.fromkeys(known)) or "none"
        hint = f"did you mean `{close[0]}`?" if close else f"there are {names}"
        return f"no launch of the graph has a runtime argument `{name}`; {hint}"

    def to_msl(self) -> str:
        """The Metal text of every launch, one after the other; equal ones once."""
        texts = dict.fromkeys(launch.prepared.call.compiled.msl for launch in self.launches)
        return "\n".join(texts)

    def __len__(self) -> int:
        return len(self.launches)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a graph belongs to its arrays: record another one in the other process")

    def __repr__(self) -> str:
        count = f"{len(self.launches)} launch{'' if len(self.launches) == 1 else 'es'}"
        rows = [f"  {number}: {launch}" for number, launch in enumerate(self.launches)]
        return "\n".join([f"<graph of {count}, {self._state}>", *rows])


_NOT_RECORDED = (
    "only launches are recorded. Write the tensor before the `with` block, or by a kernel"
)


def _refusal(launch: RecordedLaunch, is_written: bool) -> str:
    what = f"the launch of `{launch.kernel}` at {launch.place}"
    if is_written:
        return f"{what} uses this, and writing it now is no part of a replay: {_NOT_RECORDED}"
    return f"{what} writes this, and it is only recorded: read it after `replay`"


def _converted(launch: RecordedLaunch, name: str, value: Any) -> np.generic:
    params = {param.name: param for param in launch.prepared.compiled.function.params}
    if name not in params:  # the kernel does not use it
        return np.bool_(False)
    try:
        made, _ = to_bound(value, params[name].value.ty.dtype)
    except BadArgument as error:
        raise GraphError(f"`{name}` of `{launch.kernel}`: {error}") from None
    return cast(np.generic, made)


Changes = Mapping[str, Sequence[np.generic | None]]


class _Part(Protocol):
    """Neighboring launches of one kind."""

    launches: Sequence[RecordedLaunch]

    def run(self, changes: Sequence[Scalars]) -> None:
        """Runs them; `changes` has the scalars that differ for each launch."""
        ...

    def cancel(self) -> None:
        """Ends a run in another thread, until `reset`."""
        ...

    def reset(self) -> None: ...


class _CpuPart:
    """Launches that run in one call of compiled code."""

    def __init__(self, launches: Sequence[RecordedLaunch]) -> None:
        self.launches = launches
        self._jobs = [cast(Job, launch.prepared.bound) for launch in launches]
        self._replay = Replay(self._jobs)
        self.call = self._replay.call

    def run(self, changes: Sequence[Scalars]) -> None:
        with self._changed(changes):
            if self.call() is not None:
                self.raise_failure()

    @contextmanager
    def _changed(self, changes: Sequence[Scalars]) -> Generator[None]:
        """The slots of the launches with other scalars, for a while."""
        before: list[tuple[Any, int, Any]] = []
        try:
            for launch, job, scalars in zip(self.launches, self._jobs, changes, strict=True):
                for index, param in enumerate(launch.prepared.compiled.function.params):
                    if scalars and param.role == "argument" and param.name in scalars:
                        before.append((job.slots, index, job.slots[index]))
                        job.slots[index] = pack([scalars[param.name]])[0]
            yield
        finally:
            for slots, index, value in before:
                slots[index] = value

    def raise_failure(self) -> None:
        found = self._replay.failure()
        if found is not None:  # it was not cancelled
            launch = self.launches[found[0]]
            raise _placed(KernelError((found[1],)), launch)

    def cancel(self) -> None:
        self._replay.cancel()

    def reset(self) -> None:
        self._replay.reset()


class _PythonPart:
    """Launches that run one by one."""

    def __init__(self, launches: Sequence[RecordedLaunch]) -> None:
        self.launches = launches
        self._is_cancelled = False

    def run(self, changes: Sequence[Scalars]) -> None:
        for launch, scalars in zip(self.launches, changes, strict=True):
            if self._is_cancelled:
                return
            try:
                _with_scalars(launch.prepared, scalars).run()
            except Exception as error:
                raise _placed(error, launch) from None

    def cancel(self) -> None:
        self._is_cancelled = True

    def reset(self) -> None:
        self._is_cancelled = False


class _MetalPart(_PythonPart):
    """Launches that are encoded into one command buffer."""

    def begin(self, changes: Sequence[Scalars]) -> list[tuple[RecordedLaunch, GpuRun]] | None:
        """A run of each launch; None if one cannot be encoded."""
        found: list[tuple[RecordedLaunch, GpuRun]] = []
        for launch, scalars in zip(self.launches, changes, strict=True):
            bound = cast("GpuLaunch", _with_scalars(launch.prepared, scalars).bound)
            run = bound.begin_again()
            if run is None:
                return None
            found.append((launch, run))
        return found


def _placed(error: Exception, launch: RecordedLaunch) -> BaseException:
    return with_place(error, f"in the launch of `{launch.kernel}`, recorded at {launch.place}")


def _with_scalars(prepared: PreparedLaunch, scalars: Scalars) -> PreparedLaunch:
    return prepared.with_scalars(scalars) if scalars else prepared


def _kind_of(prepared: PreparedLaunch) -> str:
    if prepared.device == "metal":
        return "metal"
    bound = prepared.bound
    is_compiled = isinstance(bound, Job) and not bound.has_prints and can_replay()
    return "cpu" if is_compiled else "python"


_PARTS: dict[str, Callable[[Sequence[RecordedLaunch]], _Part]] = {
    "cpu": _CpuPart,
    "python": _PythonPart,
    "metal": _MetalPart,
}


class _Replayed:
    """One replay of a graph."""

    def __init__(self, parts: Sequence[_Part], changes: Changes, lock: threading.Lock) -> None:
        self._parts, self._changes, self._lock = parts, changes, lock
        self._is_running, self._guard = False, threading.Lock()

    def run(self) -> None:
        with self._lock, self._running():
            for part, scalars in self._parts_with_scalars():
                part.run(scalars)

    @contextmanager
    def _running(self) -> Generator[None]:
        """Only a replay that runs is cancelled: later ones use the same parts."""
        self._is_running = True
        try:
            yield
        finally:
            with self._guard:
                self._is_running = False
            for part in self._parts:
                part.reset()

    def _parts_with_scalars(self) -> Iterator[tuple[_Part, list[Scalars]]]:
        number = 0
        for part in self._parts:
            scalars: list[Scalars] = []
            for _ in part.launches:
                found = {name: each[number] for name, each in self._changes.items()}
                scalars.append({name: v for name, v in found.items() if v is not None})
                number += 1
            yield part, scalars

    def cancel(self) -> None:
        with self._guard:
            for part in self._parts if self._is_running else ():
                part.cancel()

    def begin(self) -> _GraphRun | None:
        """For the queue of a GPU: what all launches dispatch."""
        ((part, scalars),) = self._parts_with_scalars()
        runs = cast(_MetalPart, part).begin(scalars)
        return None if runs is None else _GraphRun(runs)


class _GraphRun:
    """What the queue of a GPU encodes for a replay."""

    def __init__(self, runs: Sequence[tuple[RecordedLaunch, GpuRun]]) -> None:
        self._runs = runs
        self.dispatches = [dispatch for _, run in runs for dispatch in run.dispatches]

    def finish(self) -> None:
        for launch, run in self._runs:
            try:
                run.finish()
            except Exception as error:
                raise _placed(error, launch) from None

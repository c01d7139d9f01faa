"""What the process of an OpenCL driver does: compiles texts, and runs their kernels on arrays.

A vendor's compiler and driver may crash or hang. So they are in a process of their own, which calls
the functions here by name; arrays come and go in a file that both processes have mapped.
"""

from __future__ import annotations

import mmap
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from eas.support.records import frozen

POCL = "Portable Computing Language"
_INSTALL = "`pip install 'easy_as[opencl]'` brings PoCL, which is one"
_NEWER = "a newer driver may, such as PoCL of a Linux system: `apt-get install pocl-opencl-icd`"
_TRIAL = "kernel void trial(global float *x) { x[get_global_id(0)] = 1.0f; }"


@frozen
class Answer:
    """That something was done, or why not."""

    kind: Literal["done", "missing", "refused"] = "done"
    text: str = ""


@frozen
class Source:
    """A text with the folder of its headers, its kernels, and the work-items that they need."""

    text: str
    folder: str
    kernels: tuple[str, ...]
    threads: int


@frozen
class Part:
    """A buffer: its bytes in the file, and which way they are copied; scratch is not in it."""

    start: int
    size: int
    is_read: bool
    is_written: bool


@frozen
class Launch:
    """A kernel, its work-groups and work-items, the numbers of its buffers, and the sizes."""

    kernel: int
    groups: int
    threads: int
    buffers: tuple[int, ...]
    sizes: tuple[int, ...]


class DeviceError(Exception):
    """What a device, or none, has to say to the user."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.text)
        self.answer = answer


def find_device() -> Answer:
    """Whether there is a device that compiles kernels."""
    try:
        open_queue()
    except DeviceError as error:
        return error.answer
    return Answer()


def compile_source(source: Source) -> Answer:
    """Compiles a text; the next call finds it compiled."""
    try:
        _compiled(source)
    except DeviceError as error:
        return error.answer
    return Answer()


def run_source(
    source: Source, path: str, parts: Sequence[Part], launches: Sequence[Launch]
) -> Answer:
    """Runs kernels in order on the arrays in a file, and writes what they wrote back to it."""
    import pyopencl as cl

    try:
        kernels = _compiled(source)
        queue = open_queue()
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            _run(queue, kernels, memory, parts, launches)
    except DeviceError as error:
        return error.answer
    except cl.Error as error:
        return Answer("refused", f"OpenCL cannot run this: {error}")
    return Answer()


def _run(
    queue: Any,
    kernels: Sequence[Any],
    memory: mmap.mmap,
    parts: Sequence[Part],
    launches: Sequence[Launch],
) -> None:
    import pyopencl as cl

    flags = cl.mem_flags.READ_WRITE
    buffers = [cl.Buffer(queue.context, flags, max(part.size, 1)) for part in parts]
    for part, buffer in zip(parts, buffers, strict=True):
        if part.is_read and part.size:
            cl.enqueue_copy(queue, buffer, _bytes(memory, part))
    for launch in launches:
        given = [buffers[number] for number in launch.buffers]
        sizes = map(np.int64, launch.sizes)
        items = (launch.groups * launch.threads,)
        kernels[launch.kernel](queue, items, (launch.threads,), *given, *sizes)
    queue.finish()
    for part, buffer in zip(parts, buffers, strict=True):
        if part.is_written and part.size:
            cl.enqueue_copy(queue, _bytes(memory, part), buffer)


def _bytes(memory: mmap.mmap, part: Part) -> np.ndarray[Any, Any]:
    return np.frombuffer(memory, np.uint8, part.size, part.start)


@cache
def open_queue() -> Any:
    """A queue of commands to the first device that compiles kernels, PoCL's before others.

    A driver may be older than the processor: PoCL 3.0 lists one that it does not know as a device,
    and compiles nothing for it.
    """
    import pyopencl as cl

    useless: list[str] = []
    for device in _devices():
        try:
            queue = cl.CommandQueue(cl.Context([device]))
            _build(cl.Program(queue.context, _TRIAL), device)
        except cl.Error as error:
            useless.append(f"{device.name}, {device.platform.version} ({_reason(error)})")
        else:
            return queue
    if useless:
        message = f"no OpenCL device here compiles a kernel: {'; '.join(useless)}: {_NEWER}"
        raise DeviceError(Answer("missing", message))
    raise DeviceError(Answer("missing", f"there is no OpenCL device: {_INSTALL}"))


def _devices() -> list[Any]:
    import pyopencl as cl

    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        answer = Answer("missing", f"there is no OpenCL device ({error}): {_INSTALL}")
        raise DeviceError(answer) from error
    platforms.sort(key=lambda platform: platform.name != POCL)
    return [device for platform in platforms for device in platform.get_devices()]


def _reason(error: Exception) -> str:
    """The line of a compiler's message that names the mistake."""
    lines = str(error).splitlines() or [type(error).__name__]
    return next((line for line in lines if line.startswith("error: ")), lines[0])


@lru_cache(maxsize=64)
def _compiled(source: Source) -> list[Any]:
    import pyopencl as cl

    queue = open_queue()
    device = queue.device
    most = device.max_work_group_size
    if source.threads > most:
        message = f"{device.name} has {most} work-items per group, this needs {source.threads}"
        raise DeviceError(Answer("refused", message))
    try:
        program = cl.Program(queue.context, source.text)
        _build(program, device, "-I", source.folder)
    except cl.Error as error:
        message = f"{device.name} does not compile this: {error}"
        raise DeviceError(Answer("refused", message)) from error
    return [cl.Kernel(program, name) for name in source.kernels]


def _build(program: Any, device: Any, *options: str) -> None:
    """PoCL 3.0 gives wrong results for some texts, and crashes on others, where it optimizes."""
    more = ["-cl-opt-disable"] if device.platform.name == POCL else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a compiler that has something to say
        program.build(options=[*options, *more])

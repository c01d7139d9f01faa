"""The messages between a process that launches kernels and the worker that runs them.

Messages are JSON objects. The worker imports nothing of ours: it uses this file for types only.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Request(TypedDict):
    """One launch of a kernel. Addresses are offsets in the memory that both processes share."""

    library: str
    """The path of the library that holds the kernel."""
    unit: int
    """Which of the library's texts the kernel is in."""
    entry: str
    """The function that calls the kernel."""
    bytes: int
    """How many bytes of memory the two processes share."""
    buffers: list[tuple[int, int, int, int]]
    """The index of each buffer, its address, and the first and last address of its array."""
    shared: list[tuple[int, int]]
    """The index of each threadgroup buffer, and its size in bytes."""
    threads: tuple[int, ...]
    groups: tuple[int, ...]
    grid: tuple[int, ...]
    order: int
    """The position in `dispatch.ORDERS`."""
    has_fibers: bool
    """Whether threads may wait for each other, so that each needs a stack."""


class Report(TypedDict):
    """What the runtime has found: `eas_report` of native/runtime.cpp.

    Addresses of code are offsets in the library.
    """

    kind: int
    group: list[int]
    thread: int
    waiting: int
    site: int
    other_site: int
    pc: int
    other_pc: int
    callers: list[int]
    offset: int
    size: int
    buffer: int
    name: str


class Reply(TypedDict):
    """What became of a request: a report, or the reason why the kernel could not be run."""

    report: NotRequired[Report]
    error: NotRequired[str]

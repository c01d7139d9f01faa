"""The bugs that the runtime finds in a running kernel: in words, with lines of the text."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

from eas.msl.host.errors import HostError
from eas.msl.host.line_tables import line_of
from eas.msl.host.protocol import Report
from eas.support.records import frozen

BARRIERS = {
    "EXITED_BEFORE_BARRIER": "threads wait at this barrier, but others have returned",
    "DIFFERENT_BARRIERS": (
        "threads of a group wait at different barriers, or in different trips of a loop"
    ),
    "SIMDGROUP_OUTSIDE_FIBER": "an operation of a simdgroup without one",
}
MEMORY = {
    "READ_OUTSIDE": "a read outside of {memory}",
    "WRITE_OUTSIDE": "a write outside of {memory}",
    "MISALIGNED": "an access to {memory} that is not aligned",
    "READ_BEFORE_WRITE": "{memory} is read before it was written",
    "WRITE_WRITE_RACE": "two threads write to the same place in {memory}",
    "READ_AFTER_WRITE_RACE": "a thread reads what another one writes in {memory}",
    "WRITE_AFTER_READ_RACE": "a thread writes what another one reads in {memory}",
}
UNDEFINED = {
    "INDEX_OUTSIDE": "an index outside of an array",
    "BAD_SHIFT": "a shift by a negative amount, by too much, or of a negative number",
    "BAD_DIVISION": "a division by zero, or one that overflows",
    "BAD_CAST": "a float that does not fit is converted to an int",
    "OVERFLOW": "signed arithmetic overflows",
    "BAD_BOOL": "a bool that is neither true nor false",
    "NO_RETURN": "a function ends without its value",
}
SIMDGROUPS = {
    "INACTIVE_LANE": "a simdgroup function reads a lane that does not execute it",
    "DIFFERENT_DISTANCES": "the lanes of a simdgroup give different distances, or lanes to read",
    "DIVERGED_SIMDGROUP": "not all threads of a simdgroup execute this function",
}
DIVISIONS = {"DIVISION_BY_ZERO": "an integer is divided by zero"}
# In the order of `eas_kind` in native/runtime.cpp.
TITLES = BARRIERS | MEMORY | UNDEFINED | SIMDGROUPS | DIVISIONS
KINDS = ("NOTHING", *TITLES)


@frozen
class Finding:
    """One bug: `line` is that of the text, `other_line` that of the other thread's access, or 0.

    `callers` are the lines from which the function with `line` was called, the innermost first.
    """

    kind: str
    line: int
    other_line: int
    group: tuple[int, ...]
    thread: int
    other_thread: int
    memory: str
    offset: int
    buffer: int = -1
    callers: tuple[int, ...] = ()

    @property
    def is_access(self) -> bool:
        return self.kind in MEMORY or self.kind == "INDEX_OUTSIDE"

    @property
    def is_write(self) -> bool | None:
        """Whether the access writes, where that is known."""
        if self.kind in ("INDEX_OUTSIDE", "MISALIGNED"):
            return None
        return self.kind.startswith("WRITE")

    @property
    def is_write_of_other(self) -> bool:
        """Whether the other access of a race writes."""
        return self.kind != "WRITE_AFTER_READ_RACE"

    @property
    def code(self) -> str:
        """`H0101` and so on, one for each kind."""
        return f"H{100 + KINDS.index(self.kind):04}"

    @property
    def title(self) -> str:
        return TITLES[self.kind].format(memory=self.memory)

    @property
    def place(self) -> str:
        """Which thread, and which byte."""
        threads = f"thread {self.thread} of threadgroup {self.group}"
        if self.kind.endswith("RACE"):
            threads = f"threads {self.other_thread} and {self.thread} of threadgroup {self.group}"
        return f"{threads}, byte {self.offset}" if self.kind in MEMORY else threads

    def describe(self) -> str:
        lines = f"line {self.line}"
        if self.other_line not in (0, self.line):
            lines = f"lines {min(self.line, self.other_line)} and {max(self.line, self.other_line)}"
        return f"{lines} of the Metal text: {self.title} ({self.place})"


class KernelFault(HostError):
    """A bug that a kernel was stopped for."""

    def __init__(self, message: str, kernel: str, finding: Finding) -> None:
        super().__init__(message, kernel)
        self.finding = finding


def to_finding(report: Report, library: Path, type_lines: Container[int] = frozenset()) -> Finding:
    """A report of the worker with lines of the text for addresses of code."""
    addresses = (report["pc"], *report["callers"]) if report["pc"] else ()
    return Finding(
        KINDS[report["kind"]],
        _line(library, addresses, type_lines) or report["site"] >> 16,
        _line(library, (report["other_pc"],), ()) or report["other_site"] >> 16,
        tuple(report["group"]),
        report["thread"],
        report["waiting"],
        _memory(report),
        report["offset"],
        report["buffer"],
        tuple(line for address in report["callers"] if (line := line_of(library, address))),
    )


def _line(library: Path, addresses: Sequence[int], type_lines: Container[int]) -> int:
    """The line of the first address that belongs to a statement of the text.

    The line of a type is that of its copy constructor, which the compiler has generated.
    """
    lines = [line_of(library, address) for address in addresses if address]
    statements = [line for line in lines if line and line not in type_lines]
    return next((line for line in (*statements, *lines) if line), 0)


def _memory(report: Report) -> str:
    if report["name"]:
        return f"`{report['name']}`"
    return f"buffer {report['buffer']}" if report["buffer"] >= 0 else "memory"

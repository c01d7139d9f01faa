"""The errors of running a kernel on a Mac's GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eas.support.named_errors import NamedKernelError
from eas.support.records import frozen


class MetalError(NamedKernelError):
    """A kernel cannot be run on the GPU, or was stopped there: names the kernel and says why."""


@frozen
class Complaint:
    """An error of Metal's compiler about a text, with the line and the column in it."""

    line: int
    column: int
    message: str


class TextError(MetalError):
    """A text that Metal's compiler refuses."""

    def __init__(self, message: str, kernel: str, complaints: Sequence[Complaint]) -> None:
        super().__init__(message, kernel)
        self.complaints = tuple(complaints)


_REMARK = re.compile(
    r"(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?:fatal )?(?P<kind>error|warning|note): (?P<message>.*)"
)
_OURS = "program_source"  # what Metal calls a text


def complaints_in(description: str) -> list[Complaint]:
    """The errors in the output of Metal's compiler, which has warnings and notes as well.

    An error in one of its own headers counts for the line in the text that a following note names.
    """
    found: list[Complaint] = []
    message = ""
    for remark in _REMARK.finditer(description):
        if remark["kind"] != "note":
            message = remark["message"] if remark["kind"] == "error" else ""
        if message and remark["file"] == _OURS:
            found.append(Complaint(int(remark["line"]), int(remark["column"]), message))
            message = ""
    return found

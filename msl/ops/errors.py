"""Errors about what Metal does not support."""

from __future__ import annotations

from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc
from eas.support.named_errors import NamedKernelError

REFUSED_TEXT = "E1002"


class UnsupportedError(Exception):
    """A correct kernel that needs something that Metal does not have."""

    def __init__(self, message: str, loc: Loc, notes: tuple[str, ...] = (), help: str = "") -> None:
        super().__init__(f"{loc}: {message}")
        self.message = message
        self.loc = loc
        self.notes = notes
        self.help = (help,) if help else ()

    @property
    def diagnostic(self) -> Diagnostic:
        return Diagnostic("E1001", self.message, self.loc, notes=self.notes, help=self.help)


class RunError(NamedKernelError):
    """A Metal text that cannot be compiled or run here: names the kernel and the reason."""


class GridError(RunError):
    """A grid that is larger than the index arithmetic of a text allows."""

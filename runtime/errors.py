"""What a running kernel did wrong."""

from __future__ import annotations

from collections.abc import Sequence

from eas.support.diagnostics import Diagnostic, render


class KernelError(RuntimeError):
    """A kernel was stopped while it ran: `diagnostics` says why and where, in the user's file."""

    __module__ = "eas"  # where a user imports it from; tracebacks show it

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(tuple(diagnostics))
        self.diagnostics = tuple(diagnostics)

    def __str__(self) -> str:
        return "\n\n".join(map(render, self.diagnostics))

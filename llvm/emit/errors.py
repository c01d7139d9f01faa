"""What this backend does not support."""

from __future__ import annotations

from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc


class UnsupportedError(Exception):
    """A kernel that this backend cannot run; `diagnostic` says where and why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def refuse(message: str, loc: Loc) -> UnsupportedError:
    return UnsupportedError(Diagnostic("E0901", message, loc, "here"))

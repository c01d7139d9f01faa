"""What can go wrong between a kernel's text and its results."""

from __future__ import annotations

from eas.msl.ops.errors import RunError


class HostError(RunError):
    """A kernel cannot be compiled or run on this machine."""


class MslError(HostError):
    """A text that is no Metal: what the compiler or a rule of the language says against it."""

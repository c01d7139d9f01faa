"""The errors of tensors that Python has no error for."""

from __future__ import annotations


class OutOfMemoryError(MemoryError):
    """A device has no memory for a tensor, or a limit forbids it: names the bytes."""

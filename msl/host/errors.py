"""What can go wrong between a kernel's text and its results."""

from __future__ import annotations


class HostError(RuntimeError):
    """A kernel cannot be compiled or run on this machine: names the kernel and says why."""

    def __init__(self, message: str, kernel: str = "") -> None:
        super().__init__(message, kernel)
        self.message = message
        self.kernel = kernel

    def __str__(self) -> str:
        return f"kernel `{self.kernel}`: {self.message}" if self.kernel else self.message


class MslError(HostError):
    """A text that is no Metal: what the compiler or a rule of the language says against it."""

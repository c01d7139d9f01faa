"""An error that names the kernel it is about."""

from __future__ import annotations


class NamedKernelError(RuntimeError):
    """Something is wrong with a kernel; the text starts with its name, if that is known."""

    def __init__(self, message: str, kernel: str = "") -> None:
        super().__init__(message, kernel)
        self.message = message
        self.kernel = kernel

    def __str__(self) -> str:
        return f"kernel `{self.kernel}`: {self.message}" if self.kernel else self.message

"""Which files may have kernels: the others are not imported."""

from __future__ import annotations

from eas.support.command_line import UsageError


def may_have_kernels(path: str) -> bool:
    """Whether a file has the words without which it cannot have a kernel."""
    try:
        with open(path, "rb") as stream:
            text = stream.read()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    return b"kernel" in text and b"eas" in text

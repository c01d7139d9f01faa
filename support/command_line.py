"""What the commands of the package have in common: wrong usage, printing, laying out tables."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class UsageError(Exception):
    """The command was not given what it needs; the message says what."""


def print_text(text: str) -> int:
    """Print a text and return the exit code; its reader, such as `head`, may leave early."""
    try:
        print(text.rstrip("\n"), flush=True)
    except BrokenPipeError:
        # Python flushes stdout again when it exits, which must not fail a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def lay_out(what: RenderableType) -> str:
    """What the terminal shows of it, without spaces at the ends of lines."""
    from rich.console import Console

    return _printed(what, Console())


def lay_out_plainly(what: RenderableType) -> str:
    """The same text everywhere: without colour, and no line is broken."""
    from rich.console import Console

    return _printed(what, Console(width=10_000, color_system=None, force_terminal=False))


def _printed(what: RenderableType, console: Console) -> str:
    with console.capture() as capture:
        console.print(what)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())

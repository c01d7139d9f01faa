"""Files that are replaced as a whole: whoever reads one sees the old content or the new."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from contextlib import suppress
from pathlib import Path

_NO_WAITING: int = getattr(os, "O_NONBLOCK", 0)  # for a reader, if the file is a pipe


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file; raises `OSError`, and leaves what was there.

    A link stays a link: what it leads to is replaced, and keeps its permissions. A device is
    written to, and so is a pipe that somebody reads.
    """
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        opened = os.open(path, os.O_WRONLY | _NO_WAITING)
        with os.fdopen(opened, "wb") as file:
            if _NO_WAITING:  # Windows has neither
                os.set_blocking(opened, True)
            file.write(content)
        return
    real = Path(os.path.realpath(path))
    temporary = _beside(real)
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if real.exists():
            shutil.copymode(real, temporary)
        os.replace(temporary, real)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises `OSError` if a file cannot be written there; nothing is changed."""
    mode = _mode(path)
    if mode is not None:
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(0, "it is a folder")
        if not os.access(path, os.W_OK):
            raise PermissionError(0, "it is write-protected")
        if not stat.S_ISREG(mode):
            return
    real = Path(os.path.realpath(path))
    if not real.parent.is_dir():
        raise FileNotFoundError(0, "there is no such folder")
    temporary = _beside(real)
    temporary.touch()
    temporary.unlink()


def _mode(path: str | os.PathLike[str]) -> int | None:
    """What a path leads to, None if that is nothing; raises `OSError` if it cannot be a path.

    The system follows links: `/dev/stdout` may lead to a pipe, which has no path of its own.
    """
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _beside(path: Path) -> Path:
    """A name for a file that takes the place of another; each thread has one of its own.

    It is not longer than a name may be: that is 255 bytes on most systems, and a letter has up to
    four.
    """
    return path.with_name(f".{path.name[:40]}.{os.getpid()}.{threading.get_ident()}.tmp")

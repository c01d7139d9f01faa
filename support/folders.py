"""Folders that only their user can write to, entered through their descriptors.

Permissions are checked at every entry, and what is checked is what is used: files are opened
relative to the descriptor of the folder that was checked, so it makes no difference what another
user puts in place of its path. A platform without descriptors of folders (Windows) has the paths
only, and leaves the user's folders to its access control lists.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

from eas.support.records import frozen

HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.scandir in os.supports_fd

_BINARY: int = getattr(os, "O_BINARY", 0)  # else Windows translates the ends of lines
_LINKS_REFUSED: int = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING: int = getattr(os, "O_NONBLOCK", 0)  # for a writer, if the file is a pipe
_FOLDER: int = getattr(os, "O_DIRECTORY", 0)


@frozen
class Folder:
    """A folder that is open; files are named relative to it."""

    path: str
    descriptor: int | None

    def read(self, name: str, most_bytes: int) -> bytes:
        """The content of a file of ours; raises `OSError` for any other."""
        flags = os.O_RDONLY | _BINARY | _LINKS_REFUSED | _NO_WAITING
        opened = os.open(self._place(name), flags, dir_fd=self.descriptor)
        with os.fdopen(opened, "rb") as file:
            found = os.fstat(opened)
            _require_ours(found, name)
            if not stat.S_ISREG(found.st_mode) or found.st_size > most_bytes:
                raise OSError(f"{name} is not a file of ours")
            return file.read()

    def write(self, name: str, content: bytes) -> None:
        """Makes a file or replaces it; others see none of it or all."""
        temporary = f"{name}.{os.getpid()}.{threading.get_ident()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
        here = self.descriptor
        opened = os.open(self._place(temporary), flags, 0o600, dir_fd=here)
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(content)
            old, new = self._place(temporary), self._place(name)
            os.replace(old, new, src_dir_fd=here, dst_dir_fd=here)
        except BaseException:
            self.remove(temporary)
            raise

    def files(self) -> list[tuple[str, os.stat_result]]:
        """The names of all that are plain files, with what is known of each."""
        place = self.path if self.descriptor is None else self.descriptor
        found: list[tuple[str, os.stat_result]] = []
        with os.scandir(place) as entries:
            for entry in entries:
                with suppress(OSError):  # another process has removed it
                    if entry.is_file(follow_symlinks=False):
                        found.append((entry.name, entry.stat(follow_symlinks=False)))
        return found

    def remove(self, name: str) -> None:
        """Removes a file, if it is there and can be."""
        with suppress(OSError):
            os.unlink(self._place(name), dir_fd=self.descriptor)

    def _place(self, name: str) -> str:
        return os.path.join(self.path, name) if self.descriptor is None else name


@contextmanager
def enter(path: str, inner: str, is_made: bool) -> Generator[Folder]:
    """The folder `inner` of a folder, both ours alone; raises `OSError` where they are not.

    If it `is_made`, what is missing is made. The path may lead through links, `inner` is none.
    """
    whole = os.path.join(path, inner)
    if is_made:
        os.makedirs(path, 0o700, exist_ok=True)
    if not HAS_DESCRIPTORS:
        if is_made:
            os.makedirs(whole, exist_ok=True)
        yield Folder(whole, None)
        return
    outer = _open(path)
    try:
        if is_made:
            with suppress(FileExistsError):
                os.mkdir(inner, 0o700, dir_fd=outer)
        descriptor = _open(inner, _LINKS_REFUSED, outer)
    finally:
        os.close(outer)
    try:
        yield Folder(whole, descriptor)
    finally:
        os.close(descriptor)


def _open(path: str, flags: int = 0, beside: int | None = None) -> int:
    """The descriptor of a folder that is ours alone."""
    descriptor = os.open(path, os.O_RDONLY | _FOLDER | flags, dir_fd=beside)
    try:
        _require_ours(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_ours(found: os.stat_result, name: str) -> None:
    """Whether nobody else could have written it; the effective user is who writes our files."""
    if not hasattr(os, "geteuid"):
        return
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"others can write to {name}")
